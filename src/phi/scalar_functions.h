/* What the scalar functions share with the engines. */
#ifndef TW_PHI_SCALAR_FUNCTIONS_H
#define TW_PHI_SCALAR_FUNCTIONS_H

#include <twang/stumpff.h>

enum { TW_FACTORIALS = 64 };

/* 1/k! for k < TW_FACTORIALS. */
extern const double tw_inverse_factorial[TW_FACTORIALS];

#endif
