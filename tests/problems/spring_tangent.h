/* The tangent of a spring network in 3x3 blocks: functions for the table of its problem. */
#ifndef PROBLEMS_SPRING_TANGENT_H
#define PROBLEMS_SPRING_TANGENT_H

#include "problems/plain_problem.h"

tw_status spring_tangent_pattern(const void *network, tw_sparse_storage storage,
                                 int64_t **row_start, int64_t **column);
void spring_tangent_fill(const void *network, tw_sparse_storage storage, const int64_t *row_start,
                         const int32_t *column, double *values);

#endif
