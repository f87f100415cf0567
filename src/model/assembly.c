/* Gathering the dense tangents of elements into one sparse matrix. */
#include "model/assembly.h"

#include "base/allocate.h"
#include "base/parallel_for.h"
#include "linalg/vector.h"

static int64_t element_start(const tw_element_list *list, int64_t e)
{
    if (list->start) return list->start[e];
    return e * list->nodes;
}

int64_t tw_element_list_blocks(const tw_element_list *list)
{
    int64_t sum = 0;
    for (int64_t e = 0; e < list->count; e++) {
        /* An element with n particles has n (n + 1) / 2 blocks in its upper triangle. */
        int64_t n = element_start(list, e + 1) - element_start(list, e);
        sum += n * (n + 1) / 2;
    }
    return sum;
}

/* Called for every block of every element whose particles are both free: a and b are their
 * unknowns, and the block is number `block` of all elements. */
typedef void visit_block(void *context, int32_t a, int32_t b, int64_t block);

static void visit_blocks(const tw_particles *particles, const tw_element_list *list,
                         visit_block *visit, void *context)
{
    int64_t block = 0;

    /* The blocks are numbered in the order (0,0) (0,1) ... (1,1) ... of each element. */
    for (int64_t e = 0; e < list->count; e++) {
        int64_t begin = element_start(list, e);
        int64_t end = element_start(list, e + 1);
        for (int64_t i = begin; i < end; i++)
            for (int64_t j = i; j < end; j++, block++) {
                int32_t a = particles->unknown[list->particle[i]];
                int32_t b = particles->unknown[list->particle[j]];
                if (a >= 0 && b >= 0) visit(context, a, b, block);
            }
    }
}

static void visit_pattern(void *context, int32_t a, int32_t b, int64_t block)
{
    (void)block;
    tw_pattern_add(context, a, b);
}

/* Index of the stored block of the unknowns a and b. */
static int64_t stored_block(const tw_assembly *assembly, int32_t a, int32_t b)
{
    return tw_pattern_find(assembly->matrix, a, b);
}

static void visit_count(void *context, int32_t a, int32_t b, int64_t block)
{
    (void)block;
    tw_assembly *assembly = context;
    assembly->start[stored_block(assembly, a, b)]++;
}

/* The lowest bit of a source says that the block is to be transposed. */
static void visit_fill(void *context, int32_t a, int32_t b, int64_t block)
{
    tw_assembly *assembly = context;
    assembly->source[assembly->start[stored_block(assembly, a, b)]++] =
        (uint32_t)(2 * block + (a > b));
}

static int64_t stored_blocks(const tw_assembly *assembly)
{
    return tw_sparse_row_start(assembly->matrix)[assembly->particles->free_count];
}

/* Sorts the blocks of the elements by the stored block to which they belong (counting sort). */
static tw_status list_sources(tw_assembly *assembly, const tw_element_list *list)
{
    int64_t blocks = stored_blocks(assembly);
    assembly->start = tw_allocate_zeroed((size_t)blocks + 1, sizeof(int64_t));
    assembly->target = TW_NEW_ARRAY(blocks, int64_t);
    assembly->product = TW_NEW_ARRAY(TW_MAX_BLOCK * tw_sparse_size(assembly->matrix), double);
    if (!assembly->start || !assembly->target || !assembly->product) return TW_OUT_OF_MEMORY;

    /* start[b] counts the sources of block b, and then becomes the offset of the first of them. */
    visit_blocks(assembly->particles, list, visit_count, assembly);
    int64_t sum = 0;
    for (int64_t b = 0; b <= blocks; b++) {
        int64_t here = assembly->start[b];
        assembly->start[b] = sum;
        sum += here;
    }

    /* Filling moves start[b] up to start[b + 1], so that the offsets are shifted back by one. */
    assembly->source = TW_NEW_ARRAY(sum, uint32_t);
    if (!assembly->source) return TW_OUT_OF_MEMORY;
    visit_blocks(assembly->particles, list, visit_fill, assembly);
    for (int64_t b = blocks; b > 0; b--) assembly->start[b] = assembly->start[b - 1];
    assembly->start[0] = 0;
    return TW_OK;
}

/* Makes a second matrix of the same pattern. */
tw_status tw_assembly_create_damping(tw_assembly *assembly)
{
    const int64_t *start = tw_sparse_row_start(assembly->matrix);
    const int32_t *column = tw_sparse_column(assembly->matrix);
    int64_t blocks = stored_blocks(assembly);
    int64_t *wide = TW_NEW_ARRAY(blocks, int64_t);
    if (!wide) return TW_OUT_OF_MEMORY;

    /* tw_sparse_create takes 64-bit columns. */
    for (int64_t b = 0; b < blocks; b++) wide[b] = column[b];
    tw_status status = tw_sparse_create(3, assembly->particles->free_count, start, wide,
                                        TW_STORE_UPPER, &assembly->damping, NULL);
    tw_release(wide);
    return status;
}

tw_status tw_assembly_create(tw_assembly *assembly, const tw_particles *particles,
                             const tw_element_list *list)
{
    if (tw_element_list_blocks(list) > UINT32_MAX / 2) return TW_UNSUPPORTED;
    *assembly = (tw_assembly){.particles = particles};

    /* The pattern has a block for every pair of free particles in an element. */
    tw_pattern pattern = {.rows = particles->free_count};
    visit_blocks(particles, list, visit_pattern, &pattern);
    tw_status status = tw_pattern_finish(&pattern, &assembly->matrix, NULL);
    if (status != TW_OK) return status;
    return list_sources(assembly, list);
}

void tw_assembly_free(tw_assembly *assembly)
{
    tw_sparse_free(assembly->matrix);
    tw_sparse_free(assembly->damping);
    tw_release(assembly->start);
    tw_release(assembly->source);
    tw_release(assembly->target);
    tw_release(assembly->product);
    *assembly = (tw_assembly){0};
}

void tw_assembly_add_pattern(const tw_assembly *assembly, tw_pattern *pattern)
{
    const int64_t *row_start = tw_sparse_row_start(assembly->matrix);
    const int32_t *column = tw_sparse_column(assembly->matrix);

    /* Every stored block is a pair. */
    for (int32_t row = 0; row < assembly->particles->free_count; row++)
        for (int64_t b = row_start[row]; b < row_start[row + 1]; b++)
            tw_pattern_add(pattern, row, column[b]);
}

void tw_assembly_locate(tw_assembly *assembly, const tw_sparse *matrix)
{
    const int64_t *row_start = tw_sparse_row_start(assembly->matrix);
    const int32_t *column = tw_sparse_column(assembly->matrix);
    for (int64_t row = 0; row < assembly->particles->free_count; row++)
        for (int64_t b = row_start[row]; b < row_start[row + 1]; b++)
            assembly->target[b] = tw_sparse_find(matrix, row, column[b]);
}

/* What the functions of the parallel loops share. */
typedef struct loop {
    const tw_assembly *assembly;
    const double *from; /* blocks of the elements, or of the own matrix */
    double *values;     /* of the matrix that is written */
    double factor;
} loop;

static void gather_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const loop *p = context;

    /* Each stored block is the sum of its sources. */
    for (int64_t b = begin; b < end; b++) {
        double sum[9] = {0.0};
        for (int64_t n = p->assembly->start[b]; n < p->assembly->start[b + 1]; n++) {
            uint32_t source = p->assembly->source[n];
            const double *from = p->from + 9 * (int64_t)(source / 2);

            /* Elements store row by row, the matrix column by column. That is a transposition, so
             * that a source which is to be transposed is copied as it is. */
            if (source % 2)
                for (int k = 0; k < 9; k++) sum[k] += from[k];
            else
                for (int k = 0; k < 9; k++) sum[k] += from[3 * (k % 3) + k / 3];
        }
        for (int k = 0; k < 9; k++) p->values[9 * b + k] = sum[k];
    }
}

static void gather(const tw_assembly *assembly, const double *element_blocks, tw_sparse *own)
{
    loop p = {.assembly = assembly, .from = element_blocks, .values = tw_sparse_values(own)};
    tw_parallel_for(stored_blocks(assembly), TW_PARTICLE_BLOCK, gather_block, &p);
}

/* out += own in. */
static void add_product(tw_assembly *assembly, const tw_sparse *own, int count, const double *in,
                        double *out)
{
    int64_t n = tw_sparse_size(own);

    /* product = own in; it cannot fail with a matrix that was made. */
    if (tw_sparse_apply(own, count, in, assembly->product) == TW_OK)
        tw_vector_axpy(count * n, 1.0, assembly->product, out);
}

static void add_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const loop *p = context;
    const int64_t *row_start = tw_sparse_row_start(p->assembly->matrix);
    for (int64_t row = begin; row < end; row++) {
        if (!tw_particles_want(p->assembly->particles, row)) continue;
        for (int64_t b = row_start[row]; b < row_start[row + 1]; b++)
            for (int k = 0; k < 9; k++)
                p->values[9 * p->assembly->target[b] + k] += p->factor * p->from[9 * b + k];
    }
}

/* matrix += factor * own. */
static void add_matrix(const tw_assembly *assembly, const tw_sparse *own, double factor,
                       tw_sparse *matrix)
{
    loop p = {assembly, tw_sparse_values_const(own), tw_sparse_values(matrix), factor};
    tw_parallel_for(assembly->particles->free_count, TW_PARTICLE_BLOCK, add_block, &p);
}

void tw_assembly_gather(tw_assembly *assembly, const double *element_blocks)
{
    gather(assembly, element_blocks, assembly->matrix);
}

void tw_assembly_add_product(tw_assembly *assembly, int count, const double *in, double *out)
{
    add_product(assembly, assembly->matrix, count, in, out);
}

void tw_assembly_add_tangent(const tw_assembly *assembly, tw_sparse *matrix)
{
    add_matrix(assembly, assembly->matrix, 1.0, matrix);
}

void tw_assembly_gather_damping(tw_assembly *assembly, const double *element_blocks)
{
    gather(assembly, element_blocks, assembly->damping);
}

void tw_assembly_add_damping_product(tw_assembly *assembly, int count, const double *in,
                                     double *out)
{
    add_product(assembly, assembly->damping, count, in, out);
}

void tw_assembly_add_damping(const tw_assembly *assembly, double factor, tw_sparse *matrix)
{
    add_matrix(assembly, assembly->damping, factor, matrix);
}
