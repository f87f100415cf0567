/* What the formats of frames share. */
#ifndef TW_IO_FRAMES_INTERNAL_H
#define TW_IO_FRAMES_INTERNAL_H

#include "io/file.h"
#include "io/frames.h"
#include "io/shapes.h"

/* The cells of all bodies, compressed once: they are the same in every frame. */
typedef struct tw_vtu_cells {
    int64_t count;
    tw_text connectivity, offsets, types, body; /* as they stand in the file */
} tw_vtu_cells;

struct tw_frames {
    unsigned formats;
    const tw_simulation *simulation;
    double fps;
    int64_t count; /* of all frames that will be written */
    char directory[TW_FILE_PATH_SIZE];
    char folder[TW_FILE_PATH_SIZE]; /* of the files per frame */
    char prefix[64];                /* from the directory to the folder: "frames/" or "" */
    int64_t flushed;                /* number of frames that are on the disk */

    tw_shapes shapes;    /* for ply, obj, pc2 */
    double *positions;   /* of their vertices in the frame being written */
    bool y_is_up;        /* in ply, obj, pc2 */
    tw_appender *caches; /* of pc2, one per shape; NULL until begun */
    tw_vtu_cells cells;
    double *column; /* one to three columns of the table, contiguous */
    tw_text scratch, payload;
};

/* Each of these appends the whole file. */
void tw_frame_to_vtu(tw_frames *frames, const tw_frame *frame, tw_text *out);
void tw_frame_to_ply(tw_frames *frames, const tw_frame *frame, tw_text *out);
void tw_frame_to_obj(tw_frames *frames, const tw_frame *frame, tw_text *out);

/* What an OBJ file already has before a shape. */
typedef struct tw_obj_before {
    int64_t vertices, textures;
    bool statements; /* a group or a material, which lasts until the next one */
    bool one_object; /* the shape must be one object, even if its own file has several */
} tw_obj_before;

/* Appends a shape as an OBJ object. (frames_obj.c) */
void tw_shape_to_obj(const tw_shape *shape, const double *positions, const tw_obj_before *before,
                     tw_text *out);
/* Appends a line from each vertex that no face and no line uses to itself. Without it
 * Blender drops such vertices. */
void tw_shape_unused_to_obj(const tw_shape *shape, tw_text *out);

/* frames_vtu.c */
tw_status tw_vtu_prepare(tw_frames *frames);
void tw_vtu_release(tw_frames *frames);
/* Writes frames.pvd with the first `count` frames. */
tw_status tw_vtu_write_index(tw_frames *frames, int64_t count, tw_error *error);

/* frames_pc2.c */
tw_status tw_pc2_begin(tw_frames *frames, int64_t keep, tw_error *error);
void tw_pc2_close(tw_frames *frames);
tw_status tw_pc2_write(tw_frames *frames, const tw_frame *frame, tw_error *error);
tw_status tw_pc2_flush(tw_frames *frames, int64_t count, tw_error *error);
/* Whether the NAME.obj of a cache is gone, and its path. (A cache that is gone is noticed by its writer.) */
bool tw_pc2_find_missing(const tw_frames *frames, char path[TW_FILE_PATH_SIZE]);

/* Appends an array as VTK's compressed files have it, all numbers as UInt64: number of
 * blocks, bytes of a block, bytes of the last block if it is shorter (else 0), compressed
 * size of each block, the blocks. `coordinates` says that the bytes are doubles that hardly
 * repeat. (vtk_compress.c) */
void tw_vtk_compress(const void *bytes, size_t size, bool coordinates, tw_text *out);

#endif
