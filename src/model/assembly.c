#include "model/assembly.h"

#include "base/allocate.h"
#include "base/parallel_for.h"
#include "linalg/vector.h"

static int64_t element_start(const tw_element_list *list, int64_t e)
{
    return list->start ? list->start[e] : e * list->nodes;
}

int64_t tw_element_list_blocks(const tw_element_list *list)
{
    int64_t sum = 0;
    for (int64_t e = 0; e < list->count; e++) {
        int64_t n = element_start(list, e + 1) - element_start(list, e);
        sum += n * (n + 1) / 2;
    }
    return sum;
}

/* Calls back for every block (a, b) of every element whose particles are both free. */
typedef void visit_block(void *context, int32_t a, int32_t b, int64_t block);

static void visit_blocks(const tw_particles *particles, const tw_element_list *list, visit_block *visit, void *context)
{
    int64_t block = 0;
    for (int64_t e = 0; e < list->count; e++) {
        int64_t begin = element_start(list, e), end = element_start(list, e + 1);
        for (int64_t i = begin; i < end; i++)
            for (int64_t j = i; j < end; j++, block++) {
                int32_t a = particles->unknown[list->particle[i]], b = particles->unknown[list->particle[j]];
                if (a >= 0 && b >= 0) visit(context, a, b, block);
            }
    }
}

static void visit_pattern(void *context, int32_t a, int32_t b, int64_t block)
{
    (void)block;
    tw_pattern_add(context, a, b);
}

static int64_t stored_block(const tw_assembly *assembly, int32_t a, int32_t b)
{
    return tw_sparse_find(assembly->matrix, a < b ? a : b, a < b ? b : a);
}

static void visit_count(void *context, int32_t a, int32_t b, int64_t block)
{
    (void)block;
    tw_assembly *assembly = context;
    assembly->start[stored_block(assembly, a, b)]++;
}

static void visit_fill(void *context, int32_t a, int32_t b, int64_t block)
{
    tw_assembly *assembly = context;
    assembly->source[assembly->start[stored_block(assembly, a, b)]++] = (uint32_t)(2 * block + (a > b));
}

static int64_t stored_blocks(const tw_assembly *assembly)
{
    return tw_sparse_row_start(assembly->matrix)[assembly->particles->free_count];
}

/* Counting sort of the elements' blocks by the stored block they belong to. */
static tw_status list_sources(tw_assembly *assembly, const tw_element_list *list)
{
    int64_t blocks = stored_blocks(assembly), sum = 0;
    assembly->start = tw_allocate_zeroed((size_t)blocks + 1, sizeof(int64_t));
    assembly->target = TW_NEW_ARRAY(blocks, int64_t);
    assembly->product = TW_NEW_ARRAY(TW_MAX_BLOCK * tw_sparse_size(assembly->matrix), double);
    if (!assembly->start || !assembly->target || !assembly->product) return TW_OUT_OF_MEMORY;
    visit_blocks(assembly->particles, list, visit_count, assembly);
    for (int64_t b = 0; b <= blocks; b++) {
        int64_t here = assembly->start[b];
        assembly->start[b] = sum;
        sum += here;
    }
    assembly->source = TW_NEW_ARRAY(sum, uint32_t);
    if (!assembly->source) return TW_OUT_OF_MEMORY;
    visit_blocks(assembly->particles, list, visit_fill, assembly);
    for (int64_t b = blocks; b > 0; b--) assembly->start[b] = assembly->start[b - 1];
    assembly->start[0] = 0;
    return TW_OK;
}

tw_status tw_assembly_create(tw_assembly *assembly, const tw_particles *particles, const tw_element_list *list)
{
    if (tw_element_list_blocks(list) > UINT32_MAX / 2) return TW_UNSUPPORTED;
    *assembly = (tw_assembly){.particles = particles};
    tw_pattern pattern = {.rows = particles->free_count};
    visit_blocks(particles, list, visit_pattern, &pattern);
    tw_status status = tw_pattern_finish(&pattern, &assembly->matrix, NULL);
    return status == TW_OK ? list_sources(assembly, list) : status;
}

void tw_assembly_free(tw_assembly *assembly)
{
    tw_sparse_free(assembly->matrix);
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
    for (int32_t row = 0; row < assembly->particles->free_count; row++)
        for (int64_t b = row_start[row]; b < row_start[row + 1]; b++) tw_pattern_add(pattern, row, column[b]);
}

void tw_assembly_locate(tw_assembly *assembly, const tw_sparse *matrix)
{
    const int64_t *row_start = tw_sparse_row_start(assembly->matrix);
    const int32_t *column = tw_sparse_column(assembly->matrix);
    for (int64_t row = 0; row < assembly->particles->free_count; row++)
        for (int64_t b = row_start[row]; b < row_start[row + 1]; b++)
            assembly->target[b] = tw_sparse_find(matrix, row, column[b]);
}

typedef struct loop {
    const tw_assembly *assembly;
    const double *element_blocks;
    double *values;
} loop;

static void gather_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const loop *p = context;
    for (int64_t b = begin; b < end; b++) {
        double sum[9] = {0.0};
        for (int64_t n = p->assembly->start[b]; n < p->assembly->start[b + 1]; n++) {
            uint32_t source = p->assembly->source[n];
            const double *from = p->element_blocks + 9 * (int64_t)(source / 2);
            /* Row by row to column by column is a transposition; transposed twice is none. */
            if (source % 2)
                for (int k = 0; k < 9; k++) sum[k] += from[k];
            else
                for (int k = 0; k < 9; k++) sum[k] += from[3 * (k % 3) + k / 3];
        }
        for (int k = 0; k < 9; k++) p->values[9 * b + k] = sum[k];
    }
}

void tw_assembly_gather(tw_assembly *assembly, const double *element_blocks)
{
    loop p = {assembly, element_blocks, tw_sparse_values(assembly->matrix)};
    tw_parallel_for(stored_blocks(assembly), TW_PARTICLE_BLOCK, gather_body, &p);
}

void tw_assembly_add_product(tw_assembly *assembly, int count, const double *in, double *out)
{
    int64_t n = tw_sparse_size(assembly->matrix);
    if (tw_sparse_apply(assembly->matrix, count, in, assembly->product) == TW_OK)
        tw_vector_axpy(count * n, 1.0, assembly->product, out);
}

static void tangent_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    const loop *p = context;
    const double *from = tw_sparse_values_const(p->assembly->matrix);
    for (int64_t b = begin; b < end; b++)
        for (int k = 0; k < 9; k++) p->values[9 * p->assembly->target[b] + k] += from[9 * b + k];
}

void tw_assembly_add_tangent(const tw_assembly *assembly, tw_sparse *matrix)
{
    loop p = {.assembly = assembly, .values = tw_sparse_values(matrix)};
    tw_parallel_for(stored_blocks(assembly), TW_PARTICLE_BLOCK, tangent_body, &p);
}
