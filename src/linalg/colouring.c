/* Greedy colouring of the columns of a sparse matrix. */
#include "linalg/colouring.h"

#include <stdbool.h>

#include "base/allocate.h"
#include "base/fail.h"

/* Lists of small integers, one per row: list i is item[start[i]] .. item[start[i + 1] - 1]. */
typedef struct row_lists {
    int64_t *start; /* rows + 1 */
    int32_t *item;
    int64_t *next; /* while the lists are filled: where the next item of each goes */
} row_lists;

static void free_lists(row_lists *lists)
{
    tw_release(lists->start);
    tw_release(lists->item);
    tw_release(lists->next);
    *lists = (row_lists){0};
}

/* Turns the lengths in start[1 ..] into starts, and makes room for the items. */
static tw_status begin_filling(row_lists *lists, int64_t rows)
{
    for (int64_t i = 0; i < rows; i++) lists->start[i + 1] += lists->start[i];
    lists->item = TW_NEW_ARRAY(lists->start[rows], int32_t);
    if (!lists->item) return TW_OUT_OF_MEMORY;
    for (int64_t i = 0; i < rows; i++) lists->next[i] = lists->start[i];
    return TW_OK;
}

static tw_status allocate_starts(row_lists *lists, int64_t rows)
{
    lists->start = tw_allocate_zeroed((size_t)rows + 1, sizeof(int64_t));
    lists->next = TW_NEW_ARRAY(rows + 1, int64_t);
    return lists->start && lists->next ? TW_OK : TW_OUT_OF_MEMORY;
}

/* The columns of each row; upper storage is mirrored. */
static tw_status list_columns(const tw_sparse *pattern, int64_t rows, row_lists *columns)
{
    const int64_t *row_start = tw_sparse_row_start(pattern);
    const int32_t *column = tw_sparse_column(pattern);
    bool upper = tw_sparse_storage_of(pattern) == TW_STORE_UPPER;
    TW_TRY(allocate_starts(columns, rows));

    /* Count the columns of each row. */
    for (int64_t i = 0; i < rows; i++)
        for (int64_t p = row_start[i]; p < row_start[i + 1]; p++) {
            columns->start[i + 1]++;
            if (upper && column[p] != i) columns->start[column[p] + 1]++;
        }

    /* List them. */
    TW_TRY(begin_filling(columns, rows));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t p = row_start[i]; p < row_start[i + 1]; p++) {
            columns->item[columns->next[i]++] = column[p];
            if (upper && column[p] != i) columns->item[columns->next[column[p]]++] = (int32_t)i;
        }
    return TW_OK;
}

/* The rows of each column, from the columns of each row. */
static tw_status transpose(const row_lists *columns, int64_t size, row_lists *rows)
{
    TW_TRY(allocate_starts(rows, size));
    for (int64_t p = 0; p < columns->start[size]; p++) rows->start[columns->item[p] + 1]++;

    TW_TRY(begin_filling(rows, size));
    for (int64_t i = 0; i < size; i++)
        for (int64_t p = columns->start[i]; p < columns->start[i + 1]; p++)
            rows->item[rows->next[columns->item[p]]++] = (int32_t)i;
    return TW_OK;
}

/* Chooses the colour of one column after the other. taken[c] == j says that colour c is taken by a
 * column that shares a row with column j; `size` entries are enough, because a column conflicts
 * with at most size - 1 others. */
static void choose_colours(const row_lists *columns, const row_lists *rows, int64_t *taken,
                           tw_colouring *colouring)
{
    int32_t *colour = colouring->colour;
    for (int64_t j = 0; j < colouring->size; j++) {
        colour[j] = -1;
        taken[j] = -1;
    }

    for (int64_t j = 0; j < colouring->size; j++) {
        /* Mark the colours of all columns that share a row with column j. */
        for (int64_t p = rows->start[j]; p < rows->start[j + 1]; p++) {
            int32_t row = rows->item[p];
            for (int64_t q = columns->start[row]; q < columns->start[row + 1]; q++) {
                int32_t other = colour[columns->item[q]];
                if (other >= 0) taken[other] = j;
            }
        }

        /* Take the smallest colour that is not marked. */
        int32_t smallest = 0;
        while (taken[smallest] == j) smallest++;
        colour[j] = smallest;
        if (smallest >= colouring->colours) colouring->colours = smallest + 1;
    }
}

tw_status tw_colouring_create(tw_colouring *colouring, const tw_sparse *pattern)
{
    int64_t size = tw_sparse_size(pattern) / tw_sparse_block(pattern);
    *colouring = (tw_colouring){.size = size, .colour = TW_NEW_ARRAY(size, int32_t)};
    row_lists columns = {0};
    row_lists rows = {0};

    tw_status status = colouring->colour ? TW_OK : TW_OUT_OF_MEMORY;
    if (status == TW_OK) status = list_columns(pattern, size, &columns);
    if (status == TW_OK) status = transpose(&columns, size, &rows);
    if (status == TW_OK) {
        choose_colours(&columns, &rows, rows.next, colouring);

        /* The lists of columns are part of the answer. */
        colouring->start = columns.start;
        colouring->neighbour = columns.item;
        columns.start = NULL;
        columns.item = NULL;
    }
    free_lists(&columns);
    free_lists(&rows);
    return status;
}

void tw_colouring_free(tw_colouring *colouring)
{
    tw_release(colouring->colour);
    tw_release(colouring->start);
    tw_release(colouring->neighbour);
    *colouring = (tw_colouring){0};
}
