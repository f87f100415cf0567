/* auto against every other engine, by the cost of what they really did: within 1.5 of the cheapest on a stated grid. */
/* labels: slow */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "problems/reaction_diffusion.h"
#include "support/random.h"
#include "support/run_suite.h"

typedef enum grid_kind {
    FIRST, /* advection-diffusion on n cells, first order */
    CHAIN, /* n unit masses, equal springs, random vectors: every frequency is excited */
    STIFF, /* springs alternately soft and stiff, vectors in which the stiff ones keep their length; t = 5 */
    RAYLEIGH, /* CHAIN with Rayleigh damping */
    DAMPED    /* CHAIN with dashpots of different strength: no function of the spectrum */
} grid_kind;

typedef struct grid_case {
    grid_kind kind;
    int n;
    bool solver, bounded;    /* a Cholesky solver, a bound of the spectrum is given */
    double reach, tolerance; /* |t| omega_max, or |t| |A| */
} grid_case;

/* kind, sizes, reaches: every size with every reach and both tolerances */
typedef struct grid_part {
    grid_kind kind;
    bool solver, bounded;
    int sizes[2];
    double reaches[5], tolerances[2];
} grid_part;

static const grid_part parts[] = {
    {CHAIN, true, true, {100, 2000}, {1, 10, 60, 300, 2000}, {1e-3, 1e-8}},
    {CHAIN, false, false, {2000}, {1, 10, 60, 300}, {1e-3, 1e-8}},
    {STIFF, true, false, {300}, {100, 1000, 1e4, 1e5}, {1e-3, 1e-5}},
    {STIFF, true, false, {3000}, {100, 1000}, {1e-3, 1e-5}},
    {RAYLEIGH, true, true, {2000}, {10, 60, 300}, {1e-3, 1e-8}},
    {DAMPED, false, true, {60, 500}, {1, 10, 60}, {1e-3, 1e-8}},
    {FIRST, false, true, {60, 1500}, {1, 10, 60}, {1e-3, 1e-8}},
};

enum { MAX_GRID = 128 };

static int make_grid(grid_case *grid)
{
    int count = 0;
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
        for (int size = 0; size < 2 && parts[p].sizes[size] > 0; size++)
            for (int tolerance = 0; tolerance < 2; tolerance++)
                for (int reach = 0; reach < 5 && parts[p].reaches[reach] > 0; reach++)
                    grid[count++] = (grid_case){
                        parts[p].kind,    parts[p].sizes[size],    parts[p].solver,
                        parts[p].bounded, parts[p].reaches[reach], parts[p].tolerances[tolerance]};
    return count;
}

typedef struct fixture {
    tw_sparse *matrix;
    tw_shifted_cholesky *solver;
    tw_second_order pair;
    tw_operator first, damping;
    double stiff, time, *dashpots;
    double *memory, *vectors[2], *outputs[2];
    int64_t size;
} fixture;

/* Between masses i and i + 1. The stiff ones differ by up to a factor of ten. */
static double spring_of(const fixture *f, int i)
{
    test_random random = {(uint64_t)(i + 1)};
    return i % 2 != 0 || f->stiff == 1 ? 1 : f->stiff * pow(10, -test_random_unit(&random));
}

static void fill_matrix(const grid_case *g, fixture *f)
{
    int64_t *start = malloc(sizeof(int64_t) * (size_t)(g->n + 1)),
            *column = malloc(sizeof(int64_t) * 3 * (size_t)g->n), at = 0;
    for (int i = 0; i < g->n; i++) {
        start[i] = at;
        for (int j = i - 1; j <= i + 1; j++)
            if (j >= 0 && j < g->n) column[at++] = j;
    }
    start[g->n] = at;
    ck_assert_int_eq(tw_sparse_create(1, g->n, start, column, TW_STORE_FULL, &f->matrix, NULL),
                     TW_OK);
    double *values = tw_sparse_values(f->matrix);
    for (int i = 0; i < g->n; i++)
        for (int64_t p = start[i]; p < start[i + 1]; p++) {
            int64_t d = column[p] - i;
            double left = spring_of(f, i - 1), right = spring_of(f, i);
            if (g->kind == FIRST)
                values[p] = d == 0 ? -2 : d < 0 ? 1.4 : 0.6;
            else
                values[p] = d == 0 ? left + right : d < 0 ? -left : -right;
        }
    free(start), free(column);
}

static tw_status apply_dashpots(void *context, int count, const double *in, double *out)
{
    const fixture *f = context;
    int64_t n = f->size / 2;
    for (int64_t i = 0; i < n * count; i++) out[i] = f->dashpots[i % n] * in[i];
    return TW_OK;
}

/* t and the stiff springs give the reach asked for. lambda_max is 4 for equal springs, about 2 stiff + 2 else. */
static void choose_time(const grid_case *g, fixture *f)
{
    f->stiff = 1;
    f->time = g->kind == FIRST ? g->reach / 4 : g->reach / 2;
    if (g->kind != STIFF) return;
    f->time = 5;
    f->stiff = 0.5 * pow(g->reach / f->time, 2);
}

static void set_up(const grid_case *g, fixture *f)
{
    memset(f, 0, sizeof *f);
    choose_time(g, f);
    fill_matrix(g, f);
    f->size = (g->kind != FIRST ? 2 : 1) * (int64_t)g->n;
    f->first = tw_sparse_operator(f->matrix);
    f->first.norm = 4;
    f->pair.stiffness = f->first;
    f->pair.stiffness.norm = 0;
    f->pair.stiffness.symmetry = TW_SYMMETRIC;
    if (g->bounded) f->pair.eigenvalue_max = 4;
    if (g->kind == RAYLEIGH) f->pair.rayleigh_mass = 0.01, f->pair.rayleigh_stiffness = 0.02;
    f->memory = malloc(sizeof(double) * 5 * (size_t)f->size);
    test_random random = {7};
    for (int64_t i = 0; i < 2 * f->size; i++)
        f->memory[i] =
            g->kind == STIFF && i % 2 == 1 ? f->memory[i - 1] : test_random_normal(&random);
    for (int i = 0; i < 2; i++)
        f->vectors[i] = f->memory + i * f->size, f->outputs[i] = f->memory + (2 + i) * f->size;
    f->dashpots = f->memory + 4 * f->size;
    for (int64_t i = 0; i < f->size / 2; i++) f->dashpots[i] = 0.2 * test_random_unit(&random);
    f->damping = f->first;
    f->damping.apply = apply_dashpots;
    f->damping.context = f;
    if (g->kind == DAMPED) f->pair.damping = &f->damping;
    if (!g->solver) return;
    ck_assert_int_eq(tw_shifted_cholesky_create(f->matrix, NULL, NULL, &f->solver, NULL), TW_OK);
    f->pair.shifted = tw_shifted_cholesky_view(f->solver);
}

static void tear_down(fixture *f)
{
    tw_shifted_cholesky_free(f->solver);
    tw_sparse_free(f->matrix);
    free(f->memory);
}

/* Cost of one engine on the case; INFINITY if it has no answer. */
static double cost_with(const grid_case *g, fixture *f, tw_phi_engine engine, tw_phi_engine *used)
{
    tw_phi_limits limits = tw_phi_limits_default();
    limits.size = g->n;
    limits.second_order = g->kind != FIRST;
    limits.options.engine = engine;
    limits.options.tolerance = g->tolerance;
    limits.options.max_products = 200000;
    tw_phi_workspace *workspace = NULL;
    ck_assert_int_eq(tw_phi_workspace_create(&limits, &workspace, NULL), TW_OK);
    double nodes[2] = {0.75, 1.0};
    const double *vectors[2] = {NULL, f->vectors[0]};
    tw_phi_request request = {.time = f->time,
                              .node_count = 2,
                              .nodes = nodes,
                              .order = 1,
                              .vectors = vectors,
                              .outputs = f->outputs};
    tw_phi_statistics statistics = {0};
    if (f->solver) tw_shifted_cholesky_invalidate(f->solver);
    tw_status status =
        g->kind != FIRST
            ? tw_phi_evaluate_second_order(workspace, &f->pair, &request, &statistics, NULL)
            : tw_phi_evaluate(workspace, &f->first, &request, &statistics, NULL);
    tw_phi_workspace_free(workspace);
    *used = statistics.engine;
    return status == TW_OK ? statistics.cost : INFINITY;
}

/* Engines that are not asked: dense beyond the size for which auto reserves its memory; on undamped pairs of large
 * reach the first-order engines, which need twice the products on twice the length. */
static bool is_asked(const grid_case *g, tw_phi_engine engine)
{
    if (engine == TW_PHI_DENSE) return g->n <= 512;
    bool general = engine < TW_PHI_LANCZOS, symmetric = g->kind != FIRST && g->kind != DAMPED;
    return !(general && symmetric && g->reach > 60);
}

static const char *const kinds[] = {"first", "chain", "stiff", "rayleigh", "damped"};

START_TEST(auto_is_within_half_of_the_cheapest)
{
    grid_case grid[MAX_GRID];
    int bad = 0, count = make_grid(grid), chosen_often[TW_PHI_ENGINE_COUNT] = {0};
    ck_assert_int_ge(count, 30);
    for (int i = 0; i < count; i++) {
        const grid_case *g = &grid[i];
        fixture f;
        set_up(g, &f);
        double best = INFINITY;
        tw_phi_engine winner = TW_PHI_ENGINE_COUNT, used;
        for (int e = TW_PHI_DENSE; e < TW_PHI_ENGINE_COUNT; e++) {
            if (!is_asked(g, (tw_phi_engine)e)) continue;
            double cost = cost_with(g, &f, (tw_phi_engine)e, &used);
            if (cost < best) best = cost, winner = (tw_phi_engine)e;
        }
        double chosen = cost_with(g, &f, TW_PHI_AUTO, &used);
        printf(
            "%2d %-8s n %4d reach %6g tol %.0e: best %-16s %.2e, auto %-16s %.2e, ratio %.2f%s\n",
            i, kinds[g->kind], g->n, g->reach, g->tolerance, tw_phi_engine_name(winner), best,
            tw_phi_engine_name(used), chosen, chosen / best, chosen <= 1.5 * best ? "" : "  <--");
        fflush(stdout);
        if (!(chosen <= 1.5 * best)) bad++;
        chosen_often[used]++;
        tear_down(&f);
    }
    ck_assert_msg(bad == 0, "%d of %d cases beyond 1.5", bad, count);
    ck_assert_int_ge(chosen_often[TW_PHI_SHIFT_INVERT],
                     5); /* the grid is one where the choice matters */
    ck_assert_int_ge(chosen_often[TW_PHI_CHEBYSHEV], 5);
}
END_TEST

START_TEST(auto_chooses_alike_every_time)
{
    grid_case grid[MAX_GRID];
    int count = make_grid(grid);
    for (int i = 0; i < count; i += 7) {
        fixture f;
        tw_phi_engine a, b;
        set_up(&grid[i], &f);
        double once = cost_with(&grid[i], &f, TW_PHI_AUTO, &a),
               again = cost_with(&grid[i], &f, TW_PHI_AUTO, &b);
        ck_assert_int_eq(a, b);
        ck_assert(once == again);
        tear_down(&f);
    }
}
END_TEST

enum { TURNS = 11 };

/* A skew matrix with frequencies of about `speed`, the context: with 1e9, rounding alone makes errors
 * of 1e-7 in the phase. */
static tw_status apply_fast_rotation(void *context, int count, const double *in, double *out)
{
    const double speed = *(const double *)context;
    for (int column = 0; column < count; column++, in += TURNS, out += TURNS)
        for (int i = 0; i < TURNS; i++) {
            double left = i > 0 ? speed * i * in[i - 1] : 0;
            double right = i + 1 < TURNS ? speed * (i + 1) * in[i + 1] : 0;
            out[i] = right - left;
        }
    return TW_OK;
}

typedef struct rotation {
    double speed, tolerance;
    int64_t most_products; /* of auto */
} rotation;

static tw_status rotate(const rotation *r, tw_phi_engine engine, double *output,
                        tw_phi_statistics *statistics)
{
    double speed = r->speed;
    static const double node[] = {1};
    double vector[TURNS];
    for (int i = 0; i < TURNS; i++) vector[i] = 1 + i;
    tw_operator op = {
        .space = {.local_size = TURNS}, .context = &speed, .apply = apply_fast_rotation};
    tw_phi_request request = {.time = 1,
                              .node_count = 1,
                              .nodes = node,
                              .order = 0,
                              .vectors = (const double *const[]){vector},
                              .outputs = &output};

    tw_phi_limits limits = tw_phi_limits_default();
    tw_phi_workspace *workspace = NULL;
    limits.size = TURNS;
    limits.second_order = false;
    limits.options.engine = engine;
    limits.options.tolerance = r->tolerance;
    ck_assert_int_eq(tw_phi_workspace_create(&limits, &workspace, NULL), TW_OK);
    tw_status status = tw_phi_evaluate(workspace, &op, &request, statistics, NULL);
    tw_phi_workspace_free(workspace);
    return status;
}

/* Dense has an answer after 11 products, and rounding forbids a better one. The polynomial engines
 * would need 1e9 products, or could spend 1e5 of them in vain: auto must neither do that nor lose
 * the answer. */
START_TEST(auto_keeps_the_answer_that_rounding_limits)
{
    static const rotation rotations[] = {{1e9, 1e-8, 200}, {1e4, 1e-12, 200}};
    for (int k = 0; k < 2; k++) {
        const rotation *r = &rotations[k];
        double dense[TURNS];
        double chosen[TURNS];
        tw_phi_statistics statistics;
        ck_assert_int_eq(rotate(r, TW_PHI_DENSE, dense, &statistics), TW_ILL_CONDITIONED);
        ck_assert_int_eq(rotate(r, TW_PHI_AUTO, chosen, &statistics), TW_ILL_CONDITIONED);
        printf("rotation at %g: %lld products\n", r->speed, (long long)statistics.products);
        ck_assert_int_eq(statistics.engine, TW_PHI_DENSE);
        ck_assert_int_le(statistics.products, r->most_products);
        for (int i = 0; i < TURNS; i++) ck_assert(chosen[i] == dense[i]);
    }
}
END_TEST

/* Products with J from 0 to 1 by adaptive exprb42. */
static double products_with(tw_phi_engine engine, reaction_kind kind, double diffusion)
{
    reaction_diffusion *r = reaction_diffusion_new(kind, 60, diffusion);
    tw_integrator_options options = tw_integrator_options_default();
    tw_integrator *integrator = NULL;
    options.scheme = TW_SCHEME_EXPRB42;
    options.relative_tolerance = 1e-6;
    options.phi.engine = engine;
    ck_assert_int_eq(tw_integrator_create_first_order(&r->problem, &options, &integrator, NULL),
                     TW_OK);
    ck_assert_int_eq(tw_integrator_start(integrator, 0, r->state, NULL), TW_OK);
    ck_assert_int_eq(tw_integrator_advance(integrator, 1, NULL), TW_OK);
    tw_integrator_free(integrator);
    double products = (double)r->products;
    reaction_diffusion_free(r);
    return products;
}

/* Diffusion has a real spectrum, for which a Krylov space needs a fraction of the products of leja.
 * Without knowing that, auto took 4.8 times as many as kiops. */
START_TEST(auto_knows_diffusion)
{
    static const reaction_kind kinds_of[] = {ALLEN_CAHN, BRUSSELATOR};
    static const double diffusion[] = {0.1, 0.02};
    for (int i = 0; i < 2; i++) {
        double chosen = products_with(TW_PHI_AUTO, kinds_of[i], diffusion[i]);
        double kiops = products_with(TW_PHI_KIOPS, kinds_of[i], diffusion[i]);
        double leja = products_with(TW_PHI_LEJA, kinds_of[i], diffusion[i]);
        printf("diffusion %d: auto %g, kiops %g, leja %g products\n", i, chosen, kiops, leja);
        ck_assert(chosen <= 1.5 * fmin(kiops, leja));
        ck_assert(leja > 2 * kiops);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("auto");
    TCase *cases = tcase_create("auto");
    tcase_set_timeout(cases, 120);
    tcase_add_test(cases, auto_is_within_half_of_the_cheapest);
    tcase_add_test(cases, auto_chooses_alike_every_time);
    tcase_add_test(cases, auto_knows_diffusion);
    tcase_add_test(cases, auto_keeps_the_answer_that_rounding_limits);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
