#ifndef TW_RUN_PLAYBACK_INTERNAL_H
#define TW_RUN_PLAYBACK_INTERNAL_H

#include <twang/playback.h>

#include "io/file.h"
#include "io/frames.h"

struct tw_playback {
    tw_scene *scene;
    tw_simulation *simulation;
    tw_table table; /* without values: what a frame must look like */
    double fps, duration;
    unsigned format; /* in which frames are stored: TW_FRAMES_CSV or TW_FRAMES_VTU */
    int64_t frame_count;
    char folder[TW_FILE_PATH_SIZE];
};

#endif
