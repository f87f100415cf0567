/** @file display.h
 *  What a body looks like: the cells between its particles, and optionally a
 *  surface of the user's own that the particles carry. Frames, pictures and the page are made from
 *  it; the simulation itself does not use it. */
#ifndef TWANG_DISPLAY_H
#define TWANG_DISPLAY_H

#include <stdbool.h>
#include <stdint.h>
#include <twang/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A surface with its own vertices, each at the weighted mean of four particles. It keeps the
 *  vertex order, the faces, the texture coordinates, the groups and materials of the file it came
 *  from, so that an animator's textures and rigs still fit. */
typedef struct tw_display_surface {
    int64_t vertex_count;      /**< 0: there is no surface */
    const int64_t *carriers;   /**< four particles per vertex */
    const double *weights;     /**< four per vertex, of sum 1; may be negative */
    int64_t face_count;        /**< number of faces, polygons of three or more corners */
    const int64_t *face_start; /**< face_count + 1 offsets into `corners`; NULL: all triangles */
    const int64_t *corners;    /**< vertices of the faces, counter-clockwise from outside */
    int64_t texture_count;     /**< number of texture coordinates; 0: none */
    const double *texture;     /**< u, v each */
    /** Index into `texture` per corner; -1: that corner has none. NULL: no corner has one. */
    const int64_t *corner_texture;
    int64_t edge_count;   /**< number of lines besides the faces */
    const int64_t *edges; /**< two vertices each */
    /** Number of statements: lines of an OBJ file between the faces, such as
     *  o, g, s, usemtl, mtllib. */
    int64_t statement_count;
    /** The face before which each statement stands, ascending; -1: it
     *  stands before the vertices. */
    const int64_t *statement_face;
    /** The end of each statement in `statements`. It begins where the one before ends. */
    const int64_t *statement_end;
    const char *statements; /**< "usemtl fur" and so on, one after another, without line ends */
} tw_display_surface;

/** Cells over particles. All indices are those of the model's particles, from 0. Arrays may be NULL
 *  where the count is 0. */
typedef struct tw_display {
    const char *name;     /**< name of the body in files; NULL: "body" */
    int64_t first, count; /**< its particles are first ... first + count - 1 */
    /** Number of lines to be seen: links of a rope, girders, fibres. Not every spring is one. */
    int64_t edge_count;
    const int64_t *edges;     /**< two particles each */
    int64_t triangle_count;   /**< number of triangles: of cloth, or the surface of a solid */
    const int64_t *triangles; /**< three particles each, counter-clockwise from outside */
    /** Number of tetrahedra of a solid. Without triangles, their boundary becomes the triangles. */
    int64_t tetrahedron_count;
    const int64_t *tetrahedra;  /**< four particles each, in either orientation */
    double radius;              /**< of the edges when drawn [m]; 0: thin lines */
    bool stained;               /**< pictures show the wear of its particles, if there is any */
    tw_display_surface surface; /**< shown in place of the triangles, if it has vertices */
} tw_display;

#ifdef __cplusplus
}
#endif
#endif
