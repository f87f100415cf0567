/* The displays of a model: checks and copies. */
#include "model/display_list.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "linalg/vector.h"
#include "model/model_internal.h"

static void release_display(tw_display *d)
{
    const void *arrays[] = {d->name,
                            d->edges,
                            d->triangles,
                            d->tetrahedra,
                            d->surface.carriers,
                            d->surface.weights,
                            d->surface.face_start,
                            d->surface.corners,
                            d->surface.texture,
                            d->surface.corner_texture,
                            d->surface.edges,
                            d->surface.statement_face,
                            d->surface.statement_end,
                            d->surface.statements};

    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) tw_release((void *)arrays[i]);
    *d = (tw_display){0};
}

void tw_display_list_free(tw_display_list *displays)
{
    for (int i = 0; i < displays->count; i++) release_display(&displays->list[i]);
    tw_release(displays->list);
    *displays = (tw_display_list){0};
}

/* ---- checks ---- */

static bool all_between(int64_t count, const int64_t *indices, int64_t low, int64_t high)
{
    for (int64_t i = 0; i < count; i++)
        if (indices[i] < low || indices[i] > high) return false;
    return true;
}

/* Corners of all faces together. */
static int64_t corner_count(const tw_display_surface *s)
{
    if (s->face_start) return s->face_start[s->face_count];
    return 3 * s->face_count;
}

static bool faces_are_polygons(const tw_display_surface *s)
{
    if (!s->face_start) return true;

    /* Offsets start at 0, and a polygon has three corners or more. */
    if (s->face_start[0] != 0) return false;
    for (int64_t f = 0; f < s->face_count; f++)
        if (s->face_start[f + 1] - s->face_start[f] < 3) return false;
    return true;
}

/* The four weights of each vertex sum to 1. */
static bool weights_are_right(const tw_display_surface *s)
{
    for (int64_t v = 0; v < s->vertex_count; v++) {
        const double *w = s->weights + 4 * v;
        double sum = w[0] + w[1] + w[2] + w[3];
        if (!(fabs(sum - 1.0) <= 1e-6)) return false; /* refuses NaN, too */
    }
    return true;
}

/* Statements come in the order of the faces, and their texts one after another. */
static bool statements_are_right(const tw_display_surface *s)
{
    int64_t face = -1;
    int64_t end = 0;

    if (s->statement_count == 0) return true;

    if (!s->statement_face || !s->statement_end || !s->statements) return false;
    for (int64_t i = 0; i < s->statement_count; i++) {
        /* Neither faces nor ends go back. */
        if (s->statement_face[i] < face || s->statement_face[i] > s->face_count ||
            s->statement_end[i] < end)
            return false;
        face = s->statement_face[i];
        end = s->statement_end[i];
    }

    return tw_is_count(end);
}

/* The texture of each corner and the ends of each edge exist. */
static tw_status check_texture_and_edges(const tw_display_surface *s, tw_error *error)
{
    if (s->texture && !tw_vector_is_finite(2 * s->texture_count, s->texture))
        return tw_fail(error, TW_NOT_FINITE, "a texture coordinate is not finite");
    if ((s->texture_count && !s->texture) ||
        (s->corner_texture &&
         !all_between(corner_count(s), s->corner_texture, -1, s->texture_count - 1)))
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "a corner of an embedded surface has a texture that is not there");

    if (s->edge_count &&
        (!s->edges || !all_between(2 * s->edge_count, s->edges, 0, s->vertex_count - 1)))
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "an edge of an embedded surface is not between its vertices");

    return TW_OK;
}

static tw_status check_surface(const tw_display_surface *s, int64_t particles, tw_error *error)
{
    if (!tw_is_count(s->vertex_count) || !tw_is_count(s->face_count) ||
        !tw_is_count(s->texture_count) || !tw_is_count(s->edge_count) ||
        !tw_is_count(s->statement_count))
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "a count of an embedded surface is negative or too large");
    if (s->vertex_count == 0) return TW_OK;

    /* The vertices: each is carried by four particles. */
    if (!s->carriers || !s->weights || (s->face_count && !s->corners))
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "an embedded surface needs carriers, weights and faces");
    if (!all_between(4 * s->vertex_count, s->carriers, 0, particles - 1))
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "an embedded surface is carried by a particle that is not there");
    if (!weights_are_right(s))
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "the weights of an embedded vertex do not add up to 1");

    /* The faces and what belongs to them. */
    if (!faces_are_polygons(s) || !all_between(corner_count(s), s->corners, 0, s->vertex_count - 1))
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "a face of an embedded surface is not one of its vertices");
    TW_TRY(check_texture_and_edges(s, error));
    if (!statements_are_right(s))
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "the statements of an embedded surface are out of order");

    return TW_OK;
}

/* Checks that all corners of the cells are particles. */
static tw_status check_cells(const char *what, int64_t count, const int64_t *cells, int corners,
                             int64_t particles, tw_error *error)
{
    if (count == 0) return TW_OK;
    if (tw_is_count(count) && cells && all_between(count * corners, cells, 0, particles - 1))
        return TW_OK;
    return tw_fail(error, TW_INVALID_ARGUMENT, "%s to be shown must join particles that are there",
                   what);
}

static tw_status check_display(const tw_model *model, const tw_display *d, tw_error *error)
{
    int64_t particles = model->particles.count;
    if (d->first < 0 || d->count < 0 || d->first > particles || d->count > particles - d->first)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "a body to be shown has particles that are not there");

    if (!(d->radius >= 0.0) || !isfinite(d->radius))
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "the radius of edges to be shown must be at least 0");

    /* All cells join particles of the model. */
    TW_TRY(check_cells("edges", d->edge_count, d->edges, 2, particles, error));
    TW_TRY(check_cells("triangles", d->triangle_count, d->triangles, 3, particles, error));
    TW_TRY(check_cells("tetrahedra", d->tetrahedron_count, d->tetrahedra, 4, particles, error));
    return check_surface(&d->surface, particles, error);
}

/* ---- copies ---- */

/* Copies a surface. Returns false when memory is out; what is copied by then is
 * released with the display. */
static bool copy_surface(tw_display_surface *to, const tw_display_surface *from)
{
    if (from->vertex_count == 0) return true;
    bool good = true;
    int64_t corners = corner_count(from);
    int64_t statements = from->statement_count;
    *to = (tw_display_surface){.vertex_count = from->vertex_count,
                               .face_count = from->face_count,
                               .texture_count = from->texture_count,
                               .edge_count = from->edge_count,
                               .statement_count = statements};

    /* A failed copy is NULL and clears `good`. */
    to->carriers = tw_copy_array(from->carriers, 4 * from->vertex_count, sizeof(int64_t), &good);
    to->weights = tw_copy_array(from->weights, 4 * from->vertex_count, sizeof(double), &good);
    to->face_start = tw_copy_array(from->face_start, from->face_count + 1, sizeof(int64_t), &good);
    to->corners = tw_copy_array(from->corners, corners, sizeof(int64_t), &good);
    to->texture = tw_copy_array(from->texture, 2 * from->texture_count, sizeof(double), &good);
    to->corner_texture = tw_copy_array(from->corner_texture, corners, sizeof(int64_t), &good);
    to->edges = tw_copy_array(from->edges, 2 * from->edge_count, sizeof(int64_t), &good);
    to->statement_face = tw_copy_array(from->statement_face, statements, sizeof(int64_t), &good);
    to->statement_end = tw_copy_array(from->statement_end, statements, sizeof(int64_t), &good);

    /* The texts end where the last statement ends. */
    if (statements)
        to->statements =
            tw_copy_array(from->statements, from->statement_end[statements - 1], 1, &good);

    return good;
}

/* Copies a display. Solids without triangles get the boundary of their tetrahedra. */
static bool copy_display(const tw_model *model, tw_display *to, const tw_display *from)
{
    bool good = true;
    const char *name = from->name && from->name[0] ? from->name : "body";

    *to = (tw_display){.first = from->first,
                       .count = from->count,
                       .edge_count = from->edge_count,
                       .triangle_count = from->triangle_count,
                       .tetrahedron_count = from->tetrahedron_count,
                       .radius = from->radius,
                       .stained = from->stained};

    /* A failed copy is NULL and clears `good`. */
    to->name = tw_copy_array(name, (int64_t)strlen(name) + 1, 1, &good);
    to->edges = tw_copy_array(from->edges, 2 * from->edge_count, sizeof(int64_t), &good);
    to->triangles =
        tw_copy_array(from->triangles, 3 * from->triangle_count, sizeof(int64_t), &good);
    to->tetrahedra =
        tw_copy_array(from->tetrahedra, 4 * from->tetrahedron_count, sizeof(int64_t), &good);
    good = copy_surface(&to->surface, &from->surface) && good;
    if (!good || from->triangle_count || !from->tetrahedron_count) return good;

    /* The boundary of the tetrahedra. */
    int64_t *boundary = NULL;
    const tw_particles *p = &model->particles;
    good = tw_display_boundary(to->tetrahedron_count, to->tetrahedra, p->count, p->position,
                               &to->triangle_count, &boundary) == TW_OK;
    to->triangles = boundary;
    return good;
}

/* Makes room for one more display. Returns false when memory is out. */
static bool make_room(tw_display_list *displays)
{
    if (displays->count < displays->capacity) return true;
    int capacity = 2 * displays->capacity + 4;

    tw_display *larger = TW_NEW_ARRAY(capacity, tw_display);
    if (!larger) return false;
    if (displays->count) memcpy(larger, displays->list, (size_t)displays->count * sizeof *larger);
    tw_release(displays->list);
    displays->list = larger;
    displays->capacity = capacity;
    return true;
}

tw_status tw_model_add_display(tw_model *model, const tw_display *display, tw_error *error)
{
    if (!model || !display) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    TW_TRY(check_display(model, display, error));

    tw_display copy = {0};

    /* Room comes first, so that a failure leaves the model as it was. */
    if (!make_room(&model->displays) || !copy_display(model, &copy, display)) {
        release_display(&copy);
        return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    }
    model->displays.list[model->displays.count++] = copy;
    return TW_OK;
}
