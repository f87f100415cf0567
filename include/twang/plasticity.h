/** @file plasticity.h
 *  Springs that yield: what is stretched or compressed too far does not spring back.
 *  docs/plasticity.md has the law, how it is integrated, and what was measured. */
#ifndef TWANG_PLASTICITY_H
#define TWANG_PLASTICITY_H

#include <twang/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The law of springs that yield. With the length l of a spring, its first rest length L_0 and its
 *  plastic elongation p, the rest length is L = L_0 + p, and the elastic strain (l - L) / L_0 stays
 *  within +-(yield_strain + hardening a), where a is the sum of all |dp| / L_0 so far: beyond, the
 *  rest length flows. Start from tw_plasticity_default(). */
typedef struct tw_plasticity {
    double yield_strain; /**< > 0. Default 0.02 */
    /** >= 0, isotropic: by how much the elastic limit grows per plastic strain. A spring of
     *  stiffness k that flows resists further strain with k hardening / (1 + hardening).
     *  Default 0: the limit stays. */
    double hardening;
    /** A spring breaks for good when (l - L_0) / L_0 exceeds this strain, which must be larger than
     *  yield_strain. Default INFINITY: springs do not break. */
    double rupture_strain;
    /** > 0. By how much the flow of a step may be wrong before the step is rejected: the mean over
     *  all springs, as a share of their elastic deflections (docs/plasticity.md). INFINITY: no step
     *  is rejected. Default 0.01. */
    double tolerance;
} tw_plasticity;
TW_API tw_plasticity tw_plasticity_default(void);

/** Springs that are added from now on, by any function of model.h and forces.h that adds springs,
 *  yield by this law. NULL: they are elastic again, as at first. Dashpots, hinges, tetrahedra and
 *  girders are elastic always. */
TW_API tw_status tw_model_set_plasticity(tw_model *model, const tw_plasticity *law,
                                         tw_error *error);

#ifdef __cplusplus
}
#endif
#endif
