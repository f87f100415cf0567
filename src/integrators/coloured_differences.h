/* Values of an assembled tangent by finite differences, one evaluation per colour: columns that share no row are
 * perturbed together (Curtis, Powell, Reid 1974). */
#ifndef TW_INTEGRATORS_COLOURED_DIFFERENCES_H
#define TW_INTEGRATORS_COLOURED_DIFFERENCES_H

#include <twang/sparse.h>

typedef struct tw_coloured_differences tw_coloured_differences;

/* f = f(x): the function whose Jacobian is wanted. */
typedef tw_status tw_difference_function(void *context, const double *x, double *f);

tw_status tw_coloured_differences_create(const tw_sparse *pattern, tw_coloured_differences **out);
void tw_coloured_differences_free(tw_coloured_differences *differences);

/* matrix = sign * df/dx at x with f(x) known; the step of entry i is sqrt(eps) max(|x_i|, scale). */
tw_status tw_coloured_differences_fill(tw_coloured_differences *differences,
                                       tw_difference_function *function, void *context,
                                       const double *x, const double *f, double scale, double sign,
                                       tw_sparse *matrix);

#endif
