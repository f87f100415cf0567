/** @file contact.h
 *  Contact of bodies with obstacles, with each other and with themselves (docs/contact.md). The surfaces are those of the displays
 *  (tw_model_add_display): triangles, or edges where a display has no triangles. */
#ifndef TWANG_CONTACT_H
#define TWANG_CONTACT_H

#include <twang/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How surfaces push each other away. Start from tw_contact_options_default(). */
typedef struct tw_contact_options {
    double distance;  /**< d > 0: surfaces closer than this repel each other [m]. Required */
    double stiffness; /**< kappa of the repulsion [N/m]; 0: from masses and speeds. Default 0 */
    double thickness; /**< of sheets and lines of all bodies, >= 0 [m]. Default 0 */
    double friction;  /**< coefficient mu of Coulomb's friction, >= 0. Default 0 */
    /** > 0: friction on obstacles is a force that grows to its limit over this way [m], and obstacles
     *  show the work that it did on them. 0: it is an impulse after each step. Default 0. */
    double friction_length;
    /** > 0: the work of friction per area [J/m^2] that pictures of obstacles show in red. Default 0:
     *  they have no colours. */
    double stain_work;
    /** A step whose contacts miss this share of the energy that they turn over is divided, > 0.
     *  Large values leave it to the energy guard: for bodies that settle within a step. Default
     *  5e-4. */
    double work_error;
    /** Coefficient e in [0, 1]: an impact ends with e times its speed. Default 1, no loss. */
    double restitution;
    /** Whether a body touches itself, and the fibres of a body each other. Default false. */
    bool self;
} tw_contact_options;
TW_API tw_contact_options tw_contact_options_default(void);

/** Switches contact on between the bodies and the obstacles of the model, and between different
 *  bodies. Once per model. */
TW_API tw_status tw_model_add_contact(tw_model *model, const tw_contact_options *options,
                                      tw_error *error);

typedef enum tw_obstacle_kind {
    TW_OBSTACLE_PLANE,   /**< the half space behind a plane is forbidden */
    TW_OBSTACLE_SPHERE,  /**< a ball */
    TW_OBSTACLE_CAPSULE, /**< the points within a radius of a line segment */
    TW_OBSTACLE_BOX,     /**< a cuboid */
    TW_OBSTACLE_MESH     /**< a surface of triangles, closed or open */
} tw_obstacle_kind;

/** Something that bodies touch and that they cannot move. It consists of pinned particles, with
 *  which it can be moved as any support (motion.h). */
typedef struct tw_obstacle {
    tw_obstacle_kind kind;
    const char *name; /**< in files; NULL: as its kind */
    /** Of the plane; centre of the sphere or of the box; first end of the capsule [m]. */
    double point[3];
    double other[3]; /**< outward normal of the plane, of any length; second end of the capsule */
    double radius;   /**< > 0, of sphere and capsule [m] */
    double size;     /**< > 0: side of the square that is shown of a plane [m] */
    /** Circles of latitude by which a sphere or a capsule is shown, even, 4 to 400; 0: 12. Friction
     *  leaves its marks on them. */
    int rings;
    double sides[3]; /**< > 0: of the box, along x, y, z before it is turned [m] */
    double turn[3];  /**< turns of the box about x, then y, then z through its centre [degrees] */
    /** Of the mesh: its vertices and triangles, counterclockwise seen from outside. Both are copied.
     *  The indices of vertices count from 0. */
    int64_t vertex_count, triangle_count;
    const double *vertices;
    const int64_t *triangles;
} tw_obstacle;

/** Adds an obstacle. Its particles are *first ... *last (may be NULL). */
TW_API tw_status tw_model_add_obstacle(tw_model *model, const tw_obstacle *obstacle, int64_t *first,
                                       int64_t *last, tw_error *error);

#ifdef __cplusplus
}
#endif
#endif
