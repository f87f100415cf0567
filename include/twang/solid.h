/** @file solid.h
 *  Elastic solids of tetrahedra, girder networks, and their inertia.
 *  docs/solids.md has the formulas.
 *
 *      tw_solid_material material = tw_solid_material_default();
 *      material.density = 1000.0;
 *      tw_solid_lumped_mass(4, count, elements, vertices, positions, material.density, masses,
 *                           &error);
 *      tw_model_add_particles(model, vertices, positions, NULL, masses, NULL, &error);
 *      tw_model_add_tetrahedra(model, 4, count, elements, NULL, &material, &error);
 *
 *  An element names its particles: four corners, or ten nodes (the corners, then the middles of the
 *  edges 01, 12, 02, 03, 13, 23, in the order of VTK). Both orientations are accepted. Ten-node
 *  elements have straight edges at rest. */
#ifndef TWANG_SOLID_H
#define TWANG_SOLID_H

#include <twang/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The law of the stress. All three agree for small strains without rotation. */
typedef enum tw_solid_law {
    /** Small strain and small rotation: constant stiffness. */
    TW_SOLID_LINEAR,
    /** Small strain, any rotation. The tangent does not exist where an inverted element has an
     *  ambiguous rotation: there it gives TW_RECOVERABLE. */
    TW_SOLID_COROTATIONAL,
    /** Any strain, also of inverted elements (Smith, de Goes, Kim 2018). */
    TW_SOLID_NEO_HOOKEAN
} tw_solid_law;

/** The material of a solid. Start from tw_solid_material_default(). */
typedef struct tw_solid_material {
    tw_solid_law law;      /**< default TW_SOLID_COROTATIONAL */
    double youngs_modulus; /**< E > 0 [Pa], default 1e6 */
    double poisson_ratio;  /**< nu in (-1, 1/2), default 0.3 */
    double density;        /**< > 0 [kg/m^3], default 1000; only the mass functions below use it */
} tw_solid_material;
TW_API tw_solid_material tw_solid_material_default(void);

/** Adds `count` tetrahedra of `nodes` (4 or 10) particles each. `rest` holds three coordinates of
 *  every particle of the model at which the elements are free of stress; NULL: the positions now.
 *  Elements without volume at rest, or with a middle node off the middle of its edge by more than
 *  1e-6 of the edge, are refused. */
TW_API tw_status tw_model_add_tetrahedra(tw_model *model, int nodes, int64_t count,
                                         const int64_t *elements, const double *rest,
                                         const tw_solid_material *material, tw_error *error);

/** masses[p] += the mass of the elements, lumped to their nodes: a quarter per corner for four
 *  nodes, and by diagonal scaling (1/36 per corner, 4/27 per edge) for ten nodes. `positions` and
 *  `masses` belong to `particle_count` particles. Elements without volume are refused. */
TW_API tw_status tw_solid_lumped_mass(int nodes, int64_t count, const int64_t *elements,
                                      int64_t particle_count, const double *positions,
                                      double density, double *masses, tw_error *error);

/** element_mass[e] = density times volume of each element, for tw_model_add_consistent_mass. */
TW_API tw_status tw_solid_element_mass(int nodes, int64_t count, const int64_t *elements,
                                       int64_t particle_count, const double *positions,
                                       double density, double *element_mass, tw_error *error);

/** Makes the inertia of `count` elements consistent: M_ab = density * integral of N_a N_b in place
 *  of lumped masses. The elements are bars (`nodes` = 2) or tetrahedra (4 or 10) of element_mass >
 *  0 [kg] each. The masses of the particles must contain those of the elements, lumped as by
 *  tw_solid_lumped_mass (bars: half to each end). That part is replaced; any further mass of a
 *  particle stays lumped. The total mass does not change. Every acceleration then solves with the
 *  sparse factor of M. Prescribed motion and mass-proportional damping cannot be combined with it
 *  (TW_UNSUPPORTED from tw_simulation_of_model). */
TW_API tw_status tw_model_add_consistent_mass(tw_model *model, int nodes, int64_t count,
                                              const int64_t *elements, const double *element_mass,
                                              tw_error *error);

/** Makes ten-node elements of four-node ones. `corners` holds four indices per element, `elements`
 *  receives ten. The new nodes are numbered from `vertex_count` on: node vertex_count + i lies in
 *  the middle of the edge between the vertices edges[2 i] and edges[2 i + 1]. `edges` has room for
 *  12 * count entries; `*edge_count` is the number of edges. */
TW_API tw_status tw_solid_quadratic(int64_t vertex_count, int64_t count, const int64_t *corners,
                                    int64_t *elements, int64_t *edges, int64_t *edge_count,
                                    tw_error *error);

/** Adds a network of girders by stiffness warping: every node has a frame that turns with its
 *  neighbours, and in which its girders are measured. Let d = X_b - X_a be a girder at rest,
 *  n = d/|d|, and R_a the rotation nearest to sum k (x_b - x_a) d^T over the girders of node a.
 *  Each end contributes half of
 *      1/2 e^T [k n n^T + t (I - n n^T)] e,   e = R_a^T (x_b - x_a) - d.
 *  The force is the exact gradient of that energy, so that it conserves momentum and angular
 *  momentum. The force R K (R^-1 X - X_0) of the papers does not; both agree for small strains. A
 *  node whose girders do not fix a rotation, because they lie on one line, uses springs instead.
 *
 *  `ends` holds two particle indices per girder. The axial stiffness k > 0 and the transverse
 *  stiffness t >= 0 [N/m] have one value per girder; t NULL: 0, as in a truss. `rest` is as in
 *  tw_model_add_tetrahedra. No two girders join the same particles. */
TW_API tw_status tw_model_add_warped_network(tw_model *model, int64_t count, const int64_t *ends,
                                             const double *axial, const double *transverse,
                                             const double *rest, tw_error *error);

#ifdef __cplusplus
}
#endif
#endif
