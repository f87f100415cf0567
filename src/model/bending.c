/* Bending of a triangle mesh: springs between the two vertices opposite to each inner edge, or
 * hinges at the edge. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <twang/forces.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/vector3.h"
#include "model/model_internal.h"

/* An edge of a triangle, and the vertex opposite to it. */
typedef struct side {
    int64_t low; /* the vertices of the edge, low < high */
    int64_t high;
    int64_t opposite;
} side;

/* Orders by the edge, so that the sides of one edge follow each other. */
static int compare_sides(const void *a, const void *b)
{
    const side *p = a;
    const side *q = b;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    if (p->high != q->high) return p->high < q->high ? -1 : 1;
    return (p->opposite > q->opposite) - (p->opposite < q->opposite);
}

static void list_sides(int64_t triangle_count, const int64_t *triangles, side *sides)
{
    for (int64_t i = 0; i < 3 * triangle_count; i++) {
        /* Side i % 3 of triangle i / 3. */
        const int64_t *corner = triangles + i / 3 * 3;
        int64_t a = corner[i % 3];
        int64_t b = corner[(i + 1) % 3];
        bool ordered = a < b;
        sides[i] = (side){ordered ? a : b, ordered ? b : a, corner[(i + 2) % 3]};
    }
    qsort(sides, 3 * (size_t)triangle_count, sizeof *sides, compare_sides);
}

/* Finds the edges that exactly two triangles share. Writes four indices each, as a hinge needs
 * them: the edge, then the two opposite vertices. Returns how many there are. */
static int64_t find_inner_edges(int64_t count, const side *sides, int64_t *corners)
{
    int64_t found = 0;
    for (int64_t i = 0, next; i < count; i = next) {
        /* The sides i ... next - 1 have the same edge. */
        for (next = i + 1;
             next < count && sides[next].low == sides[i].low && sides[next].high == sides[i].high;)
            next++;

        /* An inner edge has two sides with different opposite vertices. */
        if (next - i != 2 || sides[i].opposite == sides[i + 1].opposite) continue;
        const int64_t four[4] = {sides[i].low, sides[i].high, sides[i].opposite,
                                 sides[i + 1].opposite};
        memcpy(corners + 4 * found++, four, sizeof four);
    }

    return found;
}

typedef struct bending {
    tw_model *model;
    double stiffness;
    double cubic;
} bending;

/* Adds `count` springs or hinges; `values` and `more` have room for `count`. */
typedef tw_status adder(const bending *b, int64_t count, int64_t *corners, double *values,
                        double *more, tw_error *error);

static tw_status add_springs(const bending *b, int64_t count, int64_t *corners, double *stiffness,
                             double *cubic, tw_error *error)
{
    for (int64_t e = 0; e < count; e++) {
        stiffness[e] = b->stiffness;
        cubic[e] = b->cubic;

        /* The opposite vertices are the ends of the spring. */
        memmove(corners + 2 * e, corners + 4 * e + 2, 2 * sizeof *corners);
    }

    if (b->cubic == 0.0)
        return tw_model_add_springs(b->model, count, corners, stiffness, NULL, error);
    return tw_model_add_cubic_springs(b->model, count, corners, stiffness, cubic, NULL, error);
}

/* Twice the area of the triangle with the edge d from `from` and the third vertex x. */
static double twice_area(const double d[3], const double *from, const double *x)
{
    double r[3], normal[3];
    for (int k = 0; k < 3; k++) r[k] = x[k] - from[k];
    tw_cross3(d, r, normal);
    return sqrt(tw_dot3(normal, normal));
}

static tw_status add_hinges(const bending *b, int64_t count, int64_t *corners, double *stiffness,
                            double *unused, tw_error *error)
{
    (void)unused;
    const double *x = b->model->particles.position;

    /* k = B l^2 / (A_0 + A_1) for each edge of length l between triangles of the areas A. */
    for (int64_t e = 0; e < count; e++) {
        const int64_t *c = corners + 4 * e;

        /* The edge and the two areas. */
        double d[3];
        for (int k = 0; k < 3; k++) d[k] = x[3 * c[1] + k] - x[3 * c[0] + k];

        double areas = 0.5 * (twice_area(d, x + 3 * c[0], x + 3 * c[2]) +
                              twice_area(d, x + 3 * c[0], x + 3 * c[3]));
        if (!(areas > 0.0))
            return tw_fail(error, TW_INVALID_ARGUMENT, "triangles without area cannot bend");
        stiffness[e] = b->stiffness * tw_dot3(d, d) / areas;
    }

    return tw_model_add_hinges(b->model, count, corners, stiffness, NULL, error);
}

static tw_status add_found(const bending *b, adder *add, int64_t count, int64_t *corners,
                           tw_error *error)
{
    double *values = TW_NEW_ARRAY(count, double);
    double *more = TW_NEW_ARRAY(count, double);
    tw_status status = TW_OK;

    if (values && more)
        status = add(b, count, corners, values, more, error);
    else
        status = tw_fail_plain(error, TW_OUT_OF_MEMORY);
    tw_release(values);
    tw_release(more);
    return status;
}

static tw_status check_triangles(const tw_model *model, int64_t count, const int64_t *triangles,
                                 tw_error *error)
{
    if (!model || !tw_is_count(count) || (count && !triangles))
        return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    for (int64_t i = 0; i < 3 * count; i++)
        if (triangles[i] < 0 || triangles[i] >= model->particles.count)
            return tw_fail(error, TW_INVALID_ARGUMENT,
                           "a triangle must join three of the particles 0 to %lld",
                           (long long)(model->particles.count - 1));

    return TW_OK;
}

static tw_status add_bending(const bending *b, adder *add, int64_t triangle_count,
                             const int64_t *triangles, int64_t *added, tw_error *error)
{
    tw_status status = check_triangles(b->model, triangle_count, triangles, error);
    if (status != TW_OK) return status;

    /* A wrong stiffness is refused even where no edge would get it. */
    if (!(b->stiffness >= 0.0) || !(b->cubic >= 0.0) || isinf(b->stiffness) || isinf(b->cubic))
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "a bending stiffness must be finite and not negative");

    /* An inner edge has two of the 3 n sides, and four corners. */
    side *sides = TW_NEW_ARRAY(3 * triangle_count, side);
    int64_t *corners = TW_NEW_ARRAY(6 * triangle_count, int64_t);
    int64_t found = 0;
    if (sides && corners) {
        list_sides(triangle_count, triangles, sides);
        found = find_inner_edges(3 * triangle_count, sides, corners);
        status = add_found(b, add, found, corners, error);
    } else {
        status = tw_fail_plain(error, TW_OUT_OF_MEMORY);
    }

    tw_release(sides);
    tw_release(corners);
    if (added && status == TW_OK) *added = found;
    return status;
}

tw_status tw_model_add_bending_springs(tw_model *model, int64_t triangle_count,
                                       const int64_t *triangles, double stiffness, double cubic,
                                       int64_t *added, tw_error *error)
{
    const bending b = {model, stiffness, cubic};
    return add_bending(&b, add_springs, triangle_count, triangles, added, error);
}

tw_status tw_model_add_bending_hinges(tw_model *model, int64_t triangle_count,
                                      const int64_t *triangles, double bending_stiffness,
                                      int64_t *added, tw_error *error)
{
    const bending b = {model, bending_stiffness, 0.0};
    return add_bending(&b, add_hinges, triangle_count, triangles, added, error);
}
