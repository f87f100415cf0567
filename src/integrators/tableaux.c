/* The exponential Rosenbrock methods as data, and the stiff order conditions they must satisfy. */
#include <math.h>
#include <string.h>
#include <twang/stumpff.h>
#include <twang/tableau.h>

#include "base/fail.h"
#include "base/number.h"

enum {
    HIGHEST_ORDER = 5, /* of which the stiff order conditions are known here */
    HIGHEST_PHI = 6    /* index k of phi_k in a tableau */
};

#define STEP  TW_ROW_STEP
#define ERROR TW_ROW_ERROR
#define END   TW_SOURCE_END

/* A term {row, source, k, node, coefficient} is explained in tableau.h. References: Luan &
 * Ostermann 2014; Luan & Michels 2018, 2022; Michels, Luan & Tokman 2017 (see docs/schemes.md). */
static const tw_tableau tableaux[] = {
    {.name = "exprb2",
     .order = 2,
     .error_order = 2,
     .term_count = 1,
     .terms = {{ERROR, END, 3, 1, 2}}},
    {.name = "exprb32",
     .order = 3,
     .error_order = 2,
     .stages = 1,
     .c = {1},
     .term_count = 2,
     .terms = {{STEP, 0, 3, 1, 2}, {ERROR, 0, 3, 1, 2}}},
    /* The estimate compares with exprb32 whose stage is the end of the step. */
    {.name = "exprb42",
     .order = 4,
     .error_order = 3,
     .stages = 1,
     .c = {0.75},
     .term_count = 3,
     .terms = {{STEP, 0, 3, 1, 32.0 / 9}, {ERROR, 0, 3, 1, 32.0 / 9}, {ERROR, END, 3, 1, -2}}},
    {.name = "pexprb43",
     .order = 4,
     .error_order = 3,
     .stages = 2,
     .c = {1.0 / 3, 0.75},
     .term_count = 6,
     .terms = {{STEP, 0, 3, 1, 162.0 / 5},
               {STEP, 1, 3, 1, -128.0 / 45},
               {STEP, 0, 4, 1, -648.0 / 5},
               {STEP, 1, 4, 1, 128.0 / 5},
               {ERROR, 0, 4, 1, -648.0 / 5},
               {ERROR, 1, 4, 1, 128.0 / 5}}},
    {.name = "epirk4s3",
     .order = 4,
     .error_order = 3,
     .stages = 2,
     .c = {1.0 / 8, 1.0 / 9},
     .term_count = 6,
     .terms = {{STEP, 0, 3, 1, -1024},
               {STEP, 1, 3, 1, 1458},
               {STEP, 0, 4, 1, 27648},
               {STEP, 1, 4, 1, -34992},
               {ERROR, 0, 4, 1, 27648},
               {ERROR, 1, 4, 1, -34992}}},
    /* The estimate compares with pexprb43(1/2, 1) whose second stage is the end of the step. */
    {.name = "exprb53",
     .order = 5,
     .error_order = 4,
     .stages = 2,
     .c = {0.5, 0.9},
     .term_count = 12,
     .terms = {{1, 0, 3, 0.5, 27.0 / 25},
               {1, 0, 3, 0.9, 729.0 / 125},
               {STEP, 0, 3, 1, 18},
               {STEP, 0, 4, 1, -60},
               {STEP, 1, 3, 1, -250.0 / 81},
               {STEP, 1, 4, 1, 500.0 / 27},
               {ERROR, 0, 3, 1, 2},
               {ERROR, 0, 4, 1, -12},
               {ERROR, 1, 3, 1, -250.0 / 81},
               {ERROR, 1, 4, 1, 500.0 / 27},
               {ERROR, END, 3, 1, 2},
               {ERROR, END, 4, 1, -12}}},
};

const tw_tableau *tw_tableau_by_name(const char *name)
{
    for (size_t i = 0; name && i < sizeof tableaux / sizeof tableaux[0]; i++)
        if (strcmp(tableaux[i].name, name) == 0) return &tableaux[i];
    return NULL;
}

/* The weights integrate remainders s^2 and s^3 exactly from their values at c2 and c3. The estimate
 * is the part with phi_4: what the cubic term contributes. */
tw_status tw_tableau_pexprb43(double c2, double c3, tw_tableau *out, tw_error *error)
{
    if (!out) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    if (!(fabs(c2) > 0) || !(fabs(c3) > 0) || !isfinite(c2) || !isfinite(c3) || c2 == c3)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "pexprb43 needs distinct nonzero nodes, not (%g, %g)", c2, c3);

    /* b_i(z) = b3[i] phi_3(z) + b4[i] phi_4(z) */
    double b3[2] = {2 * c3 / (c2 * c2 * (c3 - c2)), 2 * c2 / (c3 * c3 * (c2 - c3))};
    double b4[2] = {-6 / (c2 * c2 * (c3 - c2)), -6 / (c3 * c3 * (c2 - c3))};
    *out = (tw_tableau){.name = "pexprb43",
                        .order = 4,
                        .error_order = 3,
                        .stages = 2,
                        .c = {c2, c3},
                        .term_count = 6};

    for (int i = 0; i < 2; i++) {
        out->terms[i] = (tw_tableau_term){STEP, i, 3, 1, b3[i]};
        out->terms[2 + i] = (tw_tableau_term){STEP, i, 4, 1, b4[i]};
        out->terms[4 + i] = (tw_tableau_term){ERROR, i, 4, 1, b4[i]};
    }
    return TW_OK;
}

static bool term_is_sound(const tw_tableau *tableau, const tw_tableau_term *term)
{
    if (term->k < 1 || term->k > HIGHEST_PHI) return false;
    if (!isfinite(term->node) || !isfinite(term->coefficient)) return false;
    if (term->row == ERROR && term->source == END) return true;
    if (term->source < 0 || term->source >= tableau->stages) return false;

    /* A stage may use only the remainders of earlier stages. */
    return term->row == STEP || term->row == ERROR ||
           (term->row > term->source && term->row < tableau->stages);
}

static bool in_range(int value, int lowest, int highest)
{
    return value >= lowest && value <= highest;
}

static tw_status check_form(const tw_tableau *tableau, tw_error *error)
{
    /* The numbers of the whole. */
    if (!tableau->name || !in_range(tableau->order, 2, HIGHEST_ORDER) ||
        !in_range(tableau->error_order, 0, HIGHEST_ORDER) ||
        !in_range(tableau->stages, 0, TW_TABLEAU_MAX_STAGES) ||
        !in_range(tableau->term_count, 0, TW_TABLEAU_MAX_TERMS))
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "tableau: name, order (2..5), stages or term_count is out of range");

    /* Nodes and terms. */
    for (int i = 0; i < tableau->stages; i++)
        if (!isfinite(tableau->c[i]) || tableau->c[i] == 0)
            return tw_fail(error, TW_INVALID_ARGUMENT,
                           "tableau %s: node c[%d] = %g must be nonzero", tableau->name, i,
                           tableau->c[i]);

    for (int i = 0; i < tableau->term_count; i++)
        if (!term_is_sound(tableau, &tableau->terms[i]))
            return tw_fail(error, TW_INVALID_ARGUMENT,
                           "tableau %s: term %d has a row, source, k or number out of range",
                           tableau->name, i);
    return TW_OK;
}

/* b_i(z) or a_ij(z): the sum of a row's terms on one source. */
static double weight(const tw_tableau *tableau, int row, int source, double z)
{
    double sum = 0;
    double phi[HIGHEST_PHI + 1];
    for (int i = 0; i < tableau->term_count; i++) {
        const tw_tableau_term *term = &tableau->terms[i];
        if (term->row != row || term->source != source) continue;

        tw_phi_scalar(term->node * z, term->k + 1, phi);
        sum += term->coefficient * phi[term->k];
    }
    return sum;
}

/* psi_{3,i}(w) = sum_j a_ij(w) c_j^2/2 - c_i^3 phi_3(c_i w). */
static double psi3(const tw_tableau *tableau, int i, double w)
{
    double c = tableau->c[i];
    double phi[4];
    double sum = 0;
    tw_phi_scalar(c * w, 4, phi);

    for (int j = 0; j < i; j++)
        sum += weight(tableau, i, j, w) * 0.5 * tableau->c[j] * tableau->c[j];
    return sum - c * c * c * phi[3];
}

/* ---- the stiff order conditions ---- */

enum { CONDITIONS = 4 };
static const char *const condition_text[CONDITIONS] = {
    "1 (order 3): sum b_i(Z) c_i^2 = 2 phi_3(Z)", "2 (order 4): sum b_i(Z) c_i^3 = 6 phi_4(Z)",
    "3 (order 5): sum b_i(Z) c_i^4 = 24 phi_5(Z)", "4 (order 5): sum b_i(Z) c_i K psi_3i(Z) = 0"};

/* The order that is reached if a condition holds, those before it included. */
static const int condition_order[CONDITIONS] = {3, 4, 5, 5};

/* A condition holds if its residual is below this: rounding is about 1e-15, a wrong digit in a
 * coefficient is far above. */
static const double residual_bound = 1e-11;

/* Residual of one condition relative to its terms. A condition on functions of one matrix Z holds
 * for all matrices if and only if it holds for all numbers z. Condition 4, with an arbitrary K
 * between two functions of Z, holds if and only if it holds for all pairs (z, w). */
static double residual(const tw_tableau *tableau, int condition, double z, double w)
{
    /* These are the right-hand sides of the conditions. */
    double phi[6];
    tw_phi_scalar(z, 6, phi);
    const double right[CONDITIONS] = {2 * phi[3], 6 * phi[4], 24 * phi[5], 0};

    /* Sum the left-hand side, and the size of its terms. */
    double sum = 0;
    double scale = 0;
    for (int i = 0; i < tableau->stages; i++) {
        double c = tableau->c[i];
        double b = weight(tableau, STEP, i, z);
        double term = condition == 3 ? b * c * psi3(tableau, i, w) : b * pow(c, condition + 2);
        sum += term;
        scale += fabs(term);
    }

    /* The smallest number avoids 0/0 where there are no terms. */
    return fabs(sum - right[condition]) / (scale + fabs(right[condition]) + 1e-300);
}

/* Largest residual over a spread of arguments. weak: b_i(0) in place of b_i(Z). */
static double worst_residual(const tw_tableau *tableau, int condition, bool weak)
{
    enum { ARGUMENTS = 8 };
    static const double argument[ARGUMENTS] = {-7.3, -2.1, -0.6, -0.05, 0.0, 0.3, 1.7, 4.9};
    double worst = 0;
    for (int i = 0; i < ARGUMENTS; i++)
        for (int j = 0; j < ARGUMENTS; j++) {
            double z = weak ? 0.0 : argument[i];
            worst = fmax(worst, residual(tableau, condition, z, argument[j]));
        }
    return worst;
}

/* Conditions 2, 3 and 4 may hold weakly: that is enough for problems whose remainder is smooth
 * (Luan & Ostermann). */
static int order_found(const tw_tableau *tableau, bool strong, char violated[160])
{
    for (int condition = 0; condition < CONDITIONS; condition++) {
        bool weak = !strong && condition > 0;
        double worst = worst_residual(tableau, condition, weak);
        if (worst < residual_bound) continue;

        /* The first condition that fails bounds the order. */
        if (violated)
            tw_print(violated, 160, "%s, residual %.1e", condition_text[condition], worst);
        return condition_order[condition] - 1;
    }
    return HIGHEST_ORDER;
}

tw_status tw_tableau_check(const tw_tableau *tableau, tw_tableau_report *report, tw_error *error)
{
    if (!tableau) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    TW_TRY(check_form(tableau, error));

    tw_tableau_report found = {0};
    found.order = order_found(tableau, false, found.violated);
    found.strong_order = order_found(tableau, true, NULL);
    if (report) *report = found;

    /* A tableau may not claim more than it satisfies. */
    if (tableau->order > found.order)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "tableau %s claims order %d but violates stiff order condition %s",
                       tableau->name, tableau->order, found.violated);
    return TW_OK;
}
