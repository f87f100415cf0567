/* What the files of the Stokeslets share: the points in the order in which the kernels read them. */
#ifndef TW_FLUID_STOKESLETS_INTERNAL_H
#define TW_FLUID_STOKESLETS_INTERNAL_H

#include "base/simd.h"
#include "fluid/stokeslets.h"

enum {
    TW_STOKES_VECTORS = 2,                               /* of targets at once, in registers */
    TW_STOKES_GROUP = TW_STOKES_VECTORS * TW_WIDE_LANES, /* targets at once */
    TW_STOKES_BLOCK = 4 * TW_STOKES_GROUP,               /* targets per block of a parallel loop */
    TW_STOKES_TILE = 256                                 /* sources that stay in the first cache */
};

/* A source: position, eps^2/2, and up to three vectors. Its first half is one line of the cache. */
typedef struct tw_stokes_source {
    double x[3];
    double half; /* eps^2 / 2 [m^2] */
    double force[3];
    double unused;
    double load[3];
    double move[3];
    double rest[2];
} tw_stokes_source;

/* Targets stand in arrays of their own per coordinate, filled up to a whole number of groups with
 * copies of the last point, whose results nobody reads. */
struct tw_stokeslets {
    int64_t count;
    int64_t padded; /* count, rounded up to groups */
    double factor;  /* 1/(8 pi mu) */
    tw_stokes_source *sources;
    double *position[3];
    double *half;
    double *move[3];
    double *sum[3];
    double *storage; /* of all arrays */
};

#endif
