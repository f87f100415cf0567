/* Makes and changes the simulations of a live page. Whatever fails leaves the page as it was. */
#define _GNU_SOURCE
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "view.h"
#include "view_geometry.h"
#include "view_live.h"

/* What a live page consists of, besides its clock: made new, then exchanged for the old one. */
typedef struct parts {
    view_lane lanes[VIEW_LANES];
    int count;
} parts;

static void close_parts(parts *p)
{
    for (int i = 0; i < p->count; i++) view_lane_close(&p->lanes[i]);
    p->count = 0;
}

static tw_status open_parts(const view_live *live, const view_source *source, parts *p,
                            tw_error *error)
{
    const char *const schemes[VIEW_LANES] = {live->scheme, live->compare};
    int wanted = live->compare[0] ? 2 : 1;
    *p = (parts){0};
    for (int i = 0; i < wanted; i++) {
        tw_status status = view_lane_open(&p->lanes[i], source, &live->tuning, schemes[i], error);
        if (status != TW_OK) {
            close_parts(p);
            return status;
        }
        p->count++;
    }
    return TW_OK;
}

static bool interrupt(void *context)
{
    const view_live *live = context;
    return atomic_load(&live->session->quit);
}

/* The new simulations become the page's. */
static void take_parts(view_live *live, parts *p)
{
    for (int i = 0; i < live->lane_count; i++) view_lane_close(&live->lanes[i]);
    for (int i = 0; i < p->count; i++) {
        live->lanes[i] = p->lanes[i];
        tw_integrator_on_interrupt(live->lanes[i].integrator, interrupt, live);
    }
    live->lane_count = p->count;
}

/* Frames and history for the present simulations; `keep`: the past stays. */
static tw_status reshape(view_live *live, bool keep)
{
    view_lane *lane = &live->lanes[0];
    const char *names[VIEW_FIELDS];
    view_shape shape = {.lanes = live->lane_count,
                        .fields = view_lane_fields(lane, names),
                        .particles = lane->particles};
    if (!view_session_reshape(live->session, &shape, names)) return TW_OUT_OF_MEMORY;

    int64_t size = view_live_past_size(live);
    if (!keep) view_history_close(&live->history);
    bool good = keep ? view_history_share(&live->history, size, live->lane_count)
                     : view_history_open(&live->history, size * live->lane_count);
    if (!good) return TW_OUT_OF_MEMORY;

    view_text geometry = {0};
    const double *start = tw_simulation_start(lane->simulation);
    tw_status status = tw_simulation_rows(lane->simulation, 0.0, start, lane->rows);
    if (status != TW_OK) return status;
    if (!view_geometry_write(lane->simulation, lane->free_at, lane->rows, NULL, &geometry))
        return TW_OUT_OF_MEMORY;
    view_session_publish_geometry(live->session, &geometry);
    return TW_OK;
}

static tw_status begin(view_live *live, bool keep)
{
    tw_status status = reshape(live, keep);
    if (status != TW_OK) return status;
    live->work_simulated = 0.0;
    live->work_seconds = 0.0;
    live->capability = 0.0;
    live->frame_seconds = 0.0;
    live->actual = 0.0;
    live->rate = live->speed > 0.0 ? live->speed : 1.0;
    live->spacing = live->rate / 60.0;
    view_live_restart_clock(live);
    view_live_tell(live);
    view_live_show(live);
    return TW_OK;
}

tw_status view_live_load(view_live *live, tw_scene *scene, tw_error *error)
{
    view_source source = {0};
    tw_status status = view_source_take(&source, scene, error);
    if (status != TW_OK) {
        tw_scene_free(scene);
        return status;
    }

    /* A new scene begins with the sliders where it says. */
    parts p;
    view_tuning tuning = live->tuning;
    live->tuning = view_tuning_default();
    status = open_parts(live, &source, &p, error);
    if (status != TW_OK) {
        live->tuning = tuning;
        view_source_free(&source);
        return status;
    }
    view_source_free(&live->source);
    live->source = source;
    take_parts(live, &p);
    return begin(live, false);
}

tw_status view_live_restart(view_live *live, const double *states, tw_error *error)
{
    int64_t size = view_live_past_size(live);
    for (int i = 0; i < live->lane_count; i++, states += size) {
        tw_status status = view_lane_start(&live->lanes[i], states[size - 1], states, error);
        if (status != TW_OK) return status;
        tw_integrator_on_interrupt(live->lanes[i].integrator, interrupt, live);
    }
    return TW_OK;
}

/* A lane that keeps its integrator keeps the reason why it stands, until it goes on. */
static void keep_failure(const view_lane *from, view_lane *to)
{
    if (from->options.scheme != to->options.scheme) return;
    to->failed = from->failed;
    to->failed_particle = from->failed_particle;
    memcpy(to->failure, from->failure, sizeof to->failure);
}

/* Starts the new lanes where the energy of the present ones was judged last. */
static tw_status carry_over(const view_live *live, parts *p, tw_error *error)
{
    int64_t size = tw_simulation_state_size(live->lanes[0].simulation);
    if (tw_simulation_state_size(p->lanes[0].simulation) != size) return TW_OK;

    /* Each goes on at its own time; a second lane begins as the first. */
    tw_status status = TW_OK;
    for (int i = 0; i < p->count && status == TW_OK; i++) {
        const view_lane *from = &live->lanes[i < live->lane_count ? i : 0];
        status = view_lane_start(&p->lanes[i], from->settled_t, from->settled, error);
        if (i < live->lane_count) keep_failure(from, &p->lanes[i]);
    }
    return status;
}

tw_status view_live_rebuild(view_live *live, bool keep, tw_error *error)
{
    parts p;
    tw_status status = open_parts(live, &live->source, &p, error);
    if (status != TW_OK) return status;
    if (keep) status = carry_over(live, &p, error);
    if (status != TW_OK) {
        close_parts(&p);
        return status;
    }

    /* The same frames, if the simulations are as many as before. */
    bool is_alike = keep && p.count == live->lane_count;
    take_parts(live, &p);
    if (!is_alike) return begin(live, keep);

    /* The new integrators may begin inside the last step: what was shown is not shown again. */
    double next_frame = live->next_frame;
    view_live_restart_clock(live);
    live->next_frame = fmax(live->next_frame, next_frame);
    return TW_OK;
}

/* ---- uploads ---- */

static bool ends_with(const char *name, const char *suffix)
{
    size_t length = strlen(name);
    size_t ending = strlen(suffix);
    return length > ending && strcasecmp(name + length - ending, suffix) == 0;
}

/* The suffixes of meshes that can be dropped on the page. */
static const char *const mesh_suffixes[] = {".obj", ".ply", ".stl", ".msh", ".vtk", ".mesh"};
enum { SUFFIX_COUNT = sizeof mesh_suffixes / sizeof *mesh_suffixes };

static bool is_mesh(const char *name)
{
    for (int i = 0; i < SUFFIX_COUNT; i++)
        if (ends_with(name, mesh_suffixes[i])) return true;
    return false;
}

/* The name of an uploaded file, without folders. */
static const char *file_name(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

enum { PATH_SIZE = 64 + VIEW_NAME_SIZE };

/* Writes a mesh under its own name into a new folder. `folder` stays "" if it cannot be made. */
static bool keep_mesh(const view_command *command, char folder[64], char path[PATH_SIZE])
{
    snprintf(folder, 64, "/tmp/twang-view-XXXXXX");
    if (!mkdtemp(folder)) {
        folder[0] = '\0';
        return false;
    }

    snprintf(path, PATH_SIZE, "%s/%s", folder, file_name(command->name));
    FILE *file = fopen(path, "wb");
    if (!file) return false;
    size_t written = fwrite(command->content, 1, (size_t)command->whole, file);
    return fclose(file) == 0 && written == (size_t)command->whole;
}

/* Removes a folder of an upload with the file in it. */
static void remove_folder(const char *folder)
{
    DIR *directory = folder[0] ? opendir(folder) : NULL;
    if (!directory) return;

    for (const struct dirent *entry = readdir(directory); entry; entry = readdir(directory))
        unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
    rmdir(folder);
}

/* The scene of an uploaded mesh, which is kept in `folder`. */
static tw_status read_mesh(const view_command *command, char folder[64], tw_scene **scene,
                           tw_error *error)
{
    char path[PATH_SIZE];
    if (!keep_mesh(command, folder, path)) {
        snprintf(error->text, sizeof error->text, "%s: cannot be kept in /tmp", command->name);
        return TW_INPUT_OUTPUT;
    }

    view_text text = {0};
    view_mesh_scene_write(path, &text);
    tw_status status = TW_OUT_OF_MEMORY;
    if (!text.failed)
        status = tw_scene_parse(command->name, text.bytes, text.size, 0, NULL, scene, error);
    view_text_free(&text);
    return status;
}

/* The scene that an upload is, or the one that is written for a mesh. */
static tw_status read_upload(const view_command *command, char folder[64], tw_scene **scene,
                             tw_error *error)
{
    bool is_scene = ends_with(command->name, ".yaml") || ends_with(command->name, ".yml");
    if (is_scene)
        return tw_scene_parse(command->name, command->content, (size_t)command->whole, 0, NULL,
                              scene, error);
    if (is_mesh(command->name)) return read_mesh(command, folder, scene, error);

    snprintf(error->text, sizeof error->text,
             "%s: is neither a scene (.yaml) nor a mesh (.obj, .ply, .stl)", command->name);
    return TW_BAD_INPUT;
}

/* Begins with an uploaded scene, by its own integrator. */
static tw_status begin_upload(view_live *live, tw_scene *scene, tw_error *error)
{
    char schemes[2][VIEW_NAME_SIZE];
    memcpy(schemes[0], live->scheme, sizeof schemes[0]);
    memcpy(schemes[1], live->compare, sizeof schemes[1]);
    live->scheme[0] = '\0';
    live->compare[0] = '\0';
    tw_status status = view_live_load(live, scene, error);
    if (status == TW_OK) return TW_OK;

    /* The old scene stays, with its integrators. */
    memcpy(live->scheme, schemes[0], sizeof schemes[0]);
    memcpy(live->compare, schemes[1], sizeof schemes[1]);
    return status;
}

tw_status view_live_upload(view_live *live, const view_command *command, tw_error *error)
{
    char folder[64] = "";
    tw_scene *scene = NULL;
    tw_status status = read_upload(command, folder, &scene, error);
    if (status == TW_OK) status = begin_upload(live, scene, error);
    if (status != TW_OK) {
        view_live_shorten(folder, error->text);
        remove_folder(folder);
        return status;
    }

    /* The mesh before this one is needed no more. */
    remove_folder(live->folder);
    memcpy(live->folder, folder, sizeof live->folder);
    return TW_OK;
}

void view_live_shorten(const char *folder, char *text)
{
    if (!folder[0]) return;
    char begin[66];
    int length = snprintf(begin, sizeof begin, "%s/", folder);

    for (char *at = strstr(text, begin); at; at = strstr(at, begin))
        memmove(at, at + length, strlen(at + length) + 1);
}

void view_live_close(view_live *live)
{
    for (int i = 0; i < live->lane_count; i++) view_lane_close(&live->lanes[i]);
    view_source_free(&live->source);
    view_history_close(&live->history);
    remove_folder(live->folder);
    free(live);
}
