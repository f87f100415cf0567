/** @file forces.h
 *  The forces on the particles of a model, besides plain springs and gravity
 *  (model.h). docs/forces.md has the formulas.
 *
 *  Every function checks and copies the arrays it is given, and leaves the model as it was when it
 *  fails. Indices are those of particles in the model, values are in SI units, and forces add up. A
 *  context is taken over only on success. A model is used by one thread at a time. */
#ifndef TWANG_FORCES_H
#define TWANG_FORCES_H

#include <twang/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- elastic ---- */

/** Adds springs with a cubic load-deflection curve: pull k d + q d^3 at the deflection d = l - L,
 *  energy k d^2/2 + q d^4/4. `stiffness` k >= 0 [N/m] and `cubic` q >= 0 [N/m^3] have one value per
 *  spring and are not both 0; rest lengths L as for tw_model_add_springs. A dimensionless hardening
 *  c, with the pull k L (e + c e^3) at the strain e, is q = c k / L^2. */
TW_API tw_status tw_model_add_cubic_springs(tw_model *model, int64_t count, const int64_t *ends,
                                            const double *stiffness, const double *cubic,
                                            const double *rest_length, tw_error *error);

/** Adds springs from a vertex to the centre of a face. `corners` holds four different particles per
 *  spring: the vertex and the three of the face. The energy is k (l - L)^2 / 2, where l is the
 *  distance from x_0 to (x_1 + x_2 + x_3) / 3; otherwise as tw_model_add_springs. */
TW_API tw_status tw_model_add_face_springs(tw_model *model, int64_t count, const int64_t *corners,
                                           const double *stiffness, const double *rest_length,
                                           tw_error *error);

/** Springs between the mean positions of four particles and of four others: the spine of a fibre
 * whose sections have four corners. `corners` holds the four of one end and the four of the other
 * per spring, all different. Energy k (l - L)^2 / 2 of the distance l of the two means; otherwise
 * as tw_model_add_springs. */
TW_API tw_status tw_model_add_section_springs(tw_model *model, int64_t count,
                                              const int64_t *corners, const double *stiffness,
                                              const double *rest_length, tw_error *error);

/** Adds bending springs of a triangle mesh: a spring of stiffness k (and q, see cubic springs; 0:
 *  linear) joins the two vertices opposite to each edge that exactly two triangles share, relaxed
 *  at its length now. `triangles` holds three indices each. `*added` (may be NULL) is how many
 *  there are. For grids it is better to join second neighbours by tw_model_add_springs. */
TW_API tw_status tw_model_add_bending_springs(tw_model *model, int64_t triangle_count,
                                              const int64_t *triangles, double stiffness,
                                              double cubic, int64_t *added, tw_error *error);

/** Adds hinges of energy k (theta - Theta)^2 / 2, where theta is the angle between the two
 *  triangles at an edge, 0 where they lie flat. `corners` holds four indices per hinge: the
 *  edge, then the two opposite vertices. `stiffness` k > 0 [N m] and `rest_angle` Theta in
 *  (-pi, pi) have one value per hinge; NULL: the angles now. A state in which a triangle has no
 *  area gives TW_RECOVERABLE. */
TW_API tw_status tw_model_add_hinges(tw_model *model, int64_t count, const int64_t *corners,
                                     const double *stiffness, const double *rest_angle,
                                     tw_error *error);

/** Adds hinges at every edge that exactly two triangles share, at rest with their angles now: a
 *  plate or shell of bending stiffness B [N m]. A hinge has k = B l^2 / (A_0 + A_1), with the
 *  length l of the edge and the areas A now. That is exact for bending along the lines of a grid
 *  and for equilateral triangles (Seung and Nelson 1988), and depends on the mesh otherwise.
 *  `*added` (may be NULL) is how many there are. */
TW_API tw_status tw_model_add_bending_hinges(tw_model *model, int64_t triangle_count,
                                             const int64_t *triangles, double bending_stiffness,
                                             int64_t *added, tw_error *error);

/* ---- damping ---- */

/** Adds dashpots with the pull c l', where l' is the rate at which the distance of the two ends
 *  grows. `damping` c > 0 [N s/m] has one value per dashpot. */
TW_API tw_status tw_model_add_dashpots(tw_model *model, int64_t count, const int64_t *ends,
                                       const double *damping, tw_error *error);

/** Sets Rayleigh damping of the whole model, alpha >= 0 [1/s] and beta >= 0 [s], in place of an
 *  earlier setting. A mode of frequency w gets the damping ratio (alpha / w + beta w) / 2. Rigid
 *  motion is not damped:
 *
 *  - beta acts inside each elastic element on the rate of its deformation, as beta times its
 *    material stiffness (a spring: a dashpot of beta dT/dl, where T is the pull). At rest that is
 *    beta K. Under load it leaves out the geometric part of K, which would brake rotations (and
 *    push, under compression).
 *  - alpha acts on the velocity less the rigid motion of the body; a body is what elements join. A
 *    body with moved or held particles has the rigid motion that fits those best in the
 *    least-squares sense (one pin: its velocity; two: no spin about their line), so that pendulums
 *    and cantilevers feel alpha M v as usual. A free body has the rigid motion of its momentum and
 *    angular momentum. */
TW_API tw_status tw_model_set_rayleigh(tw_model *model, double alpha, double beta, tw_error *error);

/* ---- fields ---- */

/** Adds a constant force f [N] on each of the particles `first` to `last`. Its energy is -f . x. */
TW_API tw_status tw_model_add_load(tw_model *model, int64_t first, int64_t last,
                                   const double force[3], tw_error *error);

/** A field b(t, x) of accelerations (times the mass of a particle) or of forces. Callbacks may be
 *  called from several threads at once. Start from tw_field_default(). */
typedef struct tw_field {
    void *context; /**< handed to every callback; may be NULL */
    /** value = b(t, x). Required. Anything but TW_OK ends the evaluation with that status. */
    tw_status (*value)(void *context, double t, const double x[3], double value[3]);
    /** db_i/dx_j at gradient[3 j + i]. NULL: b does not depend on x. */
    tw_status (*gradient)(void *context, double t, const double x[3], double gradient[9]);
    /** db/dt. NULL: b does not depend on t. */
    tw_status (*rate)(void *context, double t, const double x[3], double rate[3]);
    /** P with b = -grad P; promises that the gradient is symmetric. NULL: there is none. */
    tw_status (*potential)(void *context, double t, const double x[3], double *potential);
    bool is_force; /**< b is a force [N], not an acceleration [m/s^2]. Default false */
    void (*release)(void *context); /**< called once when the model is freed; NULL: nothing to do */
} tw_field;
TW_API tw_field tw_field_default(void);
/** Adds a field on the particles `first` to `last`. The model takes the context over on success. */
TW_API tw_status tw_model_add_field(tw_model *model, int64_t first, int64_t last,
                                    const tw_field *field, tw_error *error);
/** Adds the acceleration a sin(2 pi f t + phase) of every particle [m/s^2, Hz, rad]. */
TW_API tw_status tw_model_add_shaking(tw_model *model, const double acceleration[3],
                                      double frequency, double phase, tw_error *error);

/** Adds a pull for tw_simulation_pull(): a spring of rest length 0 from a particle to a point in
 *  space, with the energy k |x - target|^2 / 2. Its stiffness is k = frequency^2 m [N/m], where m is
 *  the mass of all free particles: the whole model would swing on it with this frequency > 0 [1/s].
 *  Nothing is pulled at first. Once per model is enough. */
TW_API tw_status tw_model_add_pull(tw_model *model, double frequency, tw_error *error);

/** Wind on triangles. Let A be the area of a triangle, n its normal, u the velocity of the air
 *  relative to the mean of its corners, and q = u . n. The triangle feels the force
 *      (density / 2) A [drag (q^2/|u|) u + lift q (|u| n - (q/|u|) u)],
 *  a third on each corner: drag along u, as for a plate that shows the share q/|u| of its area, and
 *  lift across. Equal coefficients c give the pressure (density / 2) c A |u| q n. The force is the
 *  same for both sides, smooth, and zero for a triangle without area. */
typedef struct tw_wind {
    double velocity[3]; /**< of the air [m/s] */
    double density;     /**< of the air [kg/m^3]. Default 1.2 */
    double drag;        /**< coefficient >= 0. Default 1 */
    double lift;        /**< coefficient >= 0. Default 1 */
    double gust; /**< the air moves at velocity (1 + gust sin(2 pi gust_frequency t)). Default 0 */
    double gust_frequency; /**< [Hz], >= 0. Default 0 */
    /** The velocity of the air and its time derivative, in place of velocity
     *  and gust; NULL: as above. */
    tw_status (*air)(void *context, double t, double velocity[3], double rate[3]);
    void *context;                  /**< handed to air; may be NULL */
    void (*release)(void *context); /**< called once when the model is freed; NULL: nothing to do */
} tw_wind;
TW_API tw_wind tw_wind_default(void);
/** Adds wind on triangles, three indices each. The model takes the context over on success. */
TW_API tw_status tw_model_add_wind(tw_model *model, int64_t triangle_count,
                                   const int64_t *triangles, const tw_wind *wind, tw_error *error);

/* ---- forces of the user ---- */

/** A force of the user. Arrays have three entries per particle of the model, pinned ones included.
 *  Callbacks **add** to their output and are called from one thread at a time. Start from
 *  tw_user_force_default(). */
typedef struct tw_user_force {
    void *context; /**< handed to every callback; may be NULL */
    /** force += f(t, x, v). Required. TW_RECOVERABLE: not defined here, try a smaller step. */
    tw_status (*force)(void *context, double t, const double *x, const double *v, double *force);
    /** *energy += V(x), with f = -grad V. NULL: there is none. Promises
     *  that -df/dx is symmetric. */
    tw_status (*energy)(void *context, double t, const double *x, double *energy);
    /** out += -df/dx d, at this point. NULL: central differences of the force (said in the log). */
    tw_status (*stiffness)(void *context, double t, const double *x, const double *v,
                           const double *d, double *out);
    /** out += -df/dv d. NULL with velocity_dependent: central differences. */
    tw_status (*damping)(void *context, double t, const double *x, const double *v, const double *d,
                         double *out);
    /** out += df/dt. NULL with time_dependent: central differences. */
    tw_status (*rate)(void *context, double t, const double *x, const double *v, double *out);
    bool velocity_dependent; /**< f depends on v. Default false */
    bool time_dependent;     /**< f depends on t. Default false */
    /** Pairs of particles that act on each other, two indices each: the pattern of -df/dx, for
     *  implicit schemes and shift-invert. The blocks of the matrix are found by a few
     *  products. Without pairs the matrix has only the blocks of each particle with itself,
     *  and is an approximation. */
    int64_t pair_count;
    const int64_t *pairs;
    void (*release)(void *context); /**< called once when the model is freed; NULL: nothing to do */
} tw_user_force;
TW_API tw_user_force tw_user_force_default(void);
/** Adds a force of the user. The model takes the context over on success. */
TW_API tw_status tw_model_add_user_force(tw_model *model, const tw_user_force *force,
                                         tw_error *error);

/* ---- masses ---- */

/** Lumps the mass of simplices to their corners: mass[p] += density * size / corners. `corners` is
 *  2 (lengths, density in kg/m), 3 (areas, kg/m^2) or 4 (volumes, kg/m^3). `elements` holds that
 *  many indices below `particle_count` each. */
TW_API tw_status tw_lump_mass(int corners, int64_t element_count, const int64_t *elements,
                              int64_t particle_count, const double *positions, double density,
                              double *mass, tw_error *error);

#ifdef __cplusplus
}
#endif
#endif
