/* Elastic energy densities Psi as functions of the deformation gradient F, for TW_LANES elements at
 * once. Matrices are stored row by row. */
#ifndef TW_MODEL_SOLID_LAW_H
#define TW_MODEL_SOLID_LAW_H

#include <stdbool.h>
#include <twang/solid.h>

#include "model/polar.h"

typedef struct tw_solid_constants {
    tw_solid_law law;
    double lame_mu;     /* of Lame [Pa] */
    double lame_lambda; /* of Lame [Pa] */
    double mu;     /* lame_mu; neo-Hookean: that of Smith et al. with the same stiffness at rest */
    double lambda; /* lame_lambda; neo-Hookean: likewise */
    double alpha;  /* neo-Hookean: J at which the volume term vanishes */
    double rest;   /* neo-Hookean: energy density at F = I, which is subtracted */
} tw_solid_constants;

tw_solid_constants tw_solid_constants_of(const tw_solid_material *material);

/* psi = Psi(F) [J/m^3]. */
void tw_solid_energy(const tw_solid_constants *m, tw_lanes *F, tw_lanes psi);
/* P = dPsi/dF. */
void tw_solid_stress(const tw_solid_constants *m, tw_lanes *F, tw_lanes *P);

enum { TW_SOLID_TERMS = 4 };

/* The second derivative of Psi along two rank-one changes u a^T and w b^T of F is
 *     u^T [ isotropic (a . b) I + transposed b a^T
 *           + sum_r c_r (T_r a)(T_r b)^T - bend [F (a x b)]_x ] w. */
typedef struct tw_solid_curvature {
    tw_lanes isotropic;
    tw_lanes transposed;
    tw_lanes bend;
    tw_lanes T[TW_SOLID_TERMS][9];
    tw_lanes c[TW_SOLID_TERMS];
    int terms; /* number of T_r and c_r */
} tw_solid_curvature;

/* Finds the second derivative. Returns false if it does not exist for some of the elements. */
bool tw_solid_differentiate(const tw_solid_constants *m, tw_lanes *F, tw_solid_curvature *out);

/* dP = d^2 Psi / dF^2 : dF. Returns false if it does not exist for some of the elements. */
bool tw_solid_change(const tw_solid_constants *m, tw_lanes *F, tw_lanes *dF, tw_lanes *dP);

#endif
