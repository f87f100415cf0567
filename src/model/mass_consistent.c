/* Consistent mass: element matrices, assembly, products and solutions. */
#include "model/mass_consistent.h"

#include <stdbool.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/parallel_for.h"
#include "model/pattern.h"
#include "model/tetrahedron.h"

/* ---- elements of mass 1 ---- */

/* How many corners of the edge of node a >= 4 belong to node b, which is a corner
 * or the node of an edge. */
static int shared_corners(int a, int b)
{
    const int *p = tw_tetrahedron_edges[a - 4];
    if (b < 4) return (p[0] == b) + (p[1] == b);
    const int *q = tw_tetrahedron_edges[b - 4];
    return (p[0] == q[0]) + (p[0] == q[1]) + (p[1] == q[0]) + (p[1] == q[1]);
}

/* C_ab of ten nodes, from int L_0^i L_1^j L_2^k L_3^l = 6 V i! j! k! l! / (i + j + k + l + 3)!. */
static double quadratic_mass(int a, int b)
{
    if (a > b) return quadratic_mass(b, a);

    /* Two corners. */
    if (b < 4) return (a == b ? 6.0 : 1.0) / 420.0;

    /* A corner and an edge, which may contain the corner. */
    if (a < 4) return (shared_corners(b, a) ? -4.0 : -6.0) / 420.0;

    /* Two edges share no corner, one, or both. */
    static const double edges[3] = {8.0 / 420.0, 16.0 / 420.0, 32.0 / 420.0};
    return edges[shared_corners(a, b)];
}

/* C_ab of an element of mass 1. */
static double element_mass(int nodes, int a, int b)
{
    if (nodes == 2) return (a == b ? 2.0 : 1.0) / 6.0;
    if (nodes == 4) return (a == b ? 2.0 : 1.0) / 20.0;
    return quadratic_mass(a, b);
}

/* L_aa of an element of mass 1. */
static double lumped_mass(int nodes, int a)
{
    if (nodes == 2) return 0.5;
    return tw_shape_of(nodes)->lumped[a];
}

/* ---- putting together ---- */

static void free_group(tw_mass_group *group)
{
    tw_release((void *)group->particle);
    tw_release((void *)group->mass);
}

tw_status tw_consistent_mass_add(tw_consistent_mass *mass, const tw_mass_group *group)
{
    tw_mass_group *larger = TW_NEW_ARRAY(mass->group_count + 1, tw_mass_group);
    tw_mass_group copy = *group;
    bool good = larger != NULL;

    /* The group is copied, then the list of groups. */
    copy.particle =
        tw_copy_array(group->particle, group->nodes * group->count, sizeof *group->particle, &good);
    copy.mass = tw_copy_array(group->mass, group->count, sizeof *group->mass, &good);
    if (!good) {
        tw_release(larger);
        free_group(&copy);
        return TW_OUT_OF_MEMORY;
    }

    for (int g = 0; g < mass->group_count; g++) larger[g] = mass->groups[g];
    larger[mass->group_count++] = copy;
    tw_release(mass->groups);
    mass->groups = larger;
    return TW_OK;
}

void tw_consistent_mass_free(tw_consistent_mass *mass)
{
    for (int g = 0; g < mass->group_count; g++) free_group(&mass->groups[g]);
    tw_release(mass->groups);
    tw_cholesky_free(mass->factor);
    tw_sparse_free(mass->coupling);
    tw_sparse_free(mass->matrix);
    tw_release(mass->load);
    tw_release(mass->columns);
    *mass = (tw_consistent_mass){0};
}

/* Called for every pair of nodes a <= b of every element, with the value m_e (C_ab - L_ab). */
typedef void visit_pair(void *context, int32_t a, int32_t b, double value);

static void visit_pairs(const tw_consistent_mass *mass, visit_pair *visit, void *context)
{
    for (int g = 0; g < mass->group_count; g++) {
        const tw_mass_group *group = &mass->groups[g];
        for (int64_t e = 0; e < group->count; e++)
            for (int a = 0; a < group->nodes; a++)
                for (int b = a; b < group->nodes; b++) {
                    const int32_t *node = group->particle + group->nodes * e;
                    double value = element_mass(group->nodes, a, b);
                    if (a == b) value -= lumped_mass(group->nodes, a);
                    visit(context, node[a], node[b], group->mass[e] * value);
                }
    }
}

/* What the functions called for each pair share. */
typedef struct filling {
    tw_consistent_mass *mass;
    const tw_particles *particles;
    tw_pattern pattern;
} filling;

static void visit_pattern(void *context, int32_t a, int32_t b, double value)
{
    (void)value;
    filling *f = context;
    int32_t i = f->particles->unknown[a];
    int32_t j = f->particles->unknown[b];
    if (i >= 0 && j >= 0) tw_pattern_add(&f->pattern, i, j);
}

/* Adds the value to the row sums of both particles, and to the coupling if both are free. */
static void visit_value(void *context, int32_t a, int32_t b, double value)
{
    filling *f = context;
    f->mass->load[a] += value;
    if (a != b) f->mass->load[b] += value;

    int32_t i = f->particles->unknown[a];
    int32_t j = f->particles->unknown[b];
    if (i < 0 || j < 0) return;
    int64_t at = tw_pattern_find(f->mass->coupling, i, j);
    tw_sparse_values(f->mass->coupling)[at] += value;
}

/* Makes the matrix of 3x3 blocks, and the coupling, which has the same pattern
 * with one value per block. */
static tw_status create_matrices(filling *f, tw_error *error)
{
    tw_consistent_mass *mass = f->mass;
    visit_pairs(mass, visit_pattern, f);
    tw_status status = tw_pattern_finish(&f->pattern, &mass->matrix, error);
    if (status != TW_OK) return status;

    /* tw_sparse_create takes 64-bit columns. */
    const int64_t *start = tw_sparse_row_start(mass->matrix);
    const int32_t *column = tw_sparse_column(mass->matrix);
    int64_t *wide = TW_NEW_ARRAY(start[mass->free_count], int64_t);
    if (!wide) return TW_OUT_OF_MEMORY;
    for (int64_t b = 0; b < start[mass->free_count]; b++) wide[b] = column[b];
    status =
        tw_sparse_create(1, mass->free_count, start, wide, TW_STORE_UPPER, &mass->coupling, error);
    tw_release(wide);
    return status;
}

/* M = diag(masses) + sum_e m_e (C_e - L_e), and its row sums. */
static void fill_matrices(filling *f)
{
    tw_consistent_mass *mass = f->mass;
    const tw_particles *p = f->particles;
    double *coupling = tw_sparse_values(mass->coupling);
    double *matrix = tw_sparse_values(mass->matrix);

    /* The masses of the particles, then the elements. */
    for (int64_t i = 0; i < p->count; i++) mass->load[i] = p->mass[i];
    for (int64_t i = 0; i < p->free_count; i++)
        coupling[tw_sparse_find(mass->coupling, i, i)] = p->mass[p->particle[i]];
    visit_pairs(mass, visit_value, f);

    /* Each block of the matrix is the value of the coupling times I. */
    for (int64_t b = 0; b < tw_sparse_row_start(mass->coupling)[mass->free_count]; b++)
        for (int k = 0; k < 9; k += 4) matrix[9 * b + k] = coupling[b];
}

tw_status tw_consistent_mass_complete(tw_consistent_mass *mass, const tw_particles *particles,
                                      tw_error *error)
{
    filling f = {mass, particles, {.rows = particles->free_count}};
    mass->free_count = particles->free_count;
    mass->load = TW_NEW_ARRAY(particles->count, double);
    mass->columns = TW_NEW_ARRAY(6 * particles->free_count, double);
    if (!mass->load || !mass->columns) return TW_OUT_OF_MEMORY;

    tw_status status = create_matrices(&f, error);
    if (status != TW_OK) return status;
    fill_matrices(&f);

    /* Factorises the coupling alone: 0 * (no mass) + 1 * coupling. */
    status = tw_cholesky_create(mass->coupling, NULL, &mass->factor, error);
    if (status == TW_OK) status = tw_cholesky_factor(mass->factor, 0.0, NULL, 1.0);
    mass->view = (tw_mass_operator){tw_consistent_mass_apply, tw_consistent_mass_solve, mass};
    return status;
}

/* ---- products and solutions: x, y and z are three columns for the coupling ---- */

/* What the functions of the parallel loops share. */
typedef struct transposition {
    int64_t n;
    const double *in;
    double *out;
} transposition;

/* From x, y, z per particle to all x, all y, all z. */
static void separate_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const transposition *t = context;
    for (int64_t i = begin; i < end; i++)
        for (int k = 0; k < 3; k++) t->out[k * t->n + i] = t->in[3 * i + k];
}

/* Back to x, y, z per particle. */
static void join_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const transposition *t = context;
    for (int64_t i = begin; i < end; i++)
        for (int k = 0; k < 3; k++) t->out[3 * i + k] = t->in[k * t->n + i];
}

static tw_status for_each_column(tw_consistent_mass *mass, bool solve, int count, const double *in,
                                 double *out)
{
    int64_t n = mass->free_count;
    double *separate = mass->columns;
    double *result = mass->columns + 3 * n;

    /* out = M^-1 in (solve) or out = M in, for each column. */
    for (int c = 0; c < count; c++) {
        transposition apart = {n, in + 3 * n * c, separate},
                      together = {n, result, out + 3 * n * c};

        /* One product or solution serves x, y and z as three columns. */
        tw_parallel_for(n, TW_PARTICLE_BLOCK, separate_block, &apart);
        if (solve)
            TW_TRY(tw_cholesky_solve(mass->factor, 3, separate, result));
        else
            TW_TRY(tw_sparse_apply(mass->coupling, 3, separate, result));
        tw_parallel_for(n, TW_PARTICLE_BLOCK, join_block, &together);
    }

    return TW_OK;
}

tw_status tw_consistent_mass_apply(void *mass, int count, const double *in, double *out)
{
    return for_each_column(mass, false, count, in, out);
}

tw_status tw_consistent_mass_solve(void *mass, int count, const double *in, double *out)
{
    return for_each_column(mass, true, count, in, out);
}
