/** @file model.h
 *  What is simulated: particles and the forces on them, or a system of equations, ready for an integrator.
 *
 *      tw_model *model;
 *      tw_model_create(&model, &error);
 *      tw_model_add_particles(model, 2, positions, NULL, masses, NULL, &error);
 *      tw_model_pin(model, 0, 0, &error);
 *      tw_model_add_springs(model, 1, ends, &stiffness, NULL, &error);
 *      tw_simulation *simulation;
 *      tw_simulation_of_model(model, &simulation, &error);   // takes the model over
 *      tw_simulation_integrator(simulation, &options, &integrator, &error);   // scene.h
 */
#ifndef TWANG_MODEL_H
#define TWANG_MODEL_H

#include <stdint.h>
#include <twang/display.h>
#include <twang/problem.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Particles and forces while they are put together. One thread at a time. */
typedef struct tw_model tw_model;

/** Makes an empty model. Free it with tw_model_free, or hand it to tw_simulation_of_model. */
TW_API tw_status tw_model_create(tw_model **out, tw_error *error);
/** Frees; accepts NULL. Not for a model that a simulation owns. */
TW_API void tw_model_free(tw_model *model);

/** Adds `count` particles: positions and velocities x, y, z each (velocities NULL: at rest), masses > 0 [kg]. Their
 *  indices follow on those of the particles there; `*first` (may be NULL) is the first of them. */
TW_API tw_status tw_model_add_particles(tw_model *model, int64_t count, const double *positions,
                                        const double *velocities, const double *masses,
                                        int64_t *first, tw_error *error);
TW_API int64_t tw_model_particle_count(const tw_model *model);
TW_API int64_t tw_model_free_count(const tw_model *model); /**< of those not pinned */
/** Holds the particles `first` to `last` where they are, at rest. They are eliminated from the unknowns. */
TW_API tw_status tw_model_pin(tw_model *model, int64_t first, int64_t last, tw_error *error);
/** A uniform acceleration [m/s^2] of every particle; adds to those set before. */
TW_API tw_status tw_model_add_gravity(tw_model *model, const double acceleration[3],
                                      tw_error *error);
/** Linear springs: energy k (l - L)^2 / 2. `ends` holds two particle indices per spring; stiffness k > 0 [N/m] and
 *  rest length L >= 0 [m] one value per spring; rest lengths NULL: the distances at the time of the call. */
TW_API tw_status tw_model_add_springs(tw_model *model, int64_t count, const int64_t *ends,
                                      const double *stiffness, const double *rest_length,
                                      tw_error *error);
/** Says what a body looks like; copied. Particles that no display covers are shown as points. */
TW_API tw_status tw_model_add_display(tw_model *model, const tw_display *display, tw_error *error);

/** Something ready to be integrated: tables of functions, initial state, what to write of it. It is used by one thread
 *  at a time; the problem tables live as long as it does. */
typedef struct tw_simulation tw_simulation;

/** Makes a simulation of the model and takes the model over: tw_simulation_free frees both. On failure the model stays
 *  with the caller, who frees it. */
TW_API tw_status tw_simulation_of_model(tw_model *model, tw_simulation **out, tw_error *error);
/** The nonlinear Fermi-Pasta-Ulam-Tsingou chain of Luan and Michels (2022): 2 m unknowns. */
TW_API tw_status tw_simulation_fput(int64_t m, double omega, tw_simulation **out, tw_error *error);
/** Baraff's x' = -x, y' = -k y from start = (x, y). */
TW_API tw_status tw_simulation_stiff_line(double k, const double start[2], tw_simulation **out,
                                          tw_error *error);
/** Frees; accepts NULL. */
TW_API void tw_simulation_free(tw_simulation *simulation);

/** The problem, if it is of second order, else NULL. */
TW_API const tw_second_order_problem *tw_simulation_second_order(const tw_simulation *simulation);
/** The problem, if it is of first order, else NULL. */
TW_API const tw_first_order_problem *tw_simulation_first_order(const tw_simulation *simulation);
/** Entries of the state u: 2 N, or n for first order. */
TW_API int64_t tw_simulation_state_size(const tw_simulation *simulation);
/** The state at t = 0. Owned by the simulation. */
TW_API const double *tw_simulation_start(const tw_simulation *simulation);

/** A state as a table: a row per particle (pinned ones included; x, y, z, vx, vy, vz) or per unknown (q, p). */
TW_API int64_t tw_simulation_row_count(const tw_simulation *simulation);
TW_API int tw_simulation_column_count(const tw_simulation *simulation);
TW_API const char *tw_simulation_column(const tw_simulation *simulation,
                                        int column); /**< its name */
/** Fills `rows`, row after row. */
TW_API tw_status tw_simulation_rows(tw_simulation *simulation, double t, const double *u,
                                    double *rows);

/** What its bodies look like, in the order they were added; 0 for a system of equations. */
TW_API int tw_simulation_display_count(const tw_simulation *simulation);
/** The `index`-th of them, owned by the simulation; NULL past the last. */
TW_API const tw_display *tw_simulation_display(const tw_simulation *simulation, int index);

/** What can be watched of a state. */
typedef struct tw_measurement {
    bool has_energy;            /**< false: there is none, and kinetic and potential are 0 */
    double kinetic, potential;  /**< [J] */
    double momentum[3];         /**< of the free particles [kg m/s]; 0 for a system of equations */
    double angular_momentum[3]; /**< of the free particles about the origin [kg m^2/s]; likewise */
    double damping_power; /**< energy that dashpots and Rayleigh damping take per second [W] */
    double
        outside_power; /**< that wind, other forces without energy, loads that change with time and particles
                                     that are moved give per second [W] */
} tw_measurement;
TW_API tw_status tw_simulation_measure(tw_simulation *simulation, double t, const double *u,
                                       tw_measurement *out);

/** What a simulation consists of. */
typedef struct tw_simulation_summary {
    int64_t particles, pinned, springs; /**< 0 for a system of equations */
    int64_t unknowns;                   /**< N of x'' = a, or n of u' = F */
    double mass;                        /**< of the free particles [kg] */
    double lower[3], upper[3];          /**< bounding box at t = 0 [m] */
    double
        omega_bound; /**< upper bound of the highest frequency at any state [1/s]; 0 if unknown */
} tw_simulation_summary;
TW_API tw_simulation_summary tw_simulation_summarise(const tw_simulation *simulation);
/** The highest frequency at t = 0 [1/s], by so many steps of Lanczos (50 give three digits, from below; at most 200).
 *  TW_UNSUPPORTED for a problem of first order or without a product with its stiffness. */
TW_API tw_status tw_simulation_frequency(const tw_simulation *simulation, int iterations,
                                         double *omega, tw_error *error);

#ifdef __cplusplus
}
#endif
#endif
