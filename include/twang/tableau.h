/** @file tableau.h
 *  Exponential Rosenbrock and EPIRK methods as data. A user's own method is checked against the
 *  stiff order conditions.
 *
 *  With `J = dF/du(u_n)`, `z = hJ`:
 *      U_i     = u_n + c_i h phi_1(c_i z) F_n + h sum_terms coefficient * phi_k(node z) D_source
 *      D_i     = F(U_i) - F_n - J (U_i - u_n)
 *      u_{n+1} = u_n + h phi_1(z) F_n + h sum_terms coefficient * phi_k(node z) D_source
 *      error   = h sum_terms coefficient * phi_k(node z) D_source
 *
 *  The error is the difference to the embedded method.
 */
#ifndef TWANG_TABLEAU_H
#define TWANG_TABLEAU_H

#include <stdbool.h>
#include <twang/status.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { TW_TABLEAU_MAX_STAGES = 6, TW_TABLEAU_MAX_TERMS = 48 };

typedef enum tw_tableau_row {
    TW_ROW_STEP = -1, /**< the term belongs to u_{n+1} */
    TW_ROW_ERROR = -2 /**< the term belongs to the error estimate */
} tw_tableau_row;

/** The source `F(u_{n+1}) - F_n - J (u_{n+1} - u_n)`, D at the end of the step; row ERROR only. */
enum { TW_SOURCE_END = 100 };

/** `coefficient * phi_k(node * z) D_source`, added to `row`. */
typedef struct tw_tableau_term {
    int row;    /**< stage index from 0 (needs source < row), or a tw_tableau_row */
    int source; /**< stage whose D it weighs, from 0, or TW_SOURCE_END */
    int k;      /**< index of phi, 1..6 */
    /** The argument of phi is node * z; 1 in the rows STEP and ERROR of Rosenbrock methods. */
    double node;
    double coefficient;
} tw_tableau_term;

typedef struct tw_tableau {
    const char *name;                /**< not owned; static or outliving the integrator */
    int order;                       /**< claimed order, 2..5 */
    int error_order;                 /**< order of the embedded method; 0 if there is no estimate */
    int stages;                      /**< internal stages U_2.., 0..TW_TABLEAU_MAX_STAGES */
    double c[TW_TABLEAU_MAX_STAGES]; /**< their nodes, nonzero */
    int term_count;
    tw_tableau_term terms[TW_TABLEAU_MAX_TERMS];
} tw_tableau;

/** What the stiff order conditions say about a tableau. */
typedef struct tw_tableau_report {
    /** Highest order whose conditions hold, in the weak form where docs/schemes.md allows it. */
    int order;
    /** Highest order with every condition in the strong form. */
    int strong_order;
    /** The first condition violated, with its residual; empty if none up to order 5. */
    char violated[160];
} tw_tableau_report;

/** Evaluates the stiff order conditions at a spread of arguments. TW_INVALID_ARGUMENT for a
 *  malformed tableau, or for one whose claimed order exceeds the order found; `error` names the
 *  violated condition. `report` may be NULL. */
TW_API tw_status tw_tableau_check(const tw_tableau *tableau, tw_tableau_report *report,
                                  tw_error *error);

/** The built-in tableau "exprb2", "exprb32", "exprb42", "pexprb43", "exprb53" or "epirk4s3"; NULL
 *  for any other name. */
TW_API const tw_tableau *tw_tableau_by_name(const char *name);

/** pexprb43 with free distinct nonzero nodes (c2, c3). */
TW_API tw_status tw_tableau_pexprb43(double c2, double c3, tw_tableau *out, tw_error *error);

#ifdef __cplusplus
}
#endif
#endif
