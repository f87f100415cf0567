#include "integrators/part_newton.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/parallel_for.h"
#include "integrators/implicit_internal.h"
#include "linalg/batch_cholesky.h"
#include "linalg/components.h"
#include "linalg/vector.h"

enum {
    PARTS_PER_JOB = 32,    /* parts that a thread takes at a time */
    PLAIN_ITERATIONS = 10, /* after so many a part begins again, with a line search */
    MOST_HALVINGS = 30     /* of a correction in the line search */
};

/* One part of the unknowns. */
typedef struct part {
    double way;         /* |x - x_star| in the mass norm */
    double position;    /* |x| */
    double reach;       /* the displacement beside which corrections count */
    double size;        /* |dx| */
    double contraction; /* that over the one before */
    double slope;       /* <residual, dx>_M, with which the energy falls along dx */
    double share;       /* of dx that is taken */
    int iterations;
    bool active;   /* it has not arrived */
    bool clipped;  /* compressed elements count as slack in its matrix */
    bool searches; /* along each correction */
    bool is_new;   /* it begins again in this iteration */
} part;

struct tw_part_newton {
    tw_components rows;     /* block rows of each part */
    int64_t *element_start; /* rows.count + 1: where the elements of each part begin */
    int32_t *element;       /* elements with a tension, part by part */
    part *list;
    int64_t left;          /* active parts */
    unsigned char *active; /* of each block row */
    unsigned char *failed; /* of each block row: its matrix is not definite */
    bool mixed;            /* parts that arrived early have matrices of another rule */
};

void tw_part_newton_free(tw_part_newton *parts)
{
    if (!parts) return;
    tw_components_free(&parts->rows);
    tw_release(parts->element_start);
    tw_release(parts->element);
    tw_release(parts->list);
    tw_release(parts->active);
    tw_release(parts->failed);
    tw_release(parts);
}

bool tw_part_newton_is_exact(const tw_part_newton *parts)
{
    return !parts || !parts->mixed;
}

/* ---- finding the parts ---- */

/* Whether the parts of this problem may iterate by themselves, and are worth it. */
static bool is_suitable(const tw_implicit *implicit)
{
    const tw_system *system = implicit->system;
    const tw_second_order_problem *problem = &system->second;
    if (!system->second_order || !problem->focus || implicit->solver != TW_LINEAR_CHOLESKY)
        return false;
    if (!problem->lumped_mass || !problem->assemble || system->second.space.reduce) return false;
    if (problem->tension.count > 0 && !problem->tension.row) return false;
    if (!tw_shifted_cholesky_batches(system->shifted)) return false;
    return tw_stage_matrix_cost(implicit->matrix) < tw_newton_cheap_factor;
}

/* Sorts the elements by their parts. Elements that act on no unknown are left out. */
static void sort_elements(tw_part_newton *parts, int64_t count, const int32_t *row,
                          const int32_t *part_of)
{
    int64_t *start = parts->element_start;
    for (int64_t e = 0; e < count; e++)
        if (row[e] >= 0) start[part_of[row[e]] + 1]++;
    for (int64_t p = 0; p < parts->rows.count; p++) start[p + 1] += start[p];

    /* start[p] runs to the end of part p, which is where the next one begins. */
    for (int64_t e = 0; e < count; e++)
        if (row[e] >= 0) parts->element[start[part_of[row[e]]]++] = (int32_t)e;
    for (int64_t p = parts->rows.count; p > 0; p--) start[p] = start[p - 1];
    start[0] = 0;
}

static tw_status fill_parts(tw_part_newton *parts, const tw_second_order_problem *problem)
{
    TW_TRY(tw_components_find(problem->stiffness_matrix, &parts->rows));
    int64_t count = parts->rows.count;
    int64_t block_rows = parts->rows.start[count];
    parts->element_start = tw_allocate_zeroed((size_t)count + 1, sizeof(int64_t));
    parts->element = TW_NEW_ARRAY(problem->tension.count + 1, int32_t);
    parts->list = TW_NEW_ARRAY(count, part);
    parts->active = TW_NEW_ARRAY(block_rows, unsigned char);
    parts->failed = TW_NEW_ARRAY(block_rows, unsigned char);
    int32_t *part_of = TW_NEW_ARRAY(block_rows, int32_t);
    bool good = parts->element_start && parts->element && parts->list && parts->active &&
                parts->failed && part_of;

    if (good) {
        for (int64_t p = 0; p < count; p++)
            for (int64_t r = parts->rows.start[p]; r < parts->rows.start[p + 1]; r++)
                part_of[parts->rows.row[r]] = (int32_t)p;
        sort_elements(parts, problem->tension.count, problem->tension.row, part_of);
    }
    tw_release(part_of);
    return good ? TW_OK : TW_OUT_OF_MEMORY;
}

tw_status tw_part_newton_find(tw_implicit *implicit)
{
    if (implicit->parts_pattern == implicit->system->pattern) return TW_OK;
    tw_part_newton_free(implicit->parts);
    implicit->parts = NULL;
    implicit->parts_pattern = implicit->system->pattern;
    if (!is_suitable(implicit)) return TW_OK;

    tw_part_newton *parts = TW_NEW(tw_part_newton);
    if (!parts) return TW_OUT_OF_MEMORY;

    tw_status status = fill_parts(parts, &implicit->system->second);
    if (status == TW_OK)
        implicit->parts = parts;
    else
        tw_part_newton_free(parts);
    return status;
}

/* ---- loops over parts ---- */

/* What the functions of the loops share. */
typedef struct job {
    tw_implicit *implicit;
    const tw_stage *stage;
    const double *tension; /* of the elements, for the matrix */
    double tolerance;
    double g, divisor;           /* Newton's matrix is divisor (M + g K) */
    const unsigned char *active; /* rows in focus; NULL: all */
} job;

typedef void part_function(const job *j, int64_t p, part *it);

typedef struct part_loop {
    const job *j;
    part_function *function;
} part_loop;

static void part_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const part_loop *loop = context;
    part *list = loop->j->implicit->parts->list;
    for (int64_t p = begin; p < end; p++)
        if (list[p].active) loop->function(loop->j, p, &list[p]);
}

/* Calls the function for every active part. Parts share nothing, so threads change no result. */
static void for_each(const job *j, part_function *function)
{
    part_loop loop = {j, function};
    tw_parallel_for(j->implicit->parts->rows.count, PARTS_PER_JOB, part_block, &loop);
}

/* The block rows of a part: from *row on, as many as returned. */
static int64_t rows_of(const tw_part_newton *parts, int64_t p, const int32_t **row)
{
    *row = parts->rows.row + parts->rows.start[p];
    return parts->rows.start[p + 1] - parts->rows.start[p];
}

/* <x, y>_M of one part. */
static double part_dot(const tw_implicit *implicit, int64_t p, const double *x, const double *y)
{
    const int32_t *row = NULL;
    int64_t count = rows_of(implicit->parts, p, &row);
    const double *mass = implicit->system->second.lumped_mass;
    double sum = 0;

    for (int64_t r = 0; r < count; r++)
        for (int64_t i = 3 * (int64_t)row[r]; i < 3 * (int64_t)row[r] + 3; i++)
            sum += mass[i] * x[i] * y[i];
    return sum;
}

/* y += a x on one part. */
static void part_axpy(const tw_implicit *implicit, int64_t p, double a, const double *x, double *y)
{
    const int32_t *row = NULL;
    int64_t count = rows_of(implicit->parts, p, &row);
    for (int64_t r = 0; r < count; r++)
        for (int64_t i = 3 * (int64_t)row[r]; i < 3 * (int64_t)row[r] + 3; i++) y[i] += a * x[i];
}

/* y = x on one part. */
static void part_copy(const tw_implicit *implicit, int64_t p, const double *x, double *y)
{
    const int32_t *row = NULL;
    int64_t count = rows_of(implicit->parts, p, &row);
    for (int64_t r = 0; r < count; r++)
        memcpy(y + 3 * (int64_t)row[r], x + 3 * (int64_t)row[r], 3 * sizeof *y);
}

/* ---- which parts are left ---- */

/* Tells the problem and the factor which rows are active; NULL: all. */
static void focus(tw_implicit *implicit, const unsigned char *active)
{
    const tw_second_order_problem *problem = &implicit->system->second;
    problem->focus(problem->context, active);
    tw_batch_cholesky_focus(tw_shifted_cholesky_batches(implicit->system->shifted), active);
}

static void activate_all(tw_part_newton *parts)
{
    parts->left = parts->rows.count;
    parts->mixed = false;
    memset(parts->active, 1, (size_t)parts->rows.start[parts->rows.count]);
    for (int64_t p = 0; p < parts->rows.count; p++)
        parts->list[p] = (part){.size = INFINITY, .share = 1, .active = true};
}

/* mark[r] = value for the block rows r of a part. */
static void mark_rows(const tw_part_newton *parts, int64_t p, unsigned char *mark,
                      unsigned char value)
{
    const int32_t *row = NULL;
    int64_t count = rows_of(parts, p, &row);
    for (int64_t r = 0; r < count; r++) mark[row[r]] = value;
}

/* A part that has arrived rests. */
static void rest(tw_part_newton *parts, int64_t p)
{
    parts->list[p].active = false;
    parts->left--;
    mark_rows(parts, p, parts->active, 0);
}

/* ---- the matrix ---- */

/* Remembers where the matrix of a part is made. */
static void record_part(const job *j, int64_t p, part *it)
{
    tw_implicit *implicit = j->implicit;
    const tw_part_newton *parts = implicit->parts;
    int64_t n = implicit->system->n;
    part_copy(implicit, p, j->stage->x, implicit->linear_u);
    part_copy(implicit, p, implicit->v, implicit->linear_u + n);

    for (int64_t i = parts->element_start[p]; i < parts->element_start[p + 1]; i++) {
        int32_t e = parts->element[i];
        double tension = j->tension[e];
        implicit->linear_tension[e] = it->clipped && tension < 0 ? 0 : tension;
    }
}

/* Clips the parts whose matrix is not definite, and leaves their rows in `failed`. Returns whether one
 * was not clipped before. */
static bool clip_failed(tw_implicit *implicit)
{
    tw_part_newton *parts = implicit->parts;
    bool news = false;

    tw_batch_cholesky_mark_failed(tw_shifted_cholesky_batches(implicit->system->shifted),
                                  parts->failed);
    for (int64_t p = 0; p < parts->rows.count; p++) {
        part *it = &parts->list[p];
        bool failed = it->active && parts->failed[parts->rows.row[parts->rows.start[p]]];
        if (failed && !it->clipped) {
            it->clipped = true;
            news = true;
        }
        if (!it->active) mark_rows(parts, p, parts->failed, 0);
    }
    return news && implicit->tension_count > 0;
}

/* Makes the matrices of the active parts. Where one is not definite, compressed elements of this
 * part count as slack across their line. Where that is not enough, those of all active parts do, and
 * contacts as well; and at last the mass is raised. */
static tw_status prepare(const job *j)
{
    tw_implicit *implicit = j->implicit;
    *implicit->linear = (tw_linear_record){
        .t = j->stage->t, .g = j->g, .damping = tw_implicit_damping_of(implicit, j->stage)};
    for_each(j, record_part);
    tw_status status = tw_implicit_prepare_record(implicit);

    /* The matrices of the others are good. */
    if (status == TW_NOT_POSITIVE_DEFINITE && clip_failed(implicit)) {
        for_each(j, record_part);
        focus(implicit, implicit->parts->failed);
        status = tw_implicit_prepare_record(implicit);
        focus(implicit, j->active);
    }
    if (status != TW_NOT_POSITIVE_DEFINITE) return status;

    /* Matrices of parts that have arrived stay as they are: then two rules are mixed. */
    implicit->parts->mixed = true;
    implicit->linear->clipped = implicit->tension_count > 0;
    status = tw_implicit_prepare_record(implicit);
    if (status != TW_NOT_POSITIVE_DEFINITE) return status;
    implicit->linear->raised = 1;
    return tw_implicit_prepare_record(implicit);
}

tw_status tw_part_newton_renew(tw_implicit *implicit, const tw_stage *stage)
{
    job j = {.implicit = implicit, .stage = stage, .tension = implicit->tension};
    j.g = tw_implicit_shift_of(implicit, stage, &j.divisor);
    activate_all(implicit->parts);
    focus(implicit, NULL);
    tw_status status = prepare(&j);

    /* All parts are active, so that one rule holds for all. A raised mass is none for functions. */
    implicit->parts->mixed = false;
    if (status != TW_OK || implicit->linear->raised == 0) return status;

    enum { MAX_TRIALS = 20 };
    implicit->linear->raised = 0;
    status = TW_NOT_POSITIVE_DEFINITE;
    for (int i = 0; i < MAX_TRIALS && status == TW_NOT_POSITIVE_DEFINITE; i++) {
        implicit->linear->g /= 4;
        status = tw_stage_matrix_prepare(implicit->matrix, implicit->linear->g);
    }
    return status;
}

/* ---- one iteration ---- */

static void measure_part(const job *j, int64_t p, part *it)
{
    const tw_implicit *implicit = j->implicit;
    double before = it->size;

    it->way = sqrt(part_dot(implicit, p, implicit->way, implicit->way));
    it->position = sqrt(part_dot(implicit, p, j->stage->x, j->stage->x));
    it->slope = part_dot(implicit, p, implicit->residual, implicit->correction);
    it->size = sqrt(part_dot(implicit, p, implicit->correction, implicit->correction));
    it->contraction = it->size / before;

    /* No element of the part turns by more than largest_turn. */
    const tw_part_newton *parts = implicit->parts;
    double turn = 0;
    for (int64_t i = parts->element_start[p]; i < parts->element_start[p + 1]; i++)
        turn = fmax(turn, implicit->turn[parts->element[i]]);
    it->share = turn > tw_newton_largest_turn ? tw_newton_largest_turn / turn : 1;
}

/* Corrections of a part count beside its own way and beside the mean of all parts:
 *     reach_p^2 = (way_p^2 + displacement^2 / parts) / 2,
 * whose sum over the parts is that of one iteration over all unknowns. */
static void set_reach(const job *j)
{
    tw_part_newton *parts = j->implicit->parts;
    double square = 0;
    for (int64_t p = 0; p < parts->rows.count; p++)
        square += parts->list[p].way * parts->list[p].way;
    double displacement = j->stage->scale + sqrt(square);
    double mean = displacement * displacement / (double)parts->rows.count;

    for (int64_t p = 0; p < parts->rows.count; p++) {
        part *it = &parts->list[p];
        it->reach = sqrt((it->way * it->way + mean) / 2);
    }
}

/* Whether what the correction leaves behind is small: its size, or its size times c / (1 - c), c the
 * contraction. */
static bool is_last(const job *j, const part *it)
{
    double enough = fmax(j->tolerance * it->reach, 8 * DBL_EPSILON * it->position);
    double c = it->contraction;
    bool fast = c > 0 && c < 0.5 && it->size * c / (1 - c) <= tw_newton_left_share * enough;
    return it->share == 1 && (it->size <= enough || fast);
}

/* tension += share (predicted - tension), way += share dx, x with it. */
static void move_part(const job *j, int64_t p, part *it)
{
    tw_implicit *implicit = j->implicit;
    const tw_part_newton *parts = implicit->parts;
    part_copy(implicit, p, implicit->way, implicit->trial_way);
    part_axpy(implicit, p, it->share, implicit->correction, implicit->way);
    part_copy(implicit, p, j->stage->x_star, j->stage->x);
    part_axpy(implicit, p, 1, implicit->way, j->stage->x);

    for (int64_t i = parts->element_start[p]; i < parts->element_start[p + 1]; i++) {
        int32_t e = parts->element[i];
        implicit->iterate[e] += it->share * (implicit->predicted[e] - implicit->iterate[e]);
    }
}

/* A part that does not arrive begins again from the first guess, searches along each correction,
 * and has a definite matrix. */
static void begin_again(const job *j, int64_t p, part *it)
{
    tw_implicit *implicit = j->implicit;
    const tw_part_newton *parts = implicit->parts;
    *it = (part){.way = it->way, .size = INFINITY, .share = 1, .active = true};
    it->iterations = PLAIN_ITERATIONS;
    it->searches = true;
    it->clipped = true;
    it->is_new = true;

    part_copy(implicit, p, implicit->first_guess, j->stage->x);
    part_copy(implicit, p, implicit->first_guess, implicit->way);
    part_axpy(implicit, p, -1, j->stage->x_star, implicit->way);

    for (int64_t i = parts->element_start[p]; i < parts->element_start[p + 1]; i++)
        implicit->iterate[parts->element[i]] = implicit->tension[parts->element[i]];
}

static void take_correction(const job *j, int64_t p, part *it)
{
    it->iterations++;
    it->is_new = false;

    if (it->iterations == PLAIN_ITERATIONS && !is_last(j, it)) {
        begin_again(j, p, it);
        return;
    }

    /* A clipped matrix that contracts badly gives way to the exact one. */
    if (!it->searches && it->contraction > tw_newton_slowest_contraction) it->clipped = false;
    move_part(j, p, it);
}

/* Halves the correction of a part. */
static void halve(const job *j, int64_t p, part *it)
{
    tw_implicit *implicit = j->implicit;
    it->share /= 2;
    part_copy(implicit, p, implicit->trial_way, implicit->way);
    part_axpy(implicit, p, it->share, implicit->correction, implicit->way);
    part_copy(implicit, p, j->stage->x_star, j->stage->x);
    part_axpy(implicit, p, 1, implicit->way, j->stage->x);
}

/* Halves the correction if it passes the lowest point of its line too far. */
static void halve_if_too_long(const job *j, int64_t p, part *it)
{
    if (!it->searches || it->is_new) return;
    double after = part_dot(j->implicit, p, j->implicit->residual, j->implicit->correction);
    if (!(after >= -tw_newton_largest_rise * it->slope)) halve(j, p, it);
}

static void halve_old(const job *j, int64_t p, part *it)
{
    if (!it->is_new) halve(j, p, it);
}

/* v = v_star + sigma way, the velocity that belongs to x. */
static void set_velocity(const job *j, int64_t p, part *it)
{
    (void)it;
    if (!j->stage->v_star) return;
    part_copy(j->implicit, p, j->stage->v_star, j->implicit->v);
    part_axpy(j->implicit, p, j->stage->sigma, j->implicit->way, j->implicit->v);
}

/* residual = gamma a - way. */
static void set_residual(const job *j, int64_t p, part *it)
{
    (void)it;
    const tw_implicit *implicit = j->implicit;
    const int32_t *row = NULL;
    int64_t count = rows_of(implicit->parts, p, &row);
    for (int64_t r = 0; r < count; r++)
        for (int64_t i = 3 * (int64_t)row[r]; i < 3 * (int64_t)row[r] + 3; i++)
            implicit->residual[i] = j->stage->gamma * implicit->a[i] - implicit->way[i];
}

/* The residual of the active parts. */
static tw_status evaluate(const job *j)
{
    tw_implicit *implicit = j->implicit;
    for_each(j, set_velocity);
    TW_TRY(tw_system_acceleration(implicit->system, j->stage->t, j->stage->x, implicit->v,
                                  implicit->a));
    for_each(j, set_residual);
    return TW_OK;
}

/* The residual behind the corrections. Parts that search shorten theirs until they do not overshoot;
 * all parts do where the force is not defined. */
static tw_status search(const job *j)
{
    tw_implicit *implicit = j->implicit;
    tw_part_newton *parts = implicit->parts;
    tw_status status = TW_OK;
    for (int halving = 0; halving <= MOST_HALVINGS; halving++) {
        status = evaluate(j);
        bool undefined = status == TW_NOT_FINITE || status == TW_RECOVERABLE;
        if (status != TW_OK && !undefined) return status;

        /* The sum of the shares tells whether one was halved. */
        double before = 0;
        double after = 0;
        for (int64_t p = 0; p < parts->rows.count; p++) before += parts->list[p].share;
        for_each(j, undefined ? halve_old : halve_if_too_long);
        for (int64_t p = 0; p < parts->rows.count; p++) after += parts->list[p].share;
        if (after == before) return status;
    }
    return evaluate(j);
}

/* force = M residual / divisor. */
static void weigh_part(const job *j, int64_t p, part *it)
{
    (void)it;
    const tw_implicit *implicit = j->implicit;
    const double *mass = implicit->system->second.lumped_mass;
    const int32_t *row = NULL;
    int64_t count = rows_of(implicit->parts, p, &row);
    for (int64_t r = 0; r < count; r++)
        for (int64_t i = 3 * (int64_t)row[r]; i < 3 * (int64_t)row[r] + 3; i++)
            implicit->force[i] = mass[i] * implicit->residual[i] / j->divisor;
}

/* correction = (M + g K)^-1 M residual / divisor, and what it does to the tensions. */
static tw_status find_correction(const job *j)
{
    tw_implicit *implicit = j->implicit;
    tw_system *system = implicit->system;
    const tw_second_order_problem *problem = &system->second;
    for_each(j, weigh_part);
    TW_TRY(tw_stage_matrix_solve(implicit->matrix, 0, implicit->force, implicit->correction));
    system->counts->newton_iterations++;

    if (implicit->tension_count == 0) return TW_OK;
    return problem->tension.predict(problem->context, j->stage->t, j->stage->x, implicit->v,
                                    implicit->correction, j->stage->sigma, implicit->predicted,
                                    implicit->turn);
}

static tw_status iterate(const job *j)
{
    tw_implicit *implicit = j->implicit;
    tw_part_newton *parts = implicit->parts;
    TW_TRY(prepare(j));
    TW_TRY(find_correction(j));

    for_each(j, measure_part);
    set_reach(j);
    for_each(j, take_correction);

    /* Parts whose correction was small enough spare the residual behind it. */
    for (int64_t p = 0; p < parts->rows.count; p++)
        if (parts->list[p].active && !parts->list[p].is_new && is_last(j, &parts->list[p]))
            rest(parts, p);
    if (parts->left == 0) return TW_OK;
    return search(j);
}

/* Whether all parts that are left are close to a solution. */
static bool stall_nearby(const job *j)
{
    const tw_part_newton *parts = j->implicit->parts;
    for (int64_t p = 0; p < parts->rows.count; p++) {
        const part *it = &parts->list[p];
        if (it->active && !(it->size <= j->stage->stalled_tolerance * it->reach)) return false;
    }
    return true;
}

tw_status tw_part_newton_solve(tw_implicit *implicit, const tw_stage *stage,
                               tw_stage_result *result)
{
    int64_t n = implicit->system->n;
    tw_part_newton *parts = implicit->parts;
    job j = {.implicit = implicit,
             .stage = stage,
             .tension = implicit->iterate,
             .tolerance = stage->tolerance,
             .active = parts->active};
    j.g = tw_implicit_shift_of(implicit, stage, &j.divisor);
    activate_all(parts);

    /* The residual of the guess. */
    tw_vector_copy(implicit->tension_count, implicit->tension, implicit->iterate);
    tw_vector_copy(n, stage->x, implicit->way);
    tw_vector_axpy(n, -1.0, stage->x_star, implicit->way);
    tw_status status = tw_implicit_evaluate(implicit, stage, stage->x, implicit->way);

    int most = PLAIN_ITERATIONS + 4 * stage->max_iterations;
    focus(implicit, parts->active);

    while (status == TW_OK && parts->left > 0 && result->iterations < most) {
        status = iterate(&j);
        result->iterations++;
    }
    focus(implicit, NULL);
    if (status != TW_OK) return status;

    if (parts->left > 0 && !stall_nearby(&j)) return TW_NOT_CONVERGED;
    if (parts->left > 0) implicit->system->counts->stalled_stages++;
    tw_vector_copy(implicit->tension_count, implicit->iterate, implicit->tension);
    return TW_OK;
}
