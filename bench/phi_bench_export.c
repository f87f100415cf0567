/* Operators for the peers, in PETSc's binary format: big-endian 32-bit integers and doubles. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "phi_bench_case.h"

enum { PETSC_MATRIX = 1211216, PETSC_VECTOR = 1211214, PATH_SIZE = 1024 };

/* One nonzero entry. */
typedef struct entry {
    int32_t row, column;
    double value;
} entry;

typedef struct entry_list {
    int64_t count, room;
    entry *entries;
    bool failed;
} entry_list;

static void add(entry_list *list, int64_t row, int64_t column, double value)
{
    if (list->count == list->room) {
        int64_t room = 2 * list->room + 1024;
        entry *larger = realloc(list->entries, (size_t)room * sizeof *larger);
        if (!larger) {
            list->failed = true;
            return;
        }
        list->entries = larger;
        list->room = room;
    }
    list->entries[list->count++] = (entry){(int32_t)row, (int32_t)column, value};
}

static void add_full(const phi_bench_case *c, entry_list *list)
{
    for (int64_t i = 0; i < c->size; i++)
        for (int64_t j = 0; j < c->size; j++) add(list, i, j, c->time * c->full[i + j * c->size]);
}

/* sqrt(M) of an unknown. */
static double root_mass(const phi_bench_case *c, int64_t i)
{
    return c->second_order && c->second.lumped_mass ? sqrt(c->second.lumped_mass[i]) : 1;
}

/* factor M^-1/2 K M^-1/2 at rows and columns displaced. */
static void add_sparse(const phi_bench_case *c, double factor, int64_t row_offset, entry_list *list)
{
    int b = tw_sparse_block(c->matrix);
    const int64_t *start = tw_sparse_row_start(c->matrix);
    const int32_t *column = tw_sparse_column(c->matrix);
    const double *values = tw_sparse_values_const(c->matrix);
    bool upper = tw_sparse_storage_of(c->matrix) == TW_STORE_UPPER;
    for (int64_t row = 0; row < c->size / b; row++)
        for (int64_t k = start[row]; k < start[row + 1]; k++)
            for (int e = 0; e < b * b; e++) {
                int64_t i = row * b + e % b, j = (int64_t)column[k] * b + e / b;
                double value = factor * values[k * b * b + e] / (root_mass(c, i) * root_mass(c, j));
                add(list, row_offset + i, j, value);
                if (upper && column[k] != row) add(list, row_offset + j, i, value);
            }
}

static int compare_entries(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    return (x->column > y->column) - (x->column < y->column);
}

static void swap_bytes(unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size / 2; i++) {
        unsigned char kept = bytes[i];
        bytes[i] = bytes[size - 1 - i];
        bytes[size - 1 - i] = kept;
    }
}

static bool put_integer(FILE *file, int64_t value)
{
    int32_t narrow = (int32_t)value;
    unsigned char bytes[sizeof narrow];
    memcpy(bytes, &narrow, sizeof narrow);
    swap_bytes(bytes, sizeof narrow); /* every machine we run on is little-endian */
    return fwrite(bytes, sizeof narrow, 1, file) == 1;
}

static bool put_double(FILE *file, double value)
{
    unsigned char bytes[sizeof value];
    memcpy(bytes, &value, sizeof value);
    swap_bytes(bytes, sizeof value);
    return fwrite(bytes, sizeof value, 1, file) == 1;
}

static FILE *open_file(const char *folder, const char *name, const char *what)
{
    char path[PATH_SIZE];
    int written = snprintf(path, sizeof path, "%s/%s.%s", folder, name, what);
    return written > 0 && written < PATH_SIZE ? fopen(path, "wb") : NULL;
}

static bool write_matrix(const phi_bench_case *c, const char *folder, const entry_list *list)
{
    FILE *file = open_file(folder, c->name, "A");
    if (!file) return false;
    bool good = put_integer(file, PETSC_MATRIX) && put_integer(file, c->length) &&
                put_integer(file, c->length) && put_integer(file, list->count);
    for (int64_t row = 0, k = 0; row < c->length && good; row++) {
        int64_t first = k;
        while (k < list->count && list->entries[k].row == row) k++;
        good = put_integer(file, k - first);
    }
    for (int64_t k = 0; k < list->count && good; k++)
        good = put_integer(file, list->entries[k].column);
    for (int64_t k = 0; k < list->count && good; k++)
        good = put_double(file, list->entries[k].value);
    return fclose(file) == 0 && good;
}

/* In the coordinates of the matrix. */
static bool write_vector(const phi_bench_case *c, const char *folder, const char *what,
                         double factor, const double *vector)
{
    FILE *file = open_file(folder, c->name, what);
    if (!file) return false;
    bool good = put_integer(file, PETSC_VECTOR) && put_integer(file, c->length);
    for (int64_t i = 0; i < c->length && good; i++) {
        double scale = root_mass(c, i % c->size) * (c->second_order && i < c->size ? c->omega : 1);
        good = put_double(file, factor * scale * vector[i]);
    }
    return fclose(file) == 0 && good;
}

/* Where the v-part begins; 0 if there is none. */
static bool write_split(const phi_bench_case *c, const char *folder)
{
    FILE *file = open_file(folder, c->name, "split");
    if (!file) return false;
    bool good = fprintf(file, "%lld\n", c->second_order ? (long long)c->size : 0) > 0;
    return fclose(file) == 0 && good;
}

tw_status phi_bench_export(const phi_bench_case *c, const char *folder, int count,
                           const char *const *names, const double *factors,
                           double *const *references, tw_error *error)
{
    entry_list list = {0};
    if (c->full) add_full(c, &list);
    if (c->matrix && !c->second_order) add_sparse(c, c->time, 0, &list);
    if (c->second_order) {
        for (int64_t i = 0; i < c->size; i++) add(&list, i, c->size + i, c->time * c->omega);
        add_sparse(c, -c->time / c->omega, c->size, &list);
    }
    bool good = !list.failed && list.entries;
    if (good) qsort(list.entries, (size_t)list.count, sizeof *list.entries, compare_entries);
    good = good && write_matrix(c, folder, &list) && write_vector(c, folder, "b", 1, c->vector) &&
           write_split(c, folder);
    for (int i = 0; i < count && good; i++)
        good = write_vector(c, folder, names[i], factors[i], references[i]);
    free(list.entries);
    return good ? TW_OK
                : tw_fail(error, TW_INPUT_OUTPUT, "cannot write %s into %s", c->name, folder);
}
