/** @file mesh.h
 *  Meshes: from a file or a procedure to tetrahedra, triangles and edges that a model is made
 *  from.
 *
 *      tw_mesh surface = {0}, solid = {0};
 *      if (tw_mesh_load("bunny.obj", &surface, NULL, &error) != TW_OK) puts(error.text);
 *      tw_fill_options options = tw_fill_options_default();
 *      options.vertex_count = 4000;
 *      tw_mesh_fill(&surface, &options, &solid, &report, &error);
 *      tw_embedding embedding = {0};                       // the surface follows the solid
 *      tw_embedding_create(&solid, surface.vertex_count, surface.vertices, &embedding, &error);
 *
 *  Formats, the mesher and its quality are described in docs/meshes.md. Functions only read what
 *  is const and keep nothing, so different meshes may be used from different threads.
 */
#ifndef TWANG_MESH_H
#define TWANG_MESH_H

#include <stddef.h>
#include <stdint.h>
#include <twang/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The faces of a surface as its file has them: polygons, texture coordinates, groups and
 *  materials. `triangles` are cut from them, each face from its first corner. Readers fill it, so
 *  that a surface can be written as it came; whoever changes vertices or triangles by number calls
 *  tw_mesh_forget_faces. Zero-initialised it says nothing more than the triangles do. */
typedef struct tw_mesh_faces {
    int64_t count;    /**< polygons; 0: the faces are the triangles */
    int64_t *start;   /**< count + 1 offsets into `corners`; NULL if count is 0 */
    int64_t *corners; /**< vertices of the faces, three or more each */
    /** Index into `texture` per corner, -1: that corner has none; NULL: none has one. */
    int64_t *corner_texture;
    int64_t texture_count; /**< texture coordinates */
    double *texture;       /**< u, v each */
    /** Lines between the faces that say what group or material follows, and the like. */
    int64_t statement_count;
    /** The face each stands before, rising; -1: it stands before the vertices. */
    int64_t *statement_face;
    /** Where each ends in `statements`; it begins where the one before ends. */
    int64_t *statement_end;
    char *statements; /**< "usemtl fur" and so on, without ends of lines */
} tw_mesh_faces;

/** Vertices and the cells between them. Zero-initialised it is an empty mesh. The arrays come from
 *  tw_mesh_allocate and go with tw_mesh_free; what they hold may be changed freely. Indices count
 *  from 0. */
typedef struct tw_mesh {
    int64_t vertex_count, edge_count, triangle_count, tetrahedron_count;
    double *vertices; /**< x, y, z of each vertex [m] */
    /** Two vertices each: springs or girders that are no edges of the cells below. */
    int64_t *edges;
    int64_t *triangles;  /**< three each, counterclockwise seen from outside */
    int64_t *tetrahedra; /**< four each; (b - a) . ((c - a) x (d - a)) > 0 */
    tw_mesh_faces faces; /**< what the triangles were cut from */
} tw_mesh;

/** Gives `mesh`, which is overwritten, arrays of these sizes, zeroed. Counts are not negative. */
TW_API tw_status tw_mesh_allocate(tw_mesh *mesh, int64_t vertices, int64_t edges, int64_t triangles,
                                  int64_t tetrahedra, tw_error *error);
/** Frees the arrays and empties the mesh; accepts NULL. */
TW_API void tw_mesh_free(tw_mesh *mesh);
/** Frees `faces` alone, so that the triangles are the faces; accepts NULL. */
TW_API void tw_mesh_forget_faces(tw_mesh *mesh);
/** A copy with arrays of its own; `out` is overwritten. */
TW_API tw_status tw_mesh_copy(const tw_mesh *mesh, tw_mesh *out, tw_error *error);
/** TW_OK if all indices are in range and all coordinates finite; TW_INVALID_ARGUMENT or
 *  TW_NOT_FINITE else. */
TW_API tw_status tw_mesh_check(const tw_mesh *mesh, tw_error *error);

/** The edges of tetrahedra and triangles, each once, (a, b) with a < b, in rising order. Not those
 *  of `edges`. `*edges` is freed by tw_mesh_free_indices. */
TW_API tw_status tw_mesh_unique_edges(const tw_mesh *mesh, int64_t **edges, int64_t *count,
                                      tw_error *error);
/** The faces that one tetrahedron has and no other, counterclockwise from outside, by rising
 *  tetrahedron; of a mesh without tetrahedra its triangles. `*triangles` (three each) is freed by
 *  tw_mesh_free_indices. */
TW_API tw_status tw_mesh_surface(const tw_mesh *mesh, int64_t **triangles, int64_t *count,
                                 tw_error *error);
TW_API void tw_mesh_free_indices(int64_t *indices); /**< accepts NULL */

/** Signed volume of each tetrahedron [m^3]; `volumes` has tetrahedron_count entries. */
TW_API void tw_mesh_volumes(const tw_mesh *mesh, double *volumes);
/** Sum of the signed volumes; of a mesh without tetrahedra what its triangles enclose [m^3]. */
TW_API double tw_mesh_volume(const tw_mesh *mesh);
/** Smallest and largest coordinates over all vertices; zeros for a mesh without any. */
TW_API void tw_mesh_bounds(const tw_mesh *mesh, double lower[3], double upper[3]);

/** Shape of the tetrahedra. */
typedef struct tw_mesh_quality {
    double smallest_angle, largest_angle; /**< dihedral angles [degrees] */
    double shortest_edge, longest_edge;   /**< [m] */
    double smallest_volume;               /**< signed [m^3] */
    /** Connected by shared vertices; of triangles if there are no tetrahedra. */
    int64_t components;
    int64_t open_edges;    /**< edges of the surface with one triangle; 0 if it is closed */
    int64_t crowded_edges; /**< edges of the surface with more than two triangles */
} tw_mesh_quality;
TW_API tw_status tw_mesh_measure(const tw_mesh *mesh, tw_mesh_quality *out, tw_error *error);

/** What a repair did, as counts. */
typedef struct tw_mesh_repairs {
    int64_t merged_vertices;  /**< vertices at exactly the place of an earlier one */
    int64_t dropped_vertices; /**< vertices in no cell */
    int64_t degenerate_cells; /**< cells without volume, area or length, or there twice: dropped */
    int64_t lower_cells;      /**< triangles and edges of a solid, edges of a surface: dropped */
    /** Tetrahedra of negative volume, triangles against their neighbours: turned. */
    int64_t flipped_cells;
} tw_mesh_repairs;

/** Repairs in place; `repairs` (may be NULL) says what was done. Vertices are numbered anew, in
 *  their old order, and `faces` are forgotten. Triangles are turned to agree with the majority of
 *  their patch, and all of a closed surface if it is inside out. */
TW_API tw_status tw_mesh_repair(tw_mesh *mesh, tw_mesh_repairs *repairs, tw_error *error);
/** The repairs in words: "3 isolated vertices dropped, 1 tetrahedron turned"; "none" if there were
 *  none. Returns text. */
TW_API const char *tw_mesh_repairs_text(const tw_mesh_repairs *repairs, char *text, size_t size);

/** Reads OBJ, PLY, STL, TetGen (.node with .ele), Gmsh .msh 2.2 and 4.1, legacy VTK or MEDIT .mesh,
 *  by what is in the file and else by its suffix. `mesh` is overwritten. With `repairs` the mesh is
 *  repaired; without (NULL) it is as in the file, vertex for vertex. TW_BAD_INPUT with
 *  "file:line:column: what is wrong, what would be right" (for binary data "file: byte N: ...") if
 *  the file cannot be read or is not right. */
TW_API tw_status tw_mesh_load(const char *path, tw_mesh *mesh, tw_mesh_repairs *repairs,
                              tw_error *error);
/** Writes a file whose suffix says how: .node or .ele (both are written), .msh (2.2), .vtk, .mesh,
 *  .obj, .ply. A solid is written as its tetrahedra, for .obj and .ply as its surface; faces as
 *  triangles. A file is replaced as a whole or left as it was. */
TW_API tw_status tw_mesh_save(const char *path, const tw_mesh *mesh, tw_error *error);

/** How a surface is filled. Start from tw_fill_options_default(). */
typedef struct tw_fill_options {
    /** Vertices wanted, at least 8; default 4000. The result has nearly as many. */
    int64_t vertex_count;
} tw_fill_options;
TW_API tw_fill_options tw_fill_options_default(void);

/** What tw_mesh_fill made. */
typedef struct tw_fill_report {
    double cell;             /**< edge of the cubes of the lattice [m] */
    tw_mesh_quality quality; /**< of the tetrahedra */
    double largest_distance; /**< from a vertex of the new surface to the input [m] */
    double mean_distance;    /**< the same, mean */
    /** From a vertex of the input to the solid [m]: what sticks out of it, or was too thin. */
    double largest_gap;
    double volume;               /**< of the tetrahedra [m^3] */
    int64_t wanted_vertices;     /**< as the options said */
    int64_t made_vertices;       /**< a thin body needs more: nothing is left of it with few */
    int64_t lost_components;     /**< separate pieces of the input that are too small for a cell */
    double lost_size;            /**< longest side of the largest of them [m] */
    int64_t dropped_components;  /**< smaller pieces left out, so that one is left */
    int64_t dropped_tetrahedra;  /**< tetrahedra in them */
    int64_t input_open_edges;    /**< open edges of the input, which winding numbers close */
    int64_t input_crowded_edges; /**< edges of the input with more than two triangles */
    tw_mesh_repairs repairs;     /**< of a copy of the input */
} tw_fill_report;

/** Fills a surface, also an open, non-manifold or self-intersecting one, with well-shaped
 *  tetrahedra (docs/meshes.md). `surface` is not changed, `out` is overwritten, `report` may be
 *  NULL. TW_BAD_INPUT if the surface encloses nothing. */
TW_API tw_status tw_mesh_fill(const tw_mesh *surface, const tw_fill_options *options, tw_mesh *out,
                              tw_fill_report *report, tw_error *error);

/** What a user should know about the result, in words: that the surface is open, and what of it the
 *  tetrahedra do not hold. Empty if all is well. Returns text. */
TW_API const char *tw_fill_report_text(const tw_fill_report *report, char *text, size_t size);

/** Points that follow a solid: each is a fixed affine combination of the corners of one
 *  tetrahedron, the one it lies in or, outside, the nearest. Zero-initialised it is empty. */
typedef struct tw_embedding {
    int64_t count;       /**< points */
    int64_t *tetrahedra; /**< the tetrahedron of each point */
    int64_t *corners;    /**< its four vertices, so that the mesh is not needed any more */
    double *weights;     /**< four for each point, sum 1; some negative for a point outside */
} tw_embedding;

/** Embeds `count` points (x, y, z each) in the tetrahedra of `mesh`; `out` is overwritten. */
TW_API tw_status tw_embedding_create(const tw_mesh *mesh, int64_t count, const double *points,
                                     tw_embedding *out, tw_error *error);
/** Where the points are when the vertices of the mesh are at `positions`; `out` gets x, y, z each
 *  and must not overlap. Thread-safe, allocates nothing. */
TW_API void tw_embedding_apply(const tw_embedding *embedding, const double *positions, double *out);
TW_API void tw_embedding_free(tw_embedding *embedding); /**< accepts NULL */

#ifdef __cplusplus
}
#endif
#endif
