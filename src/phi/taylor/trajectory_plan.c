/* How a request is cut into trajectories: by order or by node (taylor.h). */
#include <math.h>

#include "phi/taylor/taylor.h"

/* Below this f^k an output cannot be divided by it: the quotient would leave the range of
 * doubles. */
static const double SMALLEST_POWER = 1e-200;

static bool same_sign(double a, double b)
{
    return (a > 0 && b > 0) || (a < 0 && b < 0);
}

/* Longest c_i of one sign; 0 if there is none. */
static double longest_node(const tw_phi_request *request, double sign)
{
    double longest = 0;
    for (int i = 0; i < request->node_count; i++)
        if (same_sign(request->nodes[i], sign)) longest = fmax(longest, fabs(request->nodes[i]));
    return longest;
}

static bool first_of_its_value(const tw_phi_request *request, int i)
{
    for (int j = 0; j < i; j++)
        if (request->nodes[j] == request->nodes[i]) return false;
    return true;
}

/* Inserts a node so that f ascends. */
static void insert_node(tw_taylor_trajectory *trajectory, int node, double f)
{
    int place = trajectory->node_count++;
    while (place > 0 && trajectory->f[place - 1] > f) {
        trajectory->f[place] = trajectory->f[place - 1];
        trajectory->nodes[place] = trajectory->nodes[place - 1];
        place--;
    }
    trajectory->f[place] = f;
    trajectory->nodes[place] = node;
}

/* ---- by order: a trajectory per sign and vector ---- */

static int by_order(const tw_phi_request *request, int input_count, const int *input_order,
                    tw_taylor_trajectory *trajectories)
{
    int count = 0;

    for (int sign = 1; sign >= -1; sign -= 2) {
        double longest = longest_node(request, sign);
        if (longest == 0) continue;

        for (int k = 0; k < input_count; k++) {
            tw_taylor_trajectory *trajectory = &trajectories[count++];
            *trajectory = (tw_taylor_trajectory){.time = sign * longest * request->time,
                                                 .share = 1,
                                                 .power = input_order[k],
                                                 .input_count = 1,
                                                 .first_input = k};

            /* All nodes of this sign lie on it. */
            for (int i = 0; i < request->node_count; i++)
                if (same_sign(request->nodes[i], sign))
                    insert_node(trajectory, i, fabs(request->nodes[i]) / longest);
        }
    }
    return count;
}

/* ---- by node: a trajectory per distinct node ---- */

/* The longest of each sign comes first: its probe serves the others. */
static void sort_by_share(int count, tw_taylor_trajectory *trajectories)
{
    for (int i = 1; i < count; i++) {
        tw_taylor_trajectory moving = trajectories[i];
        int place = i;

        for (; place > 0 && trajectories[place - 1].share < moving.share; place--)
            trajectories[place] = trajectories[place - 1];
        trajectories[place] = moving;
    }
}

static int by_node(const tw_phi_request *request, int input_count,
                   tw_taylor_trajectory *trajectories)
{
    int count = 0;

    for (int i = 0; i < request->node_count; i++) {
        double node = request->nodes[i];
        if (node == 0 || !first_of_its_value(request, i)) continue;

        /* Every distinct node has a trajectory with all vectors. */
        tw_taylor_trajectory *trajectory = &trajectories[count++];
        *trajectory = (tw_taylor_trajectory){.time = node * request->time,
                                             .share = fabs(node) / longest_node(request, node),
                                             .input_count = input_count};

        /* Equal nodes share the trajectory. */
        for (int j = i; j < request->node_count; j++)
            if (request->nodes[j] == node) insert_node(trajectory, j, 1.0);
    }
    sort_by_share(count, trajectories);
    return count;
}

/* ---- the choice ---- */

/* Whether some f_i^k is too small to be divided by. */
static bool vanishing_fraction(const tw_phi_request *request, int order)
{
    for (int i = 0; i < request->node_count; i++) {
        double node = request->nodes[i];
        if (node == 0) continue;
        if (pow(fabs(node) / longest_node(request, node), order) < SMALLEST_POWER) return true;
    }
    return false;
}

int tw_taylor_trajectories(const tw_phi_request *request, int input_count, const int *input_order,
                           tw_taylor_trajectory *trajectories)
{
    if (request->time == 0) return 0;

    /* Total length of the trajectories by node. */
    double nodes = 0;
    for (int i = 0; i < request->node_count; i++)
        if (first_of_its_value(request, i)) nodes += fabs(request->nodes[i]);

    /* Total length of the trajectories by order. */
    double orders = input_count * (longest_node(request, 1) + longest_node(request, -1));

    /* The shorter cut is taken, as long as its outputs can be divided by f^k. */
    int highest = input_order[input_count - 1];
    bool shorter = nodes <= orders && input_count > 1;
    if (shorter || vanishing_fraction(request, highest))
        return by_node(request, input_count, trajectories);
    return by_order(request, input_count, input_order, trajectories);
}
