/* What expmv and leja must both do: test functions for their suites. Set the engine first. */
#ifndef TESTS_EXP_ENGINE_CHECKS_H
#define TESTS_EXP_ENGINE_CHECKS_H

#include <check.h>
#include <twang/phi.h>

/* A test case with every shared check, for this engine. */
TCase *exp_engine_checks(tw_phi_engine engine);

#endif
