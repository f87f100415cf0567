#include "scene/fibre_roots.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/number.h"
#include "base/read_file.h"
#include "base/start_vector.h"
#include "base/vector3.h"
#include "scene/obstacle_surface.h"
#include "scene/surface_roots.h"

void tw_fibre_roots_free(tw_fibre_roots *roots)
{
    tw_release(roots->points);
    tw_release(roots->directions);
    tw_release(roots->sides);
    *roots = (tw_fibre_roots){0};
}

tw_status tw_fibre_roots_allocate(tw_fibre_roots *roots, int64_t count, tw_error *error)
{
    roots->points = TW_NEW_ARRAY(3 * count, double);
    roots->directions = TW_NEW_ARRAY(3 * count, double);
    if (!roots->points || !roots->directions) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    return TW_OK;
}

void tw_fibre_roots_append(tw_fibre_roots *roots, vec3 point, vec3 direction)
{
    vec3_store(roots->points, roots->count, point);
    vec3_store(roots->directions, roots->count, direction);
    roots->count++;
}

static vec3 read_vector(const tw_node *node, const char *key)
{
    double values[3];
    tw_node_numbers(node, key, 3, values);
    return (vec3){values[0], values[1], values[2]};
}

/* ---- a grid, or one root ---- */

/* A unit vector across d: along x where that is possible. */
static vec3 across(vec3 d)
{
    vec3 x = {1.0, 0.0, 0.0};
    vec3 y = {0.0, 1.0, 0.0};
    double length = vec3_length(d);
    vec3 wish = fabs(d.x) < 0.9 * length ? x : y;

    vec3 side = vec3_add_scaled(wish, -vec3_dot(wish, d) / (length * length), d);
    return vec3_scale(1.0 / vec3_length(side), side);
}

/* Columns along `across`, rows across both; the origin is in the middle of the grid. */
static tw_status lay_grid(const tw_body *body, tw_fibre_roots *out, tw_error *error)
{
    const tw_node *node = body->node;
    bool is_grid = tw_node_find(node, "columns") != NULL;
    int64_t columns = is_grid ? tw_node_integer(node, "columns") : 1;
    int64_t rows = is_grid ? tw_node_integer(node, "rows") : 1;
    double spacing = is_grid ? tw_node_number(node, "spacing") : 0.0;
    TW_TRY(tw_fibre_roots_allocate(out, columns * rows, error));

    vec3 origin = read_vector(node, "origin");
    vec3 direction = read_vector(node, "direction");
    vec3 along_columns = across(direction);
    vec3 along_rows = vec3_cross(direction, along_columns);
    along_rows = vec3_scale(1.0 / vec3_length(along_rows), along_rows);

    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++) {
            double right = spacing * ((double)c - 0.5 * (double)(columns - 1));
            double up = spacing * ((double)r - 0.5 * (double)(rows - 1));
            vec3 point = vec3_add_scaled(origin, right, along_columns);
            tw_fibre_roots_append(out, vec3_add_scaled(point, up, along_rows), direction);
        }
    return TW_OK;
}

/* ---- a file ---- */

enum { ROOT_COLUMNS = 6 };

static const char HEADER[] = "x,y,z,nx,ny,nz";

/* Reads the six numbers of a line. Returns where it does not hold exactly these; NULL: it does. */
static const char *read_line(char *line, double values[ROOT_COLUMNS])
{
    char *at = line;
    for (int c = 0; c < ROOT_COLUMNS; c++) {
        char *stop = at + strcspn(at, ",");
        bool ends_here = *stop == '\0';
        *stop = '\0';
        if (!tw_number_parse(at, &values[c])) return at;

        /* Too few numbers, or too many. */
        bool is_last = c == ROOT_COLUMNS - 1;
        if (is_last != ends_here) return stop;
        at = stop + 1;
    }
    return NULL;
}

static tw_status read_root(const char *path, int64_t number, char *line, vec3 origin,
                           tw_fibre_roots *out, tw_error *error)
{
    double values[ROOT_COLUMNS];
    const char *wrong = read_line(line, values);
    if (wrong)
        return tw_fail(error, TW_BAD_INPUT, "%s:%lld:%d: is not six numbers %s", path,
                       (long long)number, (int)(wrong - line) + 1, HEADER);

    vec3 normal = vec3_at(values, 1);
    if (!(vec3_length(normal) > 0.0))
        return tw_fail(error, TW_BAD_INPUT,
                       "%s:%lld:1: the normal nx, ny, nz has length zero, give it any other", path,
                       (long long)number);
    tw_fibre_roots_append(out, vec3_add(origin, vec3_at(values, 0)), normal);
    return TW_OK;
}

static int64_t count_lines(const char *text)
{
    int64_t lines = 1;
    for (const char *at = text; (at = strchr(at, '\n')); at++) lines++;
    return lines;
}

/* A line per root. The first line may name the columns, empty lines are skipped. */
static tw_status parse_roots(const char *path, char *text, vec3 origin, tw_fibre_roots *out,
                             tw_error *error)
{
    TW_TRY(tw_fibre_roots_allocate(out, count_lines(text), error));

    int64_t number = 1;
    for (char *line = text; *line; number++) {
        /* Cut the line out, also one that ends as on Windows. */
        char *end = line + strcspn(line, "\n");
        bool is_last = *end == '\0';
        *end = '\0';
        if (end > line && end[-1] == '\r') end[-1] = '\0';

        bool is_header = number == 1 && strcmp(line, HEADER) == 0;
        if (*line && !is_header) TW_TRY(read_root(path, number, line, origin, out, error));
        if (is_last) break;
        line = end + 1;
    }

    if (out->count > 0) return TW_OK;
    return tw_fail(error, TW_BAD_INPUT, "%s: has no roots, give a line %s for each", path, HEADER);
}

static tw_status read_points(const tw_body *body, const char *path, tw_fibre_roots *out,
                             tw_error *error)
{
    char *text = NULL;
    size_t size = 0;
    TW_TRY(tw_read_file(path, TW_READ_ALL, &text, &size, error));

    tw_status status = TW_OK;
    if (strlen(text) != size) status = tw_fail(error, TW_BAD_INPUT, "%s: is not a text file", path);
    if (status == TW_OK)
        status = parse_roots(path, text, read_vector(body->node, "origin"), out, error);
    tw_release(text);
    return status;
}

/* ---- an obstacle ---- */

const tw_node *tw_find_obstacle(const tw_scene *scene, const char *name, int *index)
{
    const tw_node *list = tw_scene_node(scene, "obstacles");
    *index = 0;
    for (const tw_node *node = list ? list->first : NULL; node; node = node->next, (*index)++) {
        const tw_node *own = tw_node_find(node, "name");
        if (own && strcmp(own->text, name) == 0) return node;
    }
    return NULL;
}

double tw_random_unit(uint64_t seed, uint64_t index)
{
    uint64_t bits = tw_random_bits(tw_random_bits(seed) + index);
    return (double)(bits >> 11) * 0x1p-53;
}

/* Scatters roots over the upper part of a sphere. Equal heights of a sphere have equal areas, so root
 * i has a random height in the i-th of `count` layers; successive layers are a golden angle apart,
 * which leaves no gaps, and each angle is disturbed by the mean distance of roots. */
static void scatter_over_sphere(const tw_root_scatter *scatter, vec3 centre, double radius,
                                tw_fibre_roots *out)
{
    int64_t count = scatter->count;
    uint64_t seed = scatter->seed;
    double upper = scatter->upper;
    static const double GOLDEN_ANGLE = 2.39996322972865332; /* pi (3 - sqrt 5) */
    double spread = 3.5 * sqrt(upper / (double)count);      /* mean distance / radius */
    double turn = 6.28318530717958648 * tw_random_unit(seed, 0);

    for (int64_t i = 0; i < count; i++) {
        double layer = ((double)i + tw_random_unit(seed, 2 * (uint64_t)i + 1)) / (double)count;
        double z = 1.0 - 2.0 * upper * layer;
        double across = sqrt(fmax(0.0, 1.0 - z * z));
        double disturbance = spread * (tw_random_unit(seed, 2 * (uint64_t)i + 2) - 0.5);
        double angle = turn + GOLDEN_ANGLE * (double)i + disturbance;

        /* A curl begins outward and goes down, along the meridian. */
        vec3 normal = {across * cos(angle), across * sin(angle), z};
        vec3_store(out->sides, i, (vec3){z * cos(angle), z * sin(angle), -across});
        tw_fibre_roots_append(out, vec3_add_scaled(centre, radius, normal), normal);
    }
}

/* The obstacle that the roots are on; NULL after an error. */
static const tw_node *carrier_of(const tw_body *body, const tw_node *name, int *index,
                                 tw_error *error)
{
    const tw_node *obstacle = tw_find_obstacle(body->scene, name->text, index);
    if (!obstacle) {
        tw_fail_at(error, name->mark, "%s.roots.obstacle is '%s', but no obstacle has this name",
                   body->path, name->text);
        return NULL;
    }

    const char *kind = tw_node_text(obstacle, "kind");
    if (strcmp(kind, "sphere") == 0 || strcmp(kind, "mesh") == 0) return obstacle;
    tw_fail_at(error, name->mark,
               "%s.roots.obstacle is '%s', which is a %s, fibres grow on spheres and meshes only",
               body->path, name->text, kind);
    return NULL;
}

static tw_status scatter_over_mesh(const tw_node *obstacle, int index,
                                   const tw_root_scatter *scatter, tw_fibre_roots *out,
                                   tw_error *error)
{
    char path[TW_ENTRY_PATH_SIZE];
    snprintf(path, sizeof path, "obstacles.%d", index);
    tw_mesh surface = {0};
    tw_status status = tw_obstacle_surface(obstacle, path, &surface, error);
    if (status == TW_OK) status = tw_scatter_over_surface(&surface, scatter, out, error);
    tw_mesh_free(&surface);
    return status;
}

static tw_status scatter_over_obstacle(const tw_body *body, const tw_node *roots,
                                       tw_fibre_roots *out, tw_error *error)
{
    int index = 0;
    const tw_node *obstacle = carrier_of(body, tw_node_find(roots, "obstacle"), &index, error);
    if (!obstacle) return TW_BAD_INPUT;

    /* Not given: everywhere, with the seed 1. */
    tw_root_scatter scatter = {
        .count = tw_node_integer(body->node, "count"), .upper = 1.0, .seed = 1};
    if (tw_node_find(roots, "upper")) scatter.upper = tw_node_number(roots, "upper");
    if (tw_node_find(roots, "seed")) scatter.seed = (uint64_t)tw_node_integer(roots, "seed");

    TW_TRY(tw_fibre_roots_allocate(out, scatter.count, error));
    out->sides = TW_NEW_ARRAY(3 * scatter.count, double);
    if (!out->sides) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    if (strcmp(tw_node_text(obstacle, "kind"), "mesh") == 0)
        return scatter_over_mesh(obstacle, index, &scatter, out, error);
    scatter_over_sphere(&scatter, read_vector(obstacle, "centre"),
                        tw_node_number(obstacle, "radius"), out);
    return TW_OK;
}

tw_status tw_fibre_roots_find(const tw_body *body, tw_fibre_roots *out, tw_error *error)
{
    const tw_node *roots = tw_node_find(body->node, "roots");
    if (!roots) return lay_grid(body, out, error);
    if (tw_node_find(roots, "obstacle")) return scatter_over_obstacle(body, roots, out, error);
    return read_points(body, tw_node_text(roots, "points"), out, error);
}
