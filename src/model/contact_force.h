/* Contact in a model: the surfaces of its bodies, its obstacles, and the pairs between them.
 *
 *   obstacle.c         obstacles as pinned particles
 *   obstacle_shape.c   their shapes
 *   contact_surface.c  the surfaces of all bodies, and their pairs with planes, spheres, capsules
 *   contact_stiffness.c  how stiff a pair is if nobody says it
 *   contact_planes.c   points that are out of reach of planes
 *   contact_cells.c    points, edges and triangles of all surfaces
 *   contact_detect.c   the pairs between surfaces that a step may need, looked for before it
 *   contact_check.c    whether a step missed or deepened a contact
 *   contact_note.c     which bodies stopped a step, and where
 *   contact_start.c    surfaces that cross or overlap at the start
 *   force_contact.c    the force
 *   contact_impulses.c what contact loses
 *   contact_spin.c     how round obstacles turn */
#ifndef TW_MODEL_CONTACT_FORCE_H
#define TW_MODEL_CONTACT_FORCE_H

#include <twang/contact.h>

#include "contact/contact_pair.h"
#include "contact/overlap_tree.h"
#include "model/display_list.h"
#include "model/force.h"
#include "model/joined_bodies.h"

/* An obstacle in the model. */
typedef struct tw_placed_obstacle {
    tw_obstacle_kind kind;
    double radius;
    int64_t point[3]; /* particles: three of the plane, the centre, the two ends */
    int64_t first;    /* of its particles */
    int64_t count;    /* of its particles */
    bool closed;      /* its triangles enclose a volume, counterclockwise seen from outside */
    int display;      /* index of its display */
} tw_placed_obstacle;

typedef struct tw_obstacle_list {
    tw_placed_obstacle *list;
    int count;
    int capacity;
} tw_obstacle_list;

/* What the contact force takes from its model. */
typedef struct tw_contact_source {
    const tw_display_list *displays;
    const tw_obstacle_list *obstacles;
    const double *gravity; /* three entries */
    tw_force *const *forces;
    const int *force_count;
} tw_contact_source;

/* Tangents of one pair that is in contact at the last linearisation. */
typedef struct tw_pair_tangent {
    int64_t pair; /* while its values are computed */
    int32_t row;  /* of the pair */
    int32_t vertex[TW_PAIR_VERTICES];
    double hessian[TW_PAIR_SIZE * TW_PAIR_SIZE];
} tw_pair_tangent;

/* What impulses took in one attempt of a step. */
typedef struct tw_contact_entry {
    double t;             /* at which the step began */
    double contact_loss;  /* energy taken by restitution below 1 [J] */
    double friction_loss; /* energy taken by friction [J] */
    double driven;        /* work of whoever moves obstacles [J] */
    double impulse[3];    /* on all obstacles [N s] */
} tw_contact_entry;

/* What impulses took since the last measurement. An attempt that begins at or before an earlier one replaces it. */
enum { TW_CONTACT_ENTRIES = 4 /* two halves of a doubled step, and two to spare */ };
typedef struct tw_contact_account {
    double contact_loss; /* of entries that are not in the list any more */
    double friction_loss;
    double driven;
    double impulse[3];
    tw_contact_entry entry[TW_CONTACT_ENTRIES];
    int count;
} tw_contact_account;

/* The particles that carry a contact vertex, and their weights. */
typedef struct tw_vertex_parts {
    int count;
    int32_t particle[4];
    double weight[4];
} tw_vertex_parts;

/* What touches of a display. Its vertices are `first` + those of the arrays, which lie between
 * `lowest` and lowest + vertex_count - 1. */
typedef struct tw_contact_body {
    int display; /* its index */
    int64_t first;
    int64_t lowest;
    int64_t vertex_count;
    int64_t edge_count;
    const int64_t *edges; /* besides those of the triangles */
    int64_t triangle_count;
    const int64_t *triangles;
    double radius; /* half the thickness [m] */
} tw_contact_body;

/* A point, an edge or a triangle of a surface. */
typedef struct tw_contact_cell {
    int32_t vertex[3]; /* contact vertices; the last one is repeated */
    int32_t body;      /* index of the display */
    int32_t piece;     /* the same for cells that edges join */
    bool held;         /* all its particles are pinned */
    double radius;     /* [m] */
} tw_contact_cell;

typedef struct tw_contact_cells {
    int64_t count;
    int64_t capacity;
    int corners; /* of each */
    tw_contact_cell *list;
    tw_box *boxes; /* of each, over the step */
    tw_overlap_tree *tree;
} tw_contact_cells;

/* Which cells may come near each other: points and triangles, edges and edges, both sorted. */
typedef struct tw_contact_candidates {
    tw_box_pairs points;
    tw_box_pairs edges;
} tw_contact_candidates;

/* What the check of a step found in a block of pairs. */
typedef struct tw_contact_check {
    double error;         /* of the energy [J] */
    double turnover;      /* energy that the contacts turn over [J] */
    double largest_error; /* of a pair [J] */
    int64_t worst;        /* that pair; -1: none */
    int64_t near;         /* the first pair that came too near; -1: none */
} tw_contact_check;

/* Pairs in a row, of particles with one plane. */
typedef struct tw_plane_row {
    int64_t begin;
    int64_t end;      /* after the last of them */
    int32_t plane[3]; /* the particles of the plane */
    double reach;     /* how far from the plane a particle is touched [m] */
} tw_plane_row;

typedef struct tw_contact {
    tw_contact_options options;
    tw_contact_source source;
    const tw_particles *particles;
    double speed;          /* that impacts are expected to have [m/s] */
    double relative_speed; /* the same between two bodies [m/s] */
    tw_bodies bodies;      /* what the elements of the forces join */
    double *body_mass;     /* of each body, without pinned particles [kg] */
    double *elasticity;    /* smallest stiffness of the bodies at each particle [N/m] */
    double *longest_edge;  /* at each vertex [m]; NULL until the elasticity is known */

    int64_t pair_count;
    int64_t lasting_count; /* of pairs with planes, spheres and capsules, which stay in the list */
    int64_t pair_capacity;
    tw_contact_pair *pairs; /* their vertices are particles, or those after the last of them: */
    int plane_row_count;
    tw_plane_row *plane_rows; /* among the lasting pairs */
    int32_t *plane_points;    /* the first vertex of each lasting pair */
    int64_t carried_count;
    tw_vertex_parts *carried; /* vertices that several particles carry: sections of fibres */
    double *pair_force;       /* TW_PAIR_SIZE entries per pair */
    double *pair_energy;      /* at the last evaluation; 0: the pair is out of reach */
    unsigned char *felt;      /* of each block of pairs: whether one has an energy that is not 0 */
    tw_contact_check *checks; /* one per block of pairs */
    int64_t *near_pairs;      /* of block b from b TW_PARTICLE_BLOCK on: see tw_contact_list_near */
    int64_t *near_count;      /* how many of them, one number per block of pairs */
    tw_error note;            /* why the last attempt was rejected */
    bool touched;             /* a pair touched before or after the last attempt */

    double press[3]; /* on all held vertices, at the last evaluation of the force [N] */
    double gain[3];  /* the impulse on them in this attempt, as the scheme integrates it [N s] */
    bool gain_known;
    double press_share; /* of the press in the middle of the way, in this attempt */
    tw_contact_account account;
    double *reached;  /* velocities after a step, before impulses, of the particles of near pairs */
    double *spins[2]; /* angular velocities of the obstacles, before and after a step [rad/s] */

    /* Whether surfaces can touch surfaces: there are two bodies, or one touches itself. */
    bool has_surfaces;

    /* The surfaces, and where their vertices may go (contact_detect.c). */
    tw_contact_cells points;
    tw_contact_cells edges;
    tw_contact_cells triangles;
    double *from;               /* positions of all vertices before a step */
    double *to;                 /* after it, as expected or as it came */
    double *way;                /* velocities of all vertices in an attempt that missed a pair */
    double *list_way;           /* from and to of the search that made the list */
    double *pattern_way;        /* the same of the list for which the matrix was made */
    bool is_loaded;             /* the list comes from a checkpoint */
    double way_begin;           /* time at which that attempt began; NaN: there was none */
    tw_box *swept;              /* of all vertices: in these boxes no pair is missed */
    tw_contact_candidates near; /* the pairs after the lasting ones, in this order */
    tw_contact_candidates seen; /* scratch of a search */
    int64_t searches;           /* how often pairs were looked for */

    int64_t tangent_count;
    int64_t tangent_capacity;
    tw_pair_tangent *tangents;
} tw_contact;

/* The particles of a vertex. (contact_surface.c) */
tw_vertex_parts tw_contact_parts(const tw_contact *contact, int32_t vertex);
/* The values of the four vertices of a pair, from values of all particles. (contact_surface.c) */
void tw_contact_take(const tw_contact *contact, const tw_contact_pair *pair, const double *values,
                     double out[TW_PAIR_VERTICES][3]);

/* Lists which of the lasting pairs are those of particles with planes. (contact_planes.c) */
tw_status tw_contact_list_planes(tw_contact *contact);
/* The first pair from p on, or `end`, that is not a particle out of reach of a plane at the positions x of all
 * particles. (contact_planes.c) */
int64_t tw_contact_next(const tw_contact *contact, int64_t p, int64_t end, const double *x);
/* Fills contact->near_pairs: all pairs but those of particles that are out of reach of a plane before the step of h,
 * after it at the positions x, and in its middle, if nothing pushed them. (contact_planes.c) */
void tw_contact_list_near(tw_contact *contact, double h, const tw_force_view *from,
                          const double *x);
/* No pair was felt yet. `all`: the list of pairs is new. (contact_surface.c) */
void tw_contact_forget_felt(tw_contact *contact, bool all);

/* Finds the masses of the bodies and the speeds that impacts may have. (contact_stiffness.c) */
tw_status tw_contact_weigh(tw_contact *contact);
/* Sets the law of a pair. (contact_stiffness.c) */
void tw_contact_set_stiffness(const tw_contact *contact, tw_contact_pair *pair);
/* Sets the laws of all pairs, with the tangent of all other forces at the start.
 * (contact_stiffness.c) */
tw_status tw_contact_take_elasticity(tw_contact *contact, const tw_sparse *matrix);

/* How near the closest points of two surfaces may come: 5 % of their thickness deep, or where they
 * have none, a tenth of the contact distance apart. */
static inline double tw_contact_limit(const tw_contact_options *options, double radius)
{
    if (radius > 0.0) return 0.95 * radius;
    return 0.1 * options->distance;
}

/* The position of one vertex, from values of all particles. (contact_surface.c) */
void tw_contact_take_vertex(const tw_contact *contact, int32_t vertex, const double *values,
                            double out[3]);
/* sum_c weight_c^2 / m_c over the free particles of a vertex. (contact_surface.c) */
double tw_contact_inverse_mass(const tw_contact *contact, int32_t vertex);
/* Whether all particles of a vertex are pinned. (contact_surface.c) */
bool tw_contact_is_held(const tw_contact *contact, int32_t vertex);

/* Lists the surfaces, and their pairs with planes, spheres and capsules. (contact_surface.c) */
tw_status tw_contact_list_surfaces(tw_contact *contact);
/* Adds a pair of two cells with `a_corners` and `b_corners` vertices. (contact_surface.c) */
tw_status tw_contact_add_cell_pair(tw_contact *contact, tw_pair_kind kind, const tw_contact_cell *a,
                                   int a_corners, const tw_contact_cell *b, int b_corners);

/* Lists points, edges and triangles of the bodies. (contact_cells.c) */
tw_status tw_contact_list_cells(tw_contact *contact, int64_t body_count,
                                const tw_contact_body *bodies);
void tw_contact_cells_free(tw_contact_cells *cells);

/* Fills contact->seen with the cells that may come within the contact distance of each other on the
 * way from contact->from to contact->to, if no vertex leaves this way by more than `slack`.
 * (contact_detect.c) */
tw_status tw_contact_search(tw_contact *contact, double slack);
/* Before a step: see tw_force_table.begin_step. (contact_detect.c) */
tw_status tw_contact_begin_step(void *data, double h, const tw_force_view *at, bool *changed);
/* The list at the start. (contact_detect.c) */
tw_status tw_contact_begin(tw_contact *contact);

/* What contact remembers from step to step: the ways of two searches, of the list for which the
 * matrix was made and of the present one. (contact_detect.c) */
int64_t tw_contact_memory_size(const tw_contact *contact);
void tw_contact_save(const tw_contact *contact, double *values);
/* Makes the list of the first (0) or the second (1) way again. (contact_detect.c) */
tw_status tw_contact_load(tw_contact *contact, const double *values, int which);
/* The matrix was made for the present list. (contact_detect.c) */
void tw_contact_mark_pattern(tw_contact *contact);

/* After a step from `from` to the positions x: TW_RECOVERABLE if it missed a pair, crossed one, or
 * went too deep. (contact_check.c) */
tw_status tw_contact_check_step(tw_contact *contact, double h, const tw_force_view *from,
                                const double *x);

/* Notes that a pair comes too near at the positions x of its vertices: which bodies, where, and what
 * helps. (contact_note.c) */
void tw_contact_note_pair(tw_contact *contact, const tw_contact_pair *pair, const double x[4][3]);
/* Notes that the contacts change too fast, with the pair that changes most. (contact_note.c) */
void tw_contact_note_work(tw_contact *contact, const tw_contact_pair *pair, const double x[4][3]);
/* The middle between the surfaces of a pair; returns the distance of its primitives. (contact_note.c) */
double tw_contact_find_place(const tw_contact_pair *pair, const double x[4][3], double place[3]);
/* The name of the body or obstacle to which a vertex belongs. (contact_note.c) */
const char *tw_contact_name(const tw_contact *contact, int32_t vertex);

/* Tells of surfaces that cross or overlap at the start, after the first search.
 * (contact_start.c) */
tw_status tw_contact_check_start(tw_contact *contact);

/* Restitution and friction as impulses after a step: see tw_force_table.finish_step.
 * (contact_impulses.c) */
tw_status tw_contact_finish_step(void *data, double h, const tw_force_view *from, double t,
                                 double *x, double *v, bool *changed);

/* Whether an obstacle is a sphere or a capsule. (contact_spin.c) */
bool tw_obstacle_is_round(const tw_placed_obstacle *obstacle);
/* The angular velocities of all round obstacles, three entries each. (contact_spin.c) */
void tw_contact_find_spins(const tw_contact *contact, const double *x, const double *v,
                           double *spins);
/* What the spin of an obstacle adds to the velocity of the closest points of a pair against each
 * other: V = sum_i w_i v_i + roll. (contact_spin.c) */
void tw_contact_roll(const tw_contact *contact, const tw_contact_pair *pair, const double *spins,
                     const double normal[3], double velocity[3]);

/* The account as TW_CONTACT_ACCOUNT_SIZE numbers: steps may lie between two measurements. TW_BAD_INPUT: they are none.
 * (contact_impulses.c) */
enum { TW_CONTACT_ACCOUNT_SIZE = 7 + TW_CONTACT_ENTRIES * 7 };
_Static_assert(sizeof(tw_contact_entry) == 7 * sizeof(double), "an entry is seven numbers");
void tw_contact_save_account(const tw_contact *contact, double *values);
tw_status tw_contact_load_account(tw_contact *contact, const double *values);

/* Fills what contact has in a measurement, at the positions x of all particles, and begins a new
 * account. (contact_impulses.c) */
void tw_contact_measure(tw_contact *contact, const double *x, tw_measurement *out);

/* Adds the force on all particles, and notes that on all held vertices. (force_contact.c) */
tw_status tw_contact_add_force(void *data, const tw_force_view *at, double *force);
/* out = the change of the force on all held vertices with the unknowns d, at the last linearisation. False: nothing
 * touches them. d NULL: nothing is written. (force_contact.c) */
bool tw_contact_press_change(const tw_contact *contact, const double *d, double out[3]);

/* Makes the force; displays, obstacles and gravity are read when it is completed.
 * (force_contact.c) */
tw_status tw_force_contact_create(const tw_contact_options *options,
                                  const tw_contact_source *source, tw_force *out);

#endif
