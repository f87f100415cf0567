/* What the command uses of the viewer: a page with a running simulation or with a finished run, and
 * a report as one file. */
#ifndef VIEWER_VIEW_H
#define VIEWER_VIEW_H

#include <stdbool.h>
#include <twang/twang.h>

/* How to serve the page. */
typedef struct view_options {
    const char *address; /* of the interface to listen at; NULL: 127.0.0.1, no token needed */
    int port;            /* 0: any free port */
    double speed;        /* simulated seconds per second; 0: as fast as it can */
    const char *compare; /* integrator of a second simulation beside the first; NULL: none */
    bool paused;         /* begin with the first frame, and wait */
    bool (*stop)(void);  /* asked often: true ends the server */
    void (*ready)(const char *url); /* called once, when the page can be opened */
} view_options;

/* What is missing in this build to serve a page; NULL: nothing. */
const char *view_missing(void);

/* The name of a scene that is made of this file: without folders and suffix, with '_' for what a name of
 * a scene cannot have. */
void view_name_of_file(const char *path, size_t size, char *name);

typedef struct mesh_box {
    double lower[3], upper[3];
} mesh_box;

/* The number of separate pieces of a mesh, and the boxes of at most `most` of them. */
tw_status find_mesh_pieces(const tw_mesh *mesh, int most, mesh_box *boxes, int64_t *count,
                           tw_error *error);

/* A line for each package in the page: name, version, licence. */
const char *view_page_packages(void);

/* Simulates the scene and serves a page that shows it, until options->stop says so. The scene is taken:
 * it is freed at the end, also of a failure. */
tw_status view_scene(tw_scene *scene, const view_options *options, tw_error *error);

/* Serves a page that replays the frames of a run. */
tw_status view_run(const char *directory, const view_options *options, tw_error *error);

/* What a report was made of. */
typedef struct view_report_summary {
    long long frames; /* in the file */
    long long of;     /* in the run */
    long long bytes;  /* of the file */
} view_report_summary;

/* Writes one HTML file with a replay, charts and the record of a run. It needs no network and no
 * other file. */
tw_status view_report(const char *directory, const char *path, view_report_summary *summary,
                      tw_error *error);

/* Pictures of a report: a video by a headless browser and ffmpeg, and a poster (PNG). Either path may
 * be NULL. TW_UNSUPPORTED if the browser or ffmpeg is not there. */
tw_status view_film(const char *report, const char *video, const char *poster, tw_error *error);

#endif
