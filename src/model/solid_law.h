/* Elastic energy densities as functions of the deformation gradient F, for several elements at once.
 *
 * Matrices are row by row. */
#ifndef TW_MODEL_SOLID_LAW_H
#define TW_MODEL_SOLID_LAW_H

#include <stdbool.h>
#include <twang/solid.h>

#include "model/lanes.h"

typedef struct tw_solid_constants {
    tw_solid_law law;
    double lame_mu, lame_lambda;
    double mu,
        lambda;   /* the same; for neo-Hookean those of Smith et al. that agree with them at rest */
    double alpha; /* neo-Hookean: J at which the volume term vanishes */
    double rest;  /* neo-Hookean: energy density at F = I, subtracted */
} tw_solid_constants;

tw_solid_constants tw_solid_constants_of(const tw_solid_material *material);

/* psi = Psi(F) [J/m^3] */
void tw_solid_energy(const tw_solid_constants *m, tw_lanes *F, tw_lanes psi);
/* P = dPsi/dF */
void tw_solid_stress(const tw_solid_constants *m, tw_lanes *F, tw_lanes *P);

enum { TW_SOLID_TERMS = 4 };

/* The second derivative, as what it does to two rank-one changes u a^T and w b^T of F:
 *     u^T [ isotropic (a . b) I + transposed b a^T + sum_r c_r (T_r a)(T_r b)^T - bend [F (a x b)]_x ] w */
typedef struct tw_solid_curvature {
    tw_lanes isotropic, transposed, bend;
    tw_lanes T[TW_SOLID_TERMS][9], c[TW_SOLID_TERMS];
    int terms;
} tw_solid_curvature;

/* False if it does not exist for some of the elements. */
bool tw_solid_differentiate(const tw_solid_constants *m, tw_lanes *F, tw_solid_curvature *out);

/* dP = d^2 Psi / dF^2 : dF. False if it does not exist for some of the elements. */
bool tw_solid_change(const tw_solid_constants *m, tw_lanes *F, tw_lanes *dF, tw_lanes *dP);

#endif
