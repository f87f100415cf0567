#include <stdlib.h>

#include "problems/plain_problem.h"

tw_status problem_create_stiffness(const problem *p, tw_sparse_storage storage, tw_sparse **out,
                                   tw_error *error)
{
    int64_t *row_start = NULL, *column = NULL;
    tw_status status = p->pattern(p->context, storage, &row_start, &column);
    if (status) return status;
    status = tw_sparse_create(p->block, p->size / p->block, row_start, column, storage, out, error);
    free(row_start);
    free(column);
    return status;
}

void problem_fill_stiffness(const problem *p, tw_sparse *matrix)
{
    p->fill(p->context, tw_sparse_storage_of(matrix), tw_sparse_row_start(matrix),
            tw_sparse_column(matrix), tw_sparse_values(matrix));
}

tw_second_order problem_second_order_assembled(const problem *p, const tw_sparse *matrix)
{
    tw_second_order op = {.stiffness = tw_sparse_operator(matrix), .lumped_mass = p->lumped_mass};
    op.stiffness.symmetry = TW_SYMMETRIC;
    return op;
}
