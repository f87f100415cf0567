/* Sums of phi-functions for any J, by tw_phi_evaluate: it evaluates sum_k phi_k(node h J) v_k for
 * several nodes and one set of vectors v_k. */
#include <math.h>

#include "base/fail.h"
#include "integrators/propagator.h"
#include "linalg/vector.h"

/* vectors[k] = sum of coefficient * source over the terms of this row, node and k; NULL if there
 * is none. */
static void gather(tw_propagator *propagator, const tw_system *system, const tw_phi_sum *sum,
                   int row, double node, const double **vectors)
{
    for (int k = 0; k <= TW_PHI_MAX_ORDER; k++) {
        /* v_k is absent until a term contributes to it. */
        double *v = propagator->vectors + k * propagator->size;
        vectors[k] = NULL;
        for (int i = 0; i < sum->term_count; i++) {
            const tw_sum_term *term = &sum->term[i];
            const double *source = sum->source[term->source];
            if (term->row != row || term->node != node || term->k != k) continue;

            if (!vectors[k]) tw_vector_fill(propagator->size, 0.0, v);
            vectors[k] = v;
            if (sum->force_only[term->source])
                tw_vector_axpy(system->n, term->coefficient, source, v + system->n);
            else
                tw_vector_axpy(propagator->size, term->coefficient, source, v);
        }
    }
}

/* Whether two rows differ in their nodes alone, as the phi_1 F of the stages and of the step do. */
static bool rows_match(const tw_phi_sum *sum, int row, int other)
{
    /* Walk through the terms of both rows at once. */
    int i = 0;
    int j = 0;
    int n = sum->term_count;
    for (;; i++, j++) {
        /* Go to the next term of each of the two rows. */
        while (i < n && sum->term[i].row != row) i++;
        while (j < n && sum->term[j].row != other) j++;
        if (i == n || j == n) return i == n && j == n;

        const tw_sum_term *a = &sum->term[i];
        const tw_sum_term *b = &sum->term[j];
        if (a->source != b->source || a->k != b->k || a->coefficient != b->coefficient)
            return false;
    }
}

/* The node that all terms of a row share, or NAN. */
static double common_node(const tw_phi_sum *sum, int row)
{
    double node = NAN;
    for (int i = 0; i < sum->term_count; i++) {
        if (sum->term[i].row != row) continue;
        if (!isnan(node) && sum->term[i].node != node) return NAN;
        node = sum->term[i].node;
    }

    return node;
}

/* Evaluates the request with the highest order that has a vector. */
static tw_status evaluate(tw_propagator *propagator, tw_system *system, tw_phi_request *request,
                          tw_error *error)
{
    request->order = TW_PHI_MAX_ORDER;
    while (request->order > 0 && !request->vectors[request->order]) request->order--;

    /* Second-order problems have an operator of their own. */
    tw_phi_statistics statistics = {0};
    tw_status status = TW_OK;
    if (system->second_order)
        status = tw_phi_evaluate_second_order(propagator->workspace, &system->pair, request,
                                              &statistics, error);
    else
        status =
            tw_phi_evaluate(propagator->workspace, &system->jacobian, request, &statistics, error);

    tw_propagator_count(system, &statistics);
    return tw_accept_rounding(status, &statistics);
}

/* Whether an earlier term of the row has the same node as term i. */
static bool node_was_seen(const tw_phi_sum *sum, int row, int i)
{
    for (int j = 0; j < i; j++)
        if (sum->term[j].row == row && sum->term[j].node == sum->term[i].node) return true;
    return false;
}

/* One row: one evaluation per node, summed. */
static tw_status apply_row(tw_propagator *propagator, tw_system *system, const tw_phi_sum *sum,
                           int row, tw_error *error)
{
    double *part = propagator->vectors + (TW_PHI_MAX_ORDER + 1) * propagator->size;

    /* The row is the sum over its nodes. */
    tw_vector_fill(propagator->size, 0.0, sum->row[row]);
    for (int i = 0; i < sum->term_count; i++) {
        if (sum->term[i].row != row || node_was_seen(sum, row, i)) continue;

        double node = sum->term[i].node;
        const double *vectors[TW_PHI_MAX_ORDER + 1];
        gather(propagator, system, sum, row, node, vectors);
        tw_phi_request request = {.time = sum->h,
                                  .node_count = 1,
                                  .nodes = &node,
                                  .vectors = vectors,
                                  .outputs = &part,
                                  .reference = {sum->reference[row][0], sum->reference[row][1]}};

        /* One evaluation covers all terms with this node. */
        TW_TRY(evaluate(propagator, system, &request, error));
        tw_vector_axpy(propagator->size, 1.0, part, sum->row[row]);
    }
    return TW_OK;
}

/* All rows, which differ in their nodes alone: one evaluation with all nodes. */
static tw_status apply_nodes(tw_propagator *propagator, tw_system *system, const tw_phi_sum *sum,
                             tw_error *error)
{
    /* Each row has its node; all rows share the vectors. */
    double nodes[TW_SUM_MAX_ROWS] = {0};
    for (int r = 0; r < sum->row_count; r++) nodes[r] = common_node(sum, r);

    const double *vectors[TW_PHI_MAX_ORDER + 1];
    gather(propagator, system, sum, 0, nodes[0], vectors);
    tw_phi_request request = {.time = sum->h,
                              .node_count = sum->row_count,
                              .nodes = nodes,
                              .vectors = vectors,
                              .outputs = sum->row,
                              .reference = {sum->reference[0][0], sum->reference[0][1]}};
    return evaluate(propagator, system, &request, error);
}

tw_status tw_propagator_apply_general(tw_propagator *propagator, tw_system *system,
                                      const tw_phi_sum *sum, tw_error *error)
{
    /* Rows that differ in their nodes alone share one evaluation. */
    bool alike = true;
    for (int r = 0; r < sum->row_count; r++)
        alike = alike && !isnan(common_node(sum, r)) && rows_match(sum, 0, r);
    if (alike) return apply_nodes(propagator, system, sum, error);

    /* Else each row is evaluated by itself. */
    for (int r = 0; r < sum->row_count; r++) TW_TRY(apply_row(propagator, system, sum, r, error));
    return TW_OK;
}
