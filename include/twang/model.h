/** @file model.h
 *  Models and simulations: particles with the forces on them, or a system of
 *  equations, ready for an integrator.
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

/** Particles and forces while a model is put together. A model is used by one thread at a time. */
typedef struct tw_model tw_model;

/** Makes an empty model. Free it with tw_model_free, or hand it to tw_simulation_of_model. */
TW_API tw_status tw_model_create(tw_model **out, tw_error *error);
/** Frees; accepts NULL. Not for a model that a simulation owns. */
TW_API void tw_model_free(tw_model *model);

/** Adds `count` particles with positions and velocities (x, y, z each [m, m/s]; velocities NULL: at
 *  rest) and masses > 0 [kg]. Their indices follow on those of the particles that are there;
 *  `*first` (may be NULL) is the first of them. */
TW_API tw_status tw_model_add_particles(tw_model *model, int64_t count, const double *positions,
                                        const double *velocities, const double *masses,
                                        int64_t *first, tw_error *error);
TW_API int64_t tw_model_particle_count(const tw_model *model);
/** The number of particles that are not pinned. */
TW_API int64_t tw_model_free_count(const tw_model *model);
/** Holds the particles `first` to `last` where they are, at rest. They are no
 *  unknowns of the problem. */
TW_API tw_status tw_model_pin(tw_model *model, int64_t first, int64_t last, tw_error *error);
/** Adds a uniform acceleration [m/s^2] of every particle. Several calls add up. */
TW_API tw_status tw_model_add_gravity(tw_model *model, const double acceleration[3],
                                      tw_error *error);
/** Adds linear springs of energy k (l - L)^2 / 2. `ends` holds two particle indices per spring. The
 *  stiffness k > 0 [N/m] and the rest length L >= 0 [m] have one value per spring. Rest lengths
 *  NULL: the distances at the time of the call. */
TW_API tw_status tw_model_add_springs(tw_model *model, int64_t count, const int64_t *ends,
                                      const double *stiffness, const double *rest_length,
                                      tw_error *error);
/** Says what a body looks like. The display is copied. Particles that no display
 *  covers are shown as points. */
TW_API tw_status tw_model_add_display(tw_model *model, const tw_display *display, tw_error *error);

/** A problem with its initial state, and functions that measure and write a state. It is used by
 *  one thread at a time. The tables of the problem live as long as the simulation. */
typedef struct tw_simulation tw_simulation;

/** Makes a simulation of the model and takes the model over: tw_simulation_free frees both. On
 *  failure the model stays with the caller, who frees it. */
TW_API tw_status tw_simulation_of_model(tw_model *model, tw_simulation **out, tw_error *error);
/** The nonlinear Fermi-Pasta-Ulam-Tsingou chain of Luan and Michels (2022): 2 m unknowns. */
TW_API tw_status tw_simulation_fput(int64_t m, double omega, tw_simulation **out, tw_error *error);
/** The stiff line of Baraff, x' = -x, y' = -k y, from start = (x, y). */
TW_API tw_status tw_simulation_stiff_line(double k, const double start[2], tw_simulation **out,
                                          tw_error *error);
/** Frees; accepts NULL. */
TW_API void tw_simulation_free(tw_simulation *simulation);

/** The problem if it is of second order, else NULL. */
TW_API const tw_second_order_problem *tw_simulation_second_order(const tw_simulation *simulation);
/** The problem if it is of first order, else NULL. */
TW_API const tw_first_order_problem *tw_simulation_first_order(const tw_simulation *simulation);
/** Number of entries of the state u: 2 N, or n for first order. */
TW_API int64_t tw_simulation_state_size(const tw_simulation *simulation);
/** The state at t = 0, owned by the simulation. */
TW_API const double *tw_simulation_start(const tw_simulation *simulation);

/** A state as a table: a row per particle (pinned ones included; x, y, z, vx, vy, vz)
 *  or per unknown (q, p). */
TW_API int64_t tw_simulation_row_count(const tw_simulation *simulation);
TW_API int tw_simulation_column_count(const tw_simulation *simulation);
/** The name of a column, or NULL if there is no such column. */
TW_API const char *tw_simulation_column(const tw_simulation *simulation, int column);
/** Writes the table of the state u at time t into `rows`, row after row. */
TW_API tw_status tw_simulation_rows(tw_simulation *simulation, double t, const double *u,
                                    double *rows);

/** The number of displays of bodies; 0 for a system of equations. */
TW_API int tw_simulation_display_count(const tw_simulation *simulation);
/** A display in the order in which they were added, owned by the simulation; NULL if
 *  there is no such display. */
TW_API const tw_display *tw_simulation_display(const tw_simulation *simulation, int index);

/** The colour of a place with this wear [J/m^2] in pictures, red, green and blue from 0 to 1: blue,
 *  cyan, green, yellow, red for 0 to stain_work (contact.h). False if wear has no colours here. */
TW_API bool tw_simulation_stain(const tw_simulation *simulation, double wear, double colour[3]);

/** What can be measured of a state. */
typedef struct tw_measurement {
    bool has_energy;            /**< false: there is none, and kinetic and potential are 0 */
    double kinetic;             /**< kinetic energy [J] */
    double potential;           /**< potential energy [J] */
    double momentum[3];         /**< of the free particles [kg m/s]; 0 for a system of equations */
    double angular_momentum[3]; /**< of the free particles about the origin [kg m^2/s]; likewise */
    /** Energy that dashpots and Rayleigh damping take per second [W]. */
    double damping_power;
    /** Energy that comes from outside per second [W]: from wind, other forces without energy, loads
     *  that change with time, and particles that are moved. */
    double outside_power;
    bool without_inertia;   /**< in a fluid: damping_power is what the fluid takes. Default false */
    int64_t contacts;       /**< number of contact pairs closer than the contact distance */
    double penetration_max; /**< by how much surfaces overlap, thickness included [m] */
    /** Energy that impacts have taken since the last measurement, by a restitution below 1 [J]. */
    double contact_work;
    double friction_work; /**< energy that friction of contacts has taken since then [J] */
    /** Work since then of whoever moves obstacles, in impacts and friction [J]. outside_power does
     *  not hold it. */
    double impulse_work;
    /** Impulse of the bodies on all obstacles since the last measurement [N s]. */
    double contact_impulse[3];
    /** Energy that friction over a friction_length took since the start [J]. */
    double sliding_work;
    double plastic_work; /**< energy that plastic flow and rupture took since the start [J] */
} tw_measurement;
/** Measures the state u at time t. */
TW_API tw_status tw_simulation_measure(tw_simulation *simulation, double t, const double *u,
                                       tw_measurement *out);

/** Where surfaces touch: the places [m] of at most `most` contact pairs that are closer than the contact
 *  distance in the state u at time t, three numbers each, and how many were written. The pairs are those
 *  that the last step looked at, so that u should belong to it. None without contact. */
TW_API tw_status tw_simulation_contacts(tw_simulation *simulation, double t, const double *u,
                                        int64_t most, double *places, int64_t *count);

/** Pulls a particle towards a point [m] with the spring of tw_model_add_pull(). A pinned particle
 *  does not follow. Call it between two steps, and tw_integrator_refresh() for every integrator of
 *  this simulation after it. TW_INVALID_ARGUMENT if there is no such particle, TW_UNSUPPORTED if the
 *  model has no pull. */
TW_API tw_status tw_simulation_pull(tw_simulation *simulation, int64_t particle,
                                    const double target[3]);
/** Lets go of what is pulled; likewise. */
TW_API tw_status tw_simulation_release(tw_simulation *simulation);

/** Sizes of a simulation. */
typedef struct tw_simulation_summary {
    int64_t particles, pinned, springs; /**< 0 for a system of equations */
    int64_t unknowns;                   /**< N of x'' = a, or n of u' = F */
    double mass;                        /**< of the free particles [kg] */
    double lower[3], upper[3];          /**< bounding box at t = 0 [m] */
    double omega_bound; /**< upper bound of all frequencies at any state [1/s]; 0 if unknown */
} tw_simulation_summary;
TW_API tw_simulation_summary tw_simulation_summarise(const tw_simulation *simulation);
/** Finds the highest frequency at t = 0 [1/s], from below, by at most 200 steps of Lanczos;
 *  50 steps give three digits. TW_UNSUPPORTED for a problem of first order or without a
 *  product with its stiffness. */
TW_API tw_status tw_simulation_frequency(const tw_simulation *simulation, int iterations,
                                         double *omega, tw_error *error);

#ifdef __cplusplus
}
#endif
#endif
