/* What the files of the mesh room share. The sections go from the simple to the composed:
 *
 *   1. sorting and pairing     edges, faces and vertices that are the same
 *   2. growing                 a mesh under construction, lists of numbers, a map of tags
 *   3. geometry                distances, angles
 *   4. searching               a tree of boxes, winding numbers
 *   5. filling                 the lattice, its tetrahedra, what is done to them afterwards
 *   6. parts of public calls   that another file of this room needs
 *
 * Reading and writing files has headers of its own: scan.h and mesh_formats.h.
 * Procedural bodies are in bodies.h. */
#ifndef TW_MESH_INTERNAL_H
#define TW_MESH_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <twang/mesh.h>

#include "base/vector3.h"

/* ---- 1. Sorting and pairing ---------------------------------------------------------------- */

/* Fills `order` with the numbers 0 ... count-1 so that the tuples rise lexicographically. A
 * tuple has `width` entries with 0 <= entry < bound; equal tuples keep their order. The time is
 * linear in count. (adjacency.c) */
tw_status tw_tuple_sort(int64_t count, int width, const int64_t *tuples, int64_t bound,
                        int64_t *order, tw_error *error);

/* Stores an edge with the smaller vertex first. */
static inline void tw_put_edge(int64_t edge[2], int64_t a, int64_t b)
{
    edge[0] = a < b ? a : b;
    edge[1] = a < b ? b : a;
}

/* Whether two tuples are the same. */
static inline bool tw_tuple_equal(int width, const int64_t *a, const int64_t *b)
{
    for (int i = 0; i < width; i++)
        if (a[i] != b[i]) return false;
    return true;
}

/* Which triangles meet at an edge. Half-edge h = 3 i + e runs from corner e to
 * corner e + 1 of triangle i. */
typedef struct tw_edge_pairs {
    /* Per half-edge: the other half-edge if the edge has exactly two, else
     * -1. Freed by tw_release. */
    int64_t *partner;
    int64_t open;    /* number of edges with one half-edge */
    int64_t crowded; /* number of edges with more than two half-edges */
} tw_edge_pairs;

/* Pairs the half-edges of all triangles. (adjacency.c) */
tw_status tw_edge_pairs_find(int64_t triangle_count, const int64_t *triangles, int64_t vertex_count,
                             tw_edge_pairs *out, tw_error *error);

/* first[i] becomes the number of the first vertex at exactly the place of vertex i (0 and
 * -0 are the same place). *merged becomes the number of vertices that are not the first
 * of their place. (repair.c) */
tw_status tw_find_equal_vertices(int64_t count, const double *vertices, int64_t *first,
                                 int64_t *merged, tw_error *error);

/* Every index i of the cells becomes numbers[i]. (repair.c) */
void tw_mesh_renumber(tw_mesh *mesh, const int64_t *numbers);

/* Numbers the vertices along the longest axis of the mesh. (number_along.c) */
tw_status tw_mesh_number_along(tw_mesh *mesh, tw_error *error);

/* Disjoint sets: the representative of i. parent[i] == i marks a representative;
 * paths are halved on the way. */
static inline int64_t tw_set_find(int64_t *parent, int64_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/* Disjoint sets: joins the sets of a and b. The smaller representative stays one. */
static inline void tw_set_join(int64_t *parent, int64_t a, int64_t b)
{
    int64_t root_a = tw_set_find(parent, a);
    int64_t root_b = tw_set_find(parent, b);
    if (root_a < root_b)
        parent[root_b] = root_a;
    else
        parent[root_a] = root_b;
}

/* ---- 2. Growing ---------------------------------------------------------------------------- */

/* A list of whole numbers that grows. */
typedef struct tw_numbers {
    int64_t *values;
    int64_t count, capacity;
} tw_numbers;

tw_status tw_numbers_add(tw_numbers *numbers, int64_t value);
void tw_numbers_free(tw_numbers *numbers);

/* A mesh that grows as a file is read: its memory follows what the file holds, not what
 * the file claims to hold. */
typedef struct tw_builder {
    tw_mesh mesh;        /* its faces are empty until tw_builder_finish */
    int64_t capacity[4]; /* of vertices, edges, triangles, tetrahedra */
    /* The faces, as in tw_mesh_faces. `start` is empty as long as every
     * face is a plain triangle. */
    tw_numbers start, corners, corner_texture, statement_face, statement_end;
    double *texture;
    char *statements;
    int64_t texture_count, texture_capacity, statement_size, statement_capacity;
} tw_builder;

/* Each of these returns TW_OK or TW_OUT_OF_MEMORY. (builder.c) */
tw_status tw_builder_vertex(tw_builder *builder, const double point[3]);
tw_status tw_builder_edge(tw_builder *builder, int64_t a, int64_t b);
tw_status tw_builder_triangle(tw_builder *builder, int64_t a, int64_t b, int64_t c);
tw_status tw_builder_tetrahedron(tw_builder *builder, const int64_t corners[4]);
/* Adds a polygon of `count` >= 3 corners. The polygon is kept as it is, and is also cut into
 * triangles that share its first corner. `textures` has one entry per corner and may be NULL. */
tw_status tw_builder_face(tw_builder *builder, int64_t count, const int64_t *corners,
                          const int64_t *textures);
tw_status tw_builder_texture(tw_builder *builder, const double coordinates[2]);
/* Adds a line of text that stands before the next face. Line ends inside the text become blanks. */
tw_status tw_builder_statement(tw_builder *builder, const char *text, size_t size);
/* Moves what was built into `mesh`, which is overwritten. The builder is empty afterwards. */
void tw_builder_finish(tw_builder *builder, tw_mesh *mesh);
/* Frees what was built. */
void tw_builder_free(tw_builder *builder);

/* A map from the tags of nodes in a file, which are any whole numbers, to the numbers
 * of vertices. (tag_map.c) */
typedef struct tw_tag_map {
    int64_t count; /* of tags in the map */
    int64_t size;  /* number of slots, a power of two */
    int64_t *tags, *values;
} tw_tag_map;

/* If the tag is in the map already, *is_new becomes false and the map does not change. */
tw_status tw_tag_map_add(tw_tag_map *map, int64_t tag, int64_t value, bool *is_new);
/* The value of a tag, or -1 if the tag is not in the map. */
int64_t tw_tag_map_find(const tw_tag_map *map, int64_t tag);
void tw_tag_map_free(tw_tag_map *map);

/* ---- 3. Geometry --------------------------------------------------------------------------- */

/* The point of the triangle that is nearest to q. Degenerate triangles are allowed. (closest.c) */
vec3 tw_closest_on_triangle(vec3 q, vec3 a, vec3 b, vec3 c);

/* Barycentric coordinates of q in the tetrahedron; false if the tetrahedron is flat. */
bool tw_barycentric(vec3 q, const vec3 corners[4], double weights[4]);

/* Square of the distance from q to the tetrahedron; 0 inside. */
double tw_tetrahedron_distance(vec3 q, const vec3 corners[4]);

/* Lowers *smallest and raises *largest to cover the six dihedral angles of a
 * tetrahedron [radians]. (measure.c) */
void tw_dihedral_range(const vec3 p[4], double *smallest, double *largest);

/* ---- 4. Searching -------------------------------------------------------------------------- */

/* An axis-parallel box. */
typedef struct tw_box {
    double lower[3], upper[3];
} tw_box;

/* Enlarges the box so that it holds p. */
void tw_box_include(tw_box *box, vec3 p);

/* A node of the tree. A leaf has items[first ... first + count - 1]; the children of an inner
 * node are the nodes `first` and `first + 1`. */
typedef struct tw_box_node {
    tw_box box;
    int64_t first;
    int64_t count; /* 0: an inner node */
} tw_box_node;

/* A tree of boxes over items (triangles, tetrahedra). Each node is split along its longest axis
 * into two halves of equal number, so that the depth is bounded and the shape depends on the
 * boxes alone. (box_tree.c) */
typedef struct tw_box_tree {
    int64_t node_count; /* 0 if there are no items */
    tw_box_node *nodes; /* nodes[0] is the root; children come after their parents */
    int64_t *items;
} tw_box_tree;

enum {
    TW_BOX_TREE_DEPTH = 64, /* room on the stacks that walk a tree: 2^63 items are not deeper */
    TW_BOX_TREE_LEAF = 4    /* largest number of items in a leaf */
};

tw_status tw_box_tree_build(int64_t count, const tw_box *boxes, tw_box_tree *out, tw_error *error);
void tw_box_tree_free(tw_box_tree *tree);

/* Square of the distance from q to an item. */
typedef double tw_item_distance(const void *context, int64_t item, vec3 q);

/* The item nearest to q; the first one of several that are equally near. On entry
 * *distance_squared limits the search (INFINITY: no limit); on return it is that of the item
 * found. -1 if no item is within the limit. */
int64_t tw_box_tree_nearest(const tw_box_tree *tree, vec3 q, tw_item_distance *distance,
                            const void *context, double *distance_squared);

/* Finds two triangles of a surface that share no vertex and cross each other; -1, -1: there are
 * none. (crossing.c) */
tw_status tw_find_crossing(const tw_mesh *surface, int64_t pair[2], tw_error *error);

/* A group of triangles as it acts on points far away. */
typedef struct tw_winding_node {
    vec3 centre;      /* mean of the centroids, weighted by area */
    double radius;    /* no triangle of the group is farther from the centre */
    vec3 normal;      /* sum of a n: area times unit normal */
    double moment[9]; /* sum of a (c - centre) n^T, by rows; c is the centroid of a triangle */
} tw_winding_node;

/* Generalised winding numbers (Jacobson, Kavan, Sorkine-Hornung 2013): how often a surface goes
 * around a point. The number is 1 inside and 0 outside of a closed surface, and something
 * between for an open one. A tree evaluates it in time O(log n) per point: nodes far away act by
 * their first two moments (Barill, Dickson, Schmidt, Levin, Jacobson 2018). (winding.c) */
typedef struct tw_winding {
    const tw_mesh *surface;
    tw_box_tree tree;
    tw_winding_node *nodes; /* one for each node of the tree */
} tw_winding;

/* The surface must outlive the result. */
tw_status tw_winding_create(const tw_mesh *surface, tw_winding *out, tw_error *error);
void tw_winding_free(tw_winding *winding);

double tw_winding_number(const tw_winding *winding, vec3 q);

/* Area of the surface. */
double tw_winding_area(const tw_winding *winding);

/* Whether the surface goes around q. */
bool tw_winding_is_inside(const tw_winding *winding, vec3 q);

/* How often the segment from a to b crosses the surface: 0, 1, or 2 for two and more. *share
 * becomes the place of the last crossing found, as a share of the way from a to b. */
int tw_winding_crossings(const tw_winding *winding, vec3 a, vec3 b, double *share);

/* Whether the surface is within this distance of q. */
bool tw_winding_is_near(const tw_winding *winding, vec3 q, double distance);

/* Distance from q to the surface. */
double tw_winding_distance(const tw_winding *winding, vec3 q);

/* The triangle nearest to q; -1 if there is none. */
int64_t tw_winding_nearest(const tw_winding *winding, vec3 q);

/* ---- 5. Filling ---------------------------------------------------------------------------- */

/* What is to be filled: the inside of a surface, and all within `reach` of the parts of it that
 * are too thin for the lattice. */
typedef struct tw_body_shape {
    const tw_winding *surface;
    const tw_winding *thin; /* NULL: there are no such parts */
    double reach;
} tw_body_shape;

/* A node owns its long edges along +x, +y, +z (edge numbers 0, 1, 2). A centre owns its eight
 * short edges too (edge number TW_BCC_SHORT + octant). */
enum { TW_BCC_SHORT = 3, TW_BCC_OWNED = 11 };

/* The body-centred cubic lattice over a surface: which nodes are inside, where the surface cuts the
 * edges, and which nodes were moved onto the surface (isosurface stuffing, Labelle and Shewchuk
 * 2007).
 *
 * The nodes are the corners of cubes and the centres of cubes. A node has six long edges,
 * to its neighbours of the same kind, and eight short ones, to its neighbours of the
 * other kind. (bcc_lattice.c) */
typedef struct tw_bcc {
    double cell;      /* edge of a cube */
    vec3 origin;      /* position of the first corner */
    int64_t cubes[3]; /* number of cubes along each axis; the outermost are outside */
    int64_t corner_count, node_count;
    signed char *signs;  /* per node: 1 inside, -1 outside, 0 moved onto the surface */
    uint16_t *cut_masks; /* per node: bit e is set if the surface cuts the node's own edge e */
    int64_t *cut_starts; /* per node: the number of its first cut */
    int64_t cut_count;
    vec3 *cuts;     /* where the surface cuts an edge */
    int64_t *moved; /* per node: the cut it was moved to, or -1 */
} tw_bcc;

/* A lattice of this cell over the surface. TW_BAD_INPUT if it would have more than `most` nodes. */
tw_status tw_bcc_create(const tw_body_shape *shape, double cell, double most, tw_bcc *out,
                        tw_error *error);
void tw_bcc_free(tw_bcc *lattice);
/* Moves nodes onto cuts that are too near to them. tw_bcc_create calls it. */
void tw_bcc_move_nodes(tw_bcc *lattice);

/* Estimates of the volume enclosed (the share of lattice nodes inside times the volume of the
 * lattice) and of the thickness where it is largest (twice the depth of the deepest node). */
tw_status tw_bcc_estimate_size(const tw_body_shape *shape, double cell, double *volume,
                               double *thickness, tw_error *error);

/* The number of a corner or of a centre. */
int64_t tw_bcc_corner(const tw_bcc *lattice, int64_t i, int64_t j, int64_t k);
int64_t tw_bcc_centre(const tw_bcc *lattice, int64_t i, int64_t j, int64_t k);
/* Where a node is now. */
vec3 tw_bcc_position(const tw_bcc *lattice, int64_t node);
/* The cut of the edge number `edge` that the node owns, or -1 if the surface does not cut it. */
int64_t tw_bcc_cut(const tw_bcc *lattice, int64_t owner, int edge);

/* The part of the lattice's tetrahedra inside the surface, as tetrahedra of positive volume
 * between nodes and cuts. The mesh has vertices only for the nodes and cuts in use. (stencil.c) */
tw_status tw_bcc_cut_tetrahedra(const tw_bcc *lattice, tw_mesh *out, tw_error *error);

/* The parts of the surface `input` that a lattice of this cell lost: everything more than
 * two cells outside of `solid`, and the parts that lead there. Bevelled edges and
 * corners are not among them. `out` gets pieces of triangles with no edge
 * longer than a cell; it has no triangles if nothing was lost. (thin_parts.c) */
tw_status tw_find_thin_parts(const tw_winding *input, const tw_mesh *solid, double cell,
                             tw_mesh *out, tw_error *error);

/* Keeps the largest piece of each body that the surface `input` consists of, and their vertices;
 * the rest are crumbs of parts too thin for the lattice. Pieces are connected by faces, and a body is
 * a connected part of the surface that is turned outwards (one turned inwards is a cavity). The
 * report says how many pieces and tetrahedra were left out. (solid_pieces.c) */
tw_status tw_keep_pieces(tw_mesh *mesh, const tw_winding *input, tw_fill_report *report,
                         tw_error *error);

/* Estimates memory and time of filling the surface, which encloses `volume`, with this many
 * vertices. TW_OUT_OF_MEMORY, with both in the text, if the memory is not there; a warning in the
 * log if it takes long. (fill_cost.c) */
tw_status tw_fill_check_cost(const tw_winding *winding, double volume, double wanted,
                             tw_error *error);

/* The connected parts of a surface. parent[i] becomes the vertex that stands for the part of vertex i
 * (tw_set_find), and volume[] of such a vertex the signed volume that the part encloses.
 * (surface_parts.c) */
void tw_surface_find_parts(const tw_mesh *surface, int64_t *parent, double *volume);

/* Counts the parts of the surface that enclose something, and of which the solid holds nothing:
 * lost_components, lost_size. `gaps` is how far each vertex of the surface is outside of the solid.
 * (surface_parts.c) */
tw_status tw_fill_find_lost_parts(const tw_winding *input, const tw_mesh *solid, const double *gaps,
                                  tw_fill_report *report, tw_error *error);

/* Fills in the distances between the input surface and the solid made of it: largest_distance,
 * mean_distance, largest_gap, and the parts that are lost. (fill_distances.c) */
tw_status tw_fill_measure_distances(const tw_winding *input, const tw_mesh *solid,
                                    tw_fill_report *report, tw_error *error);

/* ---- 6. Parts of public calls -------------------------------------------------------------- */

/* As tw_embedding_create. `distances` (may be NULL) gets for each point how far outside of the
 * solid it is. (embedding.c) */
tw_status tw_embed_points(const tw_mesh *mesh, int64_t count, const double *points,
                          tw_embedding *out, double *distances, tw_error *error);

/* A copy of the faces with arrays of its own; `out` is overwritten. TW_OK or
 * TW_OUT_OF_MEMORY. (faces.c) */
tw_status tw_faces_copy(const tw_mesh_faces *faces, tw_mesh_faces *out);

/* Whether every count of the mesh is sensible and its array there. (mesh.c) */
tw_status tw_mesh_check_counts(const tw_mesh *mesh, tw_error *error);

/* The part of tw_mesh_check about faces. (faces.c) */
tw_status tw_faces_check(const tw_mesh *mesh, tw_error *error);

/* Turns triangles to agree with the majority of their patch, then all triangles of a closed
 * surface that is inside out. A patch is connected by edges of exactly two triangles; a patch that
 * cannot be oriented stays as it is. Adds to *turned how many triangles were turned. (orient.c) */
tw_status tw_orient_triangles(tw_mesh *mesh, int64_t *turned, tw_error *error);

#endif
