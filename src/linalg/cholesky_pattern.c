/* The triangle that is factorised: which entries it has, and where their values come from. */
#include <limits.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/parallel_for.h"
#include "linalg/cholesky_internal.h"
#include "linalg/sparse_internal.h"

/* Entries per block of a gather: some tens of microseconds of work. */
enum { GATHER_BLOCK = 4096 };

/* Runs along one row of a sparse matrix, from the diagonal to the right. Rows and columns are
 * counted in granules of one unknown, or of three. */
typedef struct row_cursor {
    const tw_sparse *matrix; /* NULL: an empty row */
    int64_t per_block;       /* granules across a stored block: 1 or 3 */
    int64_t inside;          /* row within the block */
    int64_t p;               /* stored block it stands on */
    int64_t end;             /* end of the stored blocks of the row */
    int64_t c;               /* column within the block */
} row_cursor;

/* The column it stands on, INT64_MAX behind the last one. */
static int64_t cursor_column(const row_cursor *cursor)
{
    if (cursor->p >= cursor->end) return INT64_MAX;
    return cursor->matrix->column[cursor->p] * cursor->per_block + cursor->c;
}

static void cursor_advance(row_cursor *cursor)
{
    if (++cursor->c < cursor->per_block) return;
    cursor->c = 0;
    cursor->p++;
}

static row_cursor cursor_at(const tw_sparse *matrix, int granule, int64_t row)
{
    row_cursor cursor = {.matrix = matrix};
    if (!matrix) return cursor;

    cursor.per_block = matrix->block / granule;
    cursor.inside = row % cursor.per_block;
    cursor.p = matrix->row_start[row / cursor.per_block];
    cursor.end = matrix->row_start[row / cursor.per_block + 1];

    /* Full storage has entries left of the diagonal, and so has a block on it. */
    while (cursor_column(&cursor) < row) cursor_advance(&cursor);
    return cursor;
}

/* If the cursor stands on `column`: returns the index of its value (granule 1) and moves on.
 * Otherwise returns TW_NOWHERE. */
static uint32_t cursor_take(row_cursor *cursor, int64_t column)
{
    if (cursor_column(cursor) != column) return TW_NOWHERE;

    const int64_t block = cursor->matrix->block;
    int64_t index = (cursor->p * block + cursor->c) * block + cursor->inside;
    cursor_advance(cursor);
    return (uint32_t)index;
}

/* Walks along one row of both matrices together, entry by entry; the diagonal always is
 * an entry. */
typedef struct union_walk {
    row_cursor stiffness;
    row_cursor mass;
    int64_t row;
    int64_t column;          /* of the entry that the walk stands on; -1 before the first */
    uint32_t from_stiffness; /* where the values of the entry stand, or TW_NOWHERE */
    uint32_t from_mass;
} union_walk;

static union_walk walk_row(const tw_matrix_pair *pair, int granule, int64_t row)
{
    return (union_walk){.stiffness = cursor_at(pair->stiffness, granule, row),
                        .mass = cursor_at(pair->mass, granule, row),
                        .row = row,
                        .column = -1};
}

/* Moves to the next entry: first the diagonal, then whichever matrix has the smaller column. */
static bool walk_next(union_walk *walk)
{
    int64_t stiffness = cursor_column(&walk->stiffness);
    int64_t mass = cursor_column(&walk->mass);
    int64_t next = stiffness < mass ? stiffness : mass;
    if (walk->column < 0) next = walk->row;
    if (next == INT64_MAX) return false;

    walk->column = next;
    walk->from_stiffness = cursor_take(&walk->stiffness, next);
    walk->from_mass = cursor_take(&walk->mass, next);
    return true;
}

int tw_matrix_pair_granule(const tw_matrix_pair *pair)
{
    bool blocks = pair->stiffness->block == 3 && (!pair->mass || pair->mass->block == 3);
    return blocks ? 3 : 1;
}

/* counts -> starts; `start` holds the count of column k at k + 1. */
static void accumulate(int n, int *start)
{
    for (int k = 0; k < n; k++) start[k + 1] += start[k];
}

/* Allocates the index arrays for the pair's union; the entries are counted, not placed. */
static tw_status allocate_triangle(const tw_matrix_pair *pair, int granule, tw_triangle *triangle)
{
    int64_t n = tw_sparse_size(pair->stiffness) / granule;
    *triangle = (tw_triangle){0};
    if (n > INT_MAX - 1) return TW_UNSUPPORTED;

    /* CHOLMOD's indices are of type int: the entries must be countable in one. */
    int64_t entries = 0;
    for (int64_t row = 0; row < n; row++)
        for (union_walk walk = walk_row(pair, granule, row); walk_next(&walk);) entries++;
    if (entries > INT_MAX) return TW_UNSUPPORTED;

    triangle->n = (int)n;
    triangle->entries = (int)entries;
    triangle->start = tw_allocate_zeroed((size_t)n + 1, sizeof(int));
    triangle->row = TW_NEW_ARRAY(entries, int);
    return triangle->start && triangle->row ? TW_OK : TW_OUT_OF_MEMORY;
}

tw_status tw_triangle_create(const tw_matrix_pair *pair, int granule, tw_triangle *triangle)
{
    TW_TRY(allocate_triangle(pair, granule, triangle));

    /* By symmetry the entries of row k right of the diagonal are those of column k below it. */
    int entries = 0;
    for (int k = 0; k < triangle->n; k++) {
        for (union_walk walk = walk_row(pair, granule, k); walk_next(&walk);)
            triangle->row[entries++] = (int)walk.column;
        triangle->start[k + 1] = entries;
    }
    return TW_OK;
}

void tw_triangle_free(tw_triangle *triangle)
{
    tw_release(triangle->start);
    tw_release(triangle->row);
    *triangle = (tw_triangle){0};
}

/* Where entry (row, column) of the pair goes. */
typedef struct place {
    int row;
    int column;
} place;

/* The entry or its mirror image, whichever lies in the triangle that is stored. */
static place permuted_place(const int *position, bool lower, int64_t row, int64_t column)
{
    int a = position[row];
    int b = position[column];
    bool is_lower = a > b;
    if (a == b || is_lower == lower) return (place){a, b};
    return (place){b, a};
}

/* Fills the permuted triangle: first counts the entries of each column, then puts them there. */
static void place_entries(const tw_matrix_pair *pair, const int *position, bool lower,
                          tw_permuted *permuted, int *next)
{
    tw_triangle *triangle = &permuted->triangle;

    /* How many entries each column gets. */
    for (int row = 0; row < triangle->n; row++)
        for (union_walk walk = walk_row(pair, 1, row); walk_next(&walk);)
            triangle->start[permuted_place(position, lower, row, walk.column).column + 1]++;
    accumulate(triangle->n, triangle->start);
    memcpy(next, triangle->start, (size_t)triangle->n * sizeof *next);

    /* Where each entry goes, and where its values come from. */
    for (int row = 0; row < triangle->n; row++)
        for (union_walk walk = walk_row(pair, 1, row); walk_next(&walk);) {
            place to = permuted_place(position, lower, row, walk.column);
            int entry = next[to.column]++;
            triangle->row[entry] = to.row;
            permuted->from_stiffness[entry] = walk.from_stiffness;
            if (permuted->from_mass) permuted->from_mass[entry] = walk.from_mass;
            if (walk.column == row) permuted->diagonal[row] = entry;
        }
}

/* Whether the index of every value (at most nine per block) fits into 32 bits. */
static bool values_addressable(const tw_sparse *matrix)
{
    int64_t blocks = matrix ? matrix->row_start[matrix->block_rows] : 0;
    return blocks < (int64_t)TW_NOWHERE / 9;
}

tw_status tw_permuted_create(const tw_matrix_pair *pair, const int *order, bool lower,
                             tw_permuted *permuted)
{
    *permuted = (tw_permuted){0};
    if (!values_addressable(pair->stiffness) || !values_addressable(pair->mass))
        return TW_UNSUPPORTED;
    TW_TRY(allocate_triangle(pair, 1, &permuted->triangle));

    const int n = permuted->triangle.n;
    const int entries = permuted->triangle.entries;
    permuted->values = TW_NEW_ARRAY(entries, double);
    permuted->from_stiffness = TW_NEW_ARRAY(entries, uint32_t);
    permuted->from_mass = pair->mass ? TW_NEW_ARRAY(entries, uint32_t) : NULL;
    permuted->diagonal = TW_NEW_ARRAY(n, int);
    int *position = TW_NEW_ARRAY(n, int);
    int *next = TW_NEW_ARRAY(n, int);
    bool good = permuted->values && permuted->from_stiffness && permuted->diagonal &&
                (permuted->from_mass || !pair->mass) && position && next;

    /* position is the inverse of order. */
    if (good) {
        for (int k = 0; k < n; k++) position[order[k]] = k;
        place_entries(pair, position, lower, permuted, next);
    }
    tw_release(position);
    tw_release(next);
    return good ? TW_OK : TW_OUT_OF_MEMORY;
}

void tw_permuted_free(tw_permuted *permuted)
{
    tw_triangle_free(&permuted->triangle);
    tw_release(permuted->values);
    tw_release(permuted->from_stiffness);
    tw_release(permuted->from_mass);
    tw_release(permuted->diagonal);
    *permuted = (tw_permuted){0};
}

/* values[e] = factor * source[from[e]] for the entries that the source has. */
typedef struct gather_job {
    const uint32_t *from;
    const double *source;
    double factor;
    double *values;
} gather_job;

static void set_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const gather_job *job = context;
    for (int64_t e = begin; e < end; e++)
        job->values[e] = job->from[e] == TW_NOWHERE ? 0.0 : job->factor * job->source[job->from[e]];
}

static void add_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const gather_job *job = context;
    for (int64_t e = begin; e < end; e++)
        if (job->from[e] != TW_NOWHERE) job->values[e] += job->factor * job->source[job->from[e]];
}

void tw_permuted_gather(const tw_matrix_pair *pair, tw_permuted *permuted, double mass_factor,
                        const double *lumped_mass, double stiffness_factor)
{
    /* values = b K */
    gather_job stiffness = {permuted->from_stiffness, pair->stiffness->values, stiffness_factor,
                            permuted->values};
    tw_parallel_for(permuted->triangle.entries, GATHER_BLOCK, set_block, &stiffness);

    /* values += a M */
    if (pair->mass) {
        gather_job mass = {permuted->from_mass, pair->mass->values, mass_factor, permuted->values};
        tw_parallel_for(permuted->triangle.entries, GATHER_BLOCK, add_block, &mass);
        return;
    }

    for (int row = 0; row < permuted->triangle.n; row++)
        permuted->values[permuted->diagonal[row]] +=
            mass_factor * (lumped_mass ? lumped_mass[row] : 1.0);
}
