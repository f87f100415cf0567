/* What rays meet: triangles with a normal per corner, and capsules (lines with a radius;
 * points if both ends are one). */
#ifndef PICTURE_SOLIDS_H
#define PICTURE_SOLIDS_H

#include <stdbool.h>
#include <stdint.h>
#include <twang/twang.h>

#include "float3.h"

typedef struct capsule {
    vector3 a, b;
    float radius;
    int body;
} capsule;

/* Bodies of a run at one frame. Topology is made once, places are filled per frame. */
typedef struct solids {
    int64_t vertex_count; /* of all bodies */
    vector3 *vertices;
    vector3 *stains; /* their colours */
    int64_t triangle_count;
    int64_t *corners;               /* three vertices per triangle */
    vector3 *normals;               /* three per triangle */
    int *bodies;                    /* one per triangle */
    int64_t *around_start, *around; /* triangles around each vertex */
    int64_t capsule_count;
    int64_t *ends; /* two vertices per capsule */
    capsule *capsules;
    int body_count;
    struct solid_body *body;
    const tw_simulation *simulation;
    int field;        /* column of the rows that gives bodies their colours; 0: none does */
    double field_max; /* its value at the end of the colours */
} solids;

/* Whether a triangle shows the colours of its corners. */
bool solids_are_stained(const solids *s, int64_t triangle);
/* Of the simulation's displays; `radius` (of lines and points without one) is set by
 * solids_set_radius. False when memory is out. */
bool solids_create(const tw_simulation *simulation, solids *out);
void solids_free(solids *s);
/* Bodies show a column of the rows: grey for 0, yellow, and red for `largest` and above. False if
 * there is no such column. */
bool solids_show(solids *s, const char *column, double largest);
/* Lines and points that have no radius of their own get this one. */
void solids_set_radius(solids *s, float radius);
/* Gives lines and points that are thinner at least this radius. */
void solids_thicken(solids *s, float radius);
/* Places from rows of `stride` numbers that begin with x, y, z; normals are smooth where faces
 * meet at less than 40 degrees, on cloth and embedded surfaces 65. */
void solids_place(solids *s, const double *rows, int stride);

#endif
