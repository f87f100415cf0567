/* A table as CSV, formatted in parallel: blocks of rows side by side with room for the longest numbers, then closed up.
 */
#include <string.h>

#include "base/allocate.h"
#include "base/number.h"
#include "base/parallel_for.h"
#include "io/frames.h"

enum { ROW_BLOCK = 256, FIELD = 25 }; /* "-1.7976931348623157e+308," */

typedef struct csv_rows {
    const tw_table *table;
    char *out;       /* row_count * column_count * FIELD bytes */
    size_t *lengths; /* of each block */
} csv_rows;

static void format_body(void *context, int64_t begin, int64_t end, int64_t block)
{
    const csv_rows *c = context;
    const tw_table *table = c->table;
    char *first = c->out + begin * table->column_count * FIELD, *at = first;
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

void tw_table_to_csv(const tw_table *table, tw_text *text)
{
    for (int c = 0; c < table->column_count; c++)
        tw_text_add(text, "%s%s", c ? "," : "", table->columns[c]);
    tw_text_add(text, "\n");
    int64_t blocks = tw_parallel_blocks(table->row_count, ROW_BLOCK),
            row = (int64_t)table->column_count * FIELD;
    csv_rows c = {.table = table, .lengths = TW_NEW_ARRAY(blocks, size_t)};
    c.out = tw_text_reserve(text, (size_t)(table->row_count * row));
    if (c.out && c.lengths) {
        tw_parallel_for(table->row_count, ROW_BLOCK, format_body, &c);
        size_t size = 0;
        for (int64_t b = 0; b < blocks; b++) {
            memmove(c.out + size, c.out + b * ROW_BLOCK * row, c.lengths[b]);
            size += c.lengths[b];
        }
        tw_text_grow(text, size);
    }
    if (!c.lengths) text->failed = true;
    tw_release(c.lengths);
}
