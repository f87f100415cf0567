/** @file fibres.h
 *  Fibres: hair, bristles, threads. A fibre is a chain of wide cuboids with a spine, whose
 *  springs have the stiffness of a round rod in bending, torsion and extension. docs/fibres.md
 *  has the formulas.
 *
 *      const double root[3] = {0, 0, 0};
 *      const double direction[3] = {1, 0, 0};
 *      tw_fibres hair = tw_fibres_default();
 *      hair.count = 1;
 *      hair.roots = root;
 *      hair.directions = direction;
 *      tw_model_add_fibres(model, &hair, &first, &error);
 */
#ifndef TWANG_FIBRES_H
#define TWANG_FIBRES_H

#include <twang/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Fibres of one kind. Start from tw_fibres_default(), which is human hair of 0.3 m. */
typedef struct tw_fibres {
    const char *name;         /**< of the body in files; NULL: "fibres" */
    int64_t count;            /**< number of fibres, at least 1 */
    const double *roots;      /**< where each begins: x, y, z [m] */
    const double *directions; /**< in which each begins, of any length but zero: x, y, z */
    /** The side to which each curls, not along its direction: x, y, z. NULL: chosen. */
    const double *sides;
    double length;         /**< along the fibre, > 0 [m]. Default 0.3 */
    int64_t segments;      /**< cuboids per fibre, at least 1. Default 8 */
    double thickness;      /**< diameter at the root, > 0 [m]. Default 9e-5 */
    double tip_thickness;  /**< diameter at the tip [m]; 0 (default): as at the root */
    double youngs_modulus; /**< E > 0 [Pa]. Default 3.6e9 */
    double shear_modulus;  /**< G > 0, at most E [Pa]. Default 1e9 */
    double density;        /**< > 0 [kg/m^3]. Default 1320 */
    /** Radius of the helix that the fibre forms at rest [m]. Default 0: straight. */
    double curl_radius;
    /** Rise of the helix per turn, along the direction [m]. Default 0: the fibre is not a helix but
     *  an arc of this radius, which begins along the direction. */
    double curl_pitch;
    double velocity[3]; /**< of every particle at the start [m/s]. Default 0 */
    double spin[3];     /**< angular velocity about the common centre of mass [rad/s]. Default 0 */
    bool is_free;       /**< true: the root sections are not held. Default false */
} tw_fibres;
TW_API tw_fibres tw_fibres_default(void);

/** Adds the particles, springs and display of the fibres, and holds their root sections unless
 *  `is_free`. They move if the particles `*first` to `*first + 4 count - 1` are prescribed a motion
 *  afterwards (motion.h). Every array is copied. `first` may be NULL.
 *
 *  A section has four particles. There are `segments` + 1 sections per fibre. The root sections of
 *  all fibres come first, then the other sections fibre by fibre (tw_fibre_set_section). A curl needs
 *  at least one segment per radian of its turning. */
TW_API tw_status tw_model_add_fibres(tw_model *model, const tw_fibres *fibres, int64_t *first,
                                     tw_error *error);

/** What contact sees of the fibres that one call added. Segment s of a fibre is the capsule between
 *  the centres of its sections s and s + 1. */
typedef struct tw_fibre_set {
    int64_t first;        /**< first particle in the model */
    int64_t count;        /**< number of fibres */
    int64_t segments;     /**< of each fibre */
    double thickness;     /**< at the root [m] */
    double tip_thickness; /**< at the tip [m]; in between it changes linearly */
} tw_fibre_set;
TW_API int tw_model_fibre_set_count(const tw_model *model);
/** The sets in the order in which they were added; NULL if there is no such set. */
TW_API const tw_fibre_set *tw_model_fibre_set(const tw_model *model, int index);
/** The first of the four particles of a section in the model. The mean of the four is a point of
 *  the centre line. Section 0 is the root. -1 if there is no such section. */
TW_API int64_t tw_fibre_set_section(const tw_fibre_set *set, int64_t fibre, int64_t section);

#ifdef __cplusplus
}
#endif
#endif
