/* Tangents by finite differences, where the problem gives none.
 *
 *   along one direction d:   J d ~ (F(u + s d) - F(u)) / s
 *   the values of a matrix:  the same along one direction per colour; columns of one colour have no
 *                            row in common, so they are perturbed together (Curtis, Powell, Reid
 *                            1974)
 *   in time:                 F_t ~ (F(t + s) - F(t - s)) / (2 s)
 *
 * A step of sqrt(eps) balances the truncation error O(s) of a one-sided difference with the
 * rounding error O(eps / s); cbrt(eps) does so for the central one. */
#include <float.h>
#include <math.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "integrators/system.h"
#include "linalg/vector.h"

tw_status tw_system_need_linear_f(tw_system *system)
{
    if (system->linear_f_known) return TW_OK;
    tw_status status = tw_system_rhs(system, system->linear_t, system->linear_u, system->linear_f);
    system->linear_f_known = status == TW_OK;
    return status;
}

/* ---- along one direction ---- */

/* The step s for which s d perturbs u by about sqrt(eps) of its size; 0 if d = 0. */
static tw_status difference_step(const tw_system *system, int64_t n, const double *u,
                                 const double *d, double *step)
{
    tw_space space = system->jacobian.space;
    space.local_size = n;

    double u_norm = 0;
    double d_norm = 0;
    TW_TRY(tw_vector_norm(&space, u, &u_norm));
    TW_TRY(tw_vector_norm(&space, d, &d_norm));

    /* |s d| = sqrt(eps) (1 + |u|) */
    *step = d_norm > 0 ? sqrt(DBL_EPSILON) * (1.0 + u_norm) / d_norm : 0;
    return TW_OK;
}

/* out = (F(u + s d) - F(u)) / s, where d perturbs the block of n entries at `offset` of u. */
static tw_status difference_along(tw_system *system, int64_t offset, int64_t n, const double *d,
                                  double *out)
{
    /* Evaluate F(u) and choose the step s. */
    double step = 0;
    TW_TRY(tw_system_need_linear_f(system));
    TW_TRY(difference_step(system, n, system->linear_u + offset, d, &step));
    if (step == 0) {
        tw_vector_fill(system->size, 0.0, out);
        return TW_OK;
    }

    /* The perturbed point is u + s d. */
    double *moved = system->scratch;
    tw_vector_copy(system->size, system->linear_u, moved);
    tw_vector_axpy(n, step, d, moved + offset);

    /* tw_system_rhs counts a force evaluation, but differences are counted apart. */
    system->counts->difference_evaluations++;
    system->counts->force_evaluations--;
    tw_status status = tw_system_rhs(system, system->linear_t, moved, out);

    /* out = (out - F(u)) / s */
    tw_vector_axpby(system->size, -1.0 / step, system->linear_f, 1.0 / step, out);
    return status;
}

tw_status tw_system_jacobian_by_differences(tw_system *system, const double *in, double *out)
{
    return difference_along(system, 0, system->size, in, out);
}

/* out = -M da/dx in (offset 0) or -M da/dv in (offset n), `count` vectors. */
static tw_status second_order_differences(tw_system *system, int64_t offset, int count,
                                          const double *in, double *out)
{
    double *F = system->scratch + system->size;
    for (int j = 0; j < count; j++) {
        double *column = out + j * system->n;

        /* The lower half of the difference is da. */
        TW_TRY(difference_along(system, offset, system->n, in + j * system->n, F));

        TW_TRY(tw_system_mass(system, F + system->n, column));
        tw_vector_scale(system->n, -1.0, column);
    }
    return TW_OK;
}

tw_status tw_system_stiffness_by_differences(tw_system *system, int count, const double *in,
                                             double *out)
{
    return second_order_differences(system, 0, count, in, out);
}

tw_status tw_system_damping_by_differences(tw_system *system, int count, const double *in,
                                           double *out)
{
    return second_order_differences(system, system->n, count, in, out);
}

/* ---- the values of a matrix ---- */

tw_status tw_system_prepare_differences(tw_system *system, const tw_sparse *pattern)
{
    system->fill_by_differences = true;
    system->moved = TW_NEW_ARRAY(system->n, double);
    system->difference = TW_NEW_ARRAY(system->n, double);
    system->difference_step = TW_NEW_ARRAY(system->n, double);
    if (!system->moved || !system->difference || !system->difference_step) return TW_OUT_OF_MEMORY;

    return pattern ? tw_colouring_create(&system->colouring, pattern) : TW_OK;
}

void tw_system_release_differences(tw_system *system)
{
    tw_colouring_free(&system->colouring);
    tw_release(system->moved);
    tw_release(system->difference);
    tw_release(system->difference_step);
}

/* The function whose derivative is the matrix: K = -df/dx of the force f, or J = dF/du. */
typedef struct differentiated {
    tw_status (*evaluate)(tw_system *system, const double *x, double *f);
    const double *f; /* at the point of linearisation */
    double sign;
} differentiated;

/* f = M a(x) at the linearised time and velocity. */
static tw_status force_at(tw_system *system, const double *x, double *f)
{
    double *a = system->scratch;
    const double *v = system->linear_u + system->n;

    system->counts->difference_evaluations++;
    TW_TRY(system->second.acceleration(system->second.context, system->linear_t, x, v, a));
    return tw_system_mass(system, a, f);
}

/* f = F(u) at the linearised time. */
static tw_status rhs_at(tw_system *system, const double *u, double *f)
{
    system->counts->difference_evaluations++;
    return system->first.rhs(system->first.context, system->linear_t, u, f);
}

/* The step of an entry x is sqrt(eps) max(|x|, 1), rounded so that x + step is exact. */
static double entry_step(double x)
{
    double moved = x + sqrt(DBL_EPSILON) * fmax(fabs(x), 1.0);
    return moved - x;
}

static void choose_steps(tw_system *system)
{
    const double *x = system->linear_u;
    for (int64_t i = 0; i < system->n; i++) system->difference_step[i] = entry_step(x[i]);
}

/* Moves entry `inner` of every block of this colour by its step. */
static void move_colour(tw_system *system, int block, int colour, int inner)
{
    const double *x = system->linear_u;
    for (int64_t j = 0; j < system->colouring.size; j++)
        for (int r = 0; r < block; r++) {
            int64_t i = j * block + r;
            bool moves = system->colouring.colour[j] == colour && r == inner;
            system->moved[i] = x[i] + (moves ? system->difference_step[i] : 0.0);
        }
}

/* Writes column `inner` of every block whose block column has this colour: no other column of the
 * colour reaches its rows, so the whole difference there is due to this one. */
static void scatter(const tw_system *system, int colour, int inner, double sign, tw_sparse *matrix)
{
    const int64_t *row_start = tw_sparse_row_start(matrix);
    const int32_t *column = tw_sparse_column(matrix);
    double *values = tw_sparse_values(matrix);
    int b = tw_sparse_block(matrix);

    for (int64_t i = 0; i < system->colouring.size; i++)
        for (int64_t p = row_start[i]; p < row_start[i + 1]; p++) {
            int64_t j = column[p];
            if (system->colouring.colour[j] != colour) continue;
            double scale = sign / system->difference_step[j * b + inner];
            for (int r = 0; r < b; r++)
                values[p * b * b + inner * b + r] = scale * system->difference[i * b + r];
        }
}

static tw_status fill(tw_system *system, const differentiated *function, tw_sparse *matrix)
{
    int block = tw_sparse_block(matrix);

    choose_steps(system);
    for (int colour = 0; colour < system->colouring.colours; colour++)
        for (int inner = 0; inner < block; inner++) {
            /* One evaluation gives one column of every block of the colour. */
            move_colour(system, block, colour, inner);
            TW_TRY(function->evaluate(system, system->moved, system->difference));

            /* The differences go to their places in the matrix. */
            for (int64_t i = 0; i < system->n; i++) system->difference[i] -= function->f[i];
            scatter(system, colour, inner, function->sign, matrix);
        }

    return TW_OK;
}

tw_status tw_system_fill_by_differences(tw_system *system)
{
    if (system->own_matrix) return tw_system_fill_own_matrix(system);
    TW_TRY(tw_system_need_linear_f(system));

    /* First order: J = dF/du. */
    if (!system->second_order) {
        differentiated rhs = {.evaluate = rhs_at, .f = system->linear_f, .sign = 1.0};
        return fill(system, &rhs, system->first.jacobian_matrix);
    }

    /* Second order: K = -df/dx with f = M a. */
    double *f = system->scratch + system->size;
    TW_TRY(tw_system_mass(system, system->linear_f + system->n, f));
    differentiated force = {.evaluate = force_at, .f = f, .sign = -1.0};
    return fill(system, &force, system->second.stiffness_matrix);
}

tw_status tw_system_stiffness_column(tw_system *system, int64_t j, double *column)
{
    const tw_second_order_problem *p = &system->second;
    const double *v = system->linear_u + system->n;
    double step = entry_step(system->linear_u[j]);
    TW_TRY(tw_system_need_linear_f(system));

    /* a at x + s e_j */
    double *a = system->scratch;
    tw_vector_copy(system->n, system->linear_u, system->moved);
    system->moved[j] += step;
    system->counts->difference_evaluations++;
    TW_TRY(p->acceleration(p->context, system->linear_t, system->moved, v, a));

    /* column = -M (a(x + s e_j) - a(x)) / s */
    tw_vector_axpby(system->n, 1.0 / step, system->linear_f + system->n, -1.0 / step, a);
    return tw_system_mass(system, a, column);
}

/* ---- in time ---- */

tw_status tw_system_time_difference(tw_system *system, double t, const double *u, double *F_t)
{
    /* Evaluate F ahead of t and behind it. */
    double step = cbrt(DBL_EPSILON) * fmax(1.0, fabs(t));
    double *behind = system->scratch;
    tw_status status = tw_system_rhs(system, t + step, u, F_t);
    if (status == TW_OK) status = tw_system_rhs(system, t - step, u, behind);

    /* tw_system_rhs counted two force evaluations, but differences are counted apart. */
    system->counts->force_evaluations -= 2;
    system->counts->difference_evaluations += 2;

    /* F_t = (F_t - behind) / (2 s) */
    tw_vector_axpby(system->size, -0.5 / step, behind, 0.5 / step, F_t);
    return status;
}
