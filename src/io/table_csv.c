/* A table as CSV, formatted in parallel: every block of rows gets room for the longest numbers,
 * and the gaps between the blocks are closed afterwards. */
#include <string.h>

#include "base/allocate.h"
#include "base/number.h"
#include "base/parallel_for.h"
#include "io/frames.h"

enum {
    ROW_BLOCK = 256, /* rows per block of work */
    FIELD = 25       /* the longest field: "-1.7976931348623157e+308," */
};

typedef struct csv_rows {
    const tw_table *table;
    char *out;       /* row_count * column_count * FIELD bytes */
    size_t *lengths; /* of each block */
} csv_rows;

static void format_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    const csv_rows *c = context;
    const tw_table *table = c->table;
    char *first = c->out + begin * table->column_count * FIELD;
    char *at = first;

    /* Numbers are separated by commas; the last one of a row ends the line. */
    for (int64_t r = begin; r < end; r++)
        for (int column = 0; column < table->column_count; column++) {
            char number[TW_NUMBER_SIZE];
            size_t length =
                tw_number_print_digits(number, 17, table->values[r * table->column_count + column]);
            memcpy(at, number, length);
            at[length] = column + 1 < table->column_count ? ',' : '\n';
            at += length + 1;
        }
    c->lengths[block] = (size_t)(at - first);
}

/* Moves the blocks together, and returns the number of bytes. */
static size_t close_gaps(const csv_rows *rows, int64_t blocks)
{
    int64_t room = (int64_t)ROW_BLOCK * rows->table->column_count * FIELD;
    size_t size = 0;

    for (int64_t b = 0; b < blocks; b++) {
        memmove(rows->out + size, rows->out + b * room, rows->lengths[b]);
        size += rows->lengths[b];
    }
    return size;
}

void tw_table_to_csv(const tw_table *table, tw_text *text)
{
    /* The names of the columns. */
    for (int c = 0; c < table->column_count; c++)
        tw_text_add(text, "%s%s", c > 0 ? "," : "", table->columns[c]);
    tw_text_add(text, "\n");

    /* The rows. */
    int64_t blocks = tw_parallel_blocks(table->row_count, ROW_BLOCK);
    int64_t numbers = table->row_count * (int64_t)table->column_count;
    csv_rows rows = {.table = table, .lengths = TW_NEW_ARRAY(blocks, size_t)};
    rows.out = tw_text_reserve(text, (size_t)(numbers * FIELD));
    if (rows.out && rows.lengths) {
        tw_parallel_for(table->row_count, ROW_BLOCK, format_block, &rows);
        tw_text_grow(text, close_gaps(&rows, blocks));
    }

    if (!rows.lengths) text->failed = true;
    tw_release(rows.lengths);
}
