/* Bending springs of a triangle mesh: between the vertices opposite to each inner edge. */
#include <math.h>
#include <stdlib.h>
#include <twang/forces.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "model/model_internal.h"

/* An edge of a triangle, and the vertex opposite to it. */
typedef struct side {
    int64_t low, high, opposite;
} side;

static int compare_sides(const void *a, const void *b)
{
    const side *p = a, *q = b;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    if (p->high != q->high) return p->high < q->high ? -1 : 1;
    return (p->opposite > q->opposite) - (p->opposite < q->opposite);
}

static void list_sides(int64_t triangle_count, const int64_t *triangles, side *sides)
{
    for (int64_t i = 0; i < 3 * triangle_count; i++) {
        const int64_t *corner = triangles + i / 3 * 3;
        int64_t a = corner[i % 3], b = corner[(i + 1) % 3];
        sides[i] = (side){a < b ? a : b, a < b ? b : a, corner[(i + 2) % 3]};
    }
    qsort(sides, 3 * (size_t)triangle_count, sizeof *sides, compare_sides);
}

/* Ends of the springs; how many. */
static int64_t pair_opposites(int64_t count, const side *sides, int64_t *ends)
{
    int64_t found = 0;
    for (int64_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && sides[next].low == sides[i].low && sides[next].high == sides[i].high;)
            next++;
        if (next - i != 2 || sides[i].opposite == sides[i + 1].opposite) continue;
        ends[2 * found] = sides[i].opposite;
        ends[2 * found++ + 1] = sides[i + 1].opposite;
    }
    return found;
}

static tw_status add_pairs(tw_model *model, int64_t count, const int64_t *ends, double k, double q, tw_error *error)
{
    double *stiffness = TW_NEW_ARRAY(count, double), *cubic = TW_NEW_ARRAY(count, double);
    tw_status status = TW_OUT_OF_MEMORY;
    if (stiffness && cubic) {
        for (int64_t e = 0; e < count; e++) stiffness[e] = k;
        for (int64_t e = 0; e < count; e++) cubic[e] = q;
        status = q == 0.0 ? tw_model_add_springs(model, count, ends, stiffness, NULL, error)
                          : tw_model_add_cubic_springs(model, count, ends, stiffness, cubic, NULL, error);
    } else {
        tw_fail_plain(error, status);
    }
    tw_release(stiffness);
    tw_release(cubic);
    return status;
}

tw_status tw_model_add_bending_springs(tw_model *model, int64_t triangle_count, const int64_t *triangles,
                                       double stiffness, double cubic, int64_t *added, tw_error *error)
{
    if (!model || triangle_count < 0 || (triangle_count && !triangles))
        return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    for (int64_t i = 0; i < 3 * triangle_count; i++)
        if (triangles[i] < 0 || triangles[i] >= model->particles.count)
            return tw_fail(error, TW_INVALID_ARGUMENT, "a triangle must join three of the particles 0 to %lld",
                           (long long)(model->particles.count - 1));
    side *sides = TW_NEW_ARRAY(3 * triangle_count, side);
    int64_t *ends = TW_NEW_ARRAY(3 * triangle_count, int64_t), found = 0;
    tw_status status = TW_OUT_OF_MEMORY;
    if (sides && ends) {
        list_sides(triangle_count, triangles, sides);
        found = pair_opposites(3 * triangle_count, sides, ends);
        status = add_pairs(model, found, ends, stiffness, cubic, error);
    } else {
        tw_fail_plain(error, status);
    }
    tw_release(sides);
    tw_release(ends);
    if (added && status == TW_OK) *added = found;
    return status;
}
