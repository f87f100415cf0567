/** @file display.h
 *  What a body looks like: the cells between its particles, and optionally a surface of the user's own that the
 *  particles carry. Frames, pictures and the page are made from it; the simulation itself does not use it.
 */
#ifndef TWANG_DISPLAY_H
#define TWANG_DISPLAY_H

#include <stdint.h>
#include <twang/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A surface with its own vertices, each at the weighted mean of four particles. It keeps the vertex order, the faces,
 *  the texture coordinates, the groups and materials of the file it came from, so that an animator's textures and rigs
 *  still fit. */
typedef struct tw_display_surface {
    int64_t vertex_count;    /**< 0: there is none */
    const int64_t *carriers; /**< four particles per vertex */
    const double *weights;   /**< four per vertex, of sum 1; may be negative or repeat a particle */
    int64_t face_count;      /**< faces, polygons of three or more corners */
    const int64_t
        *face_start;        /**< face_count + 1 offsets into `corners`; NULL: all are triangles */
    const int64_t *corners; /**< vertices of the faces, counter-clockwise from outside */
    int64_t texture_count;  /**< texture coordinates; 0: none */
    const double *texture;  /**< u, v each */
    const int64_t *
        corner_texture; /**< index into `texture` per corner, -1: that corner has none; NULL: none has */
    int64_t edge_count;   /**< lines besides the faces */
    const int64_t *edges; /**< two of its vertices each */
    int64_t
        statement_count; /**< lines of an OBJ file between the faces: o, g, s, usemtl, mtllib ... */
    const int64_t *
        statement_face; /**< the face each stands before, rising; -1: it stands before the vertices */
    const int64_t
        *statement_end; /**< where each ends in `statements`; it begins where the one before ends */
    const char *statements; /**< "usemtl fur" and so on, one after another, without ends of lines */
} tw_display_surface;

/** Cells over particles. All indices are those of the model's particles, from 0. Arrays may be NULL where the count is
 *  0. */
typedef struct tw_display {
    const char *name;     /**< what the body is called in files; NULL: "body" */
    int64_t first, count; /**< its particles are first ... first + count - 1 */
    int64_t edge_count; /**< lines to be seen: links of a rope, girders, fibres. Not every spring */
    const int64_t *edges;     /**< two each */
    int64_t triangle_count;   /**< cloth; or the surface of the tetrahedra */
    const int64_t *triangles; /**< three each, counter-clockwise from outside */
    int64_t
        tetrahedron_count; /**< solids. Without triangles, their boundary becomes the triangles */
    const int64_t *tetrahedra; /**< four each, in either orientation */
    double radius;             /**< of the edges when drawn [m]; 0: thin lines */
    tw_display_surface
        surface; /**< what is shown and exported instead of the triangles, if it has vertices */
} tw_display;

#ifdef __cplusplus
}
#endif
#endif
