#include "support/touching_bodies.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

double touching_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 4503599627370496.0 - 1.0;
}

tw_model *touching_model(double gravity)
{
    tw_model *model = NULL;
    const double down[3] = {0, 0, -gravity};
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    if (gravity != 0) ck_assert_int_eq(tw_model_add_gravity(model, down, NULL), TW_OK);
    return model;
}

tw_simulation *touching_simulation(tw_model *model, const tw_contact_options *options)
{
    tw_simulation *simulation = NULL;
    tw_error error = {0};
    ck_assert_int_eq(tw_model_add_contact(model, options, NULL), TW_OK);
    tw_status status = tw_simulation_of_model(model, &simulation, &error);
    ck_assert_msg(status == TW_OK, "%s", error.text);
    return simulation;
}

/* ---- bodies ---- */

static int64_t add_particles(tw_model *model, int64_t count, const double *x,
                             const double velocity[3], double mass)
{
    double *v = malloc(3 * (size_t)count * sizeof *v);
    double *m = malloc((size_t)count * sizeof *m);
    int64_t first = 0;
    ck_assert(v && m);
    for (int64_t i = 0; i < 3 * count; i++) v[i] = velocity[i % 3];
    for (int64_t i = 0; i < count; i++) m[i] = mass;
    ck_assert_int_eq(tw_model_add_particles(model, count, x, v, m, &first, NULL), TW_OK);
    free(v);
    free(m);
    return first;
}

static void add_spring(tw_model *model, int64_t a, int64_t b, double stiffness)
{
    int64_t ends[2] = {a, b};
    ck_assert_int_eq(tw_model_add_springs(model, 1, ends, &stiffness, NULL, NULL), TW_OK);
}

/* Rodrigues' rotation about (1, 1, 1) / sqrt(3). */
static void turn_about_diagonal(double angle, double x[3])
{
    double along = (x[0] + x[1] + x[2]) / 3;
    double side[3];
    for (int k = 0; k < 3; k++) side[k] = (x[(k + 2) % 3] - x[(k + 1) % 3]) / sqrt(3.0);
    for (int k = 0; k < 3; k++) x[k] = along + cos(angle) * (x[k] - along) + sin(angle) * side[k];
}

int64_t touching_cube(tw_model *model, const double centre[3], double edge, double turn,
                      const double velocity[3], double mass, double stiffness)
{
    static const int faces[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                  2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    double x[24];
    for (int i = 0; i < 8; i++) {
        double corner[3] = {edge * ((i & 1) - 0.5), edge * ((i >> 1 & 1) - 0.5),
                            edge * ((i >> 2 & 1) - 0.5)};
        turn_about_diagonal(turn, corner);
        for (int k = 0; k < 3; k++) x[3 * i + k] = centre[k] + corner[k];
    }
    int64_t first = add_particles(model, 8, x, velocity, mass / 8);
    for (int64_t a = 0; a < 8; a++)
        for (int64_t b = a + 1; b < 8; b++) add_spring(model, first + a, first + b, stiffness);

    int64_t triangles[36];
    for (int i = 0; i < 36; i++) triangles[i] = first + faces[i];
    tw_display display = {.first = first, .count = 8, .triangle_count = 12, .triangles = triangles};
    ck_assert_int_eq(tw_model_add_display(model, &display, NULL), TW_OK);
    return first;
}

int64_t touching_sheet(tw_model *model, const double origin[3], const double u[3],
                       const double v[3], int columns, int rows, const double velocity[3],
                       double mass, double stiffness)
{
    int64_t count = (int64_t)columns * rows;
    double *x = malloc(3 * (size_t)count * sizeof *x);
    int64_t *triangles = malloc(6 * (size_t)count * sizeof *triangles);
    ck_assert(x && triangles);
    for (int64_t i = 0; i < count; i++) {
        double s = (double)(i % columns) / (columns - 1);
        int64_t row = i / columns;
        double t = (double)row / (rows - 1);
        for (int k = 0; k < 3; k++) x[3 * i + k] = origin[k] + s * u[k] + t * v[k];
    }
    int64_t first = add_particles(model, count, x, velocity, mass / (double)count);

    int64_t corners = 0;
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++) {
            int64_t here = first + (int64_t)r * columns + c;
            bool right = c + 1 < columns;
            bool up = r + 1 < rows;
            if (right) add_spring(model, here, here + 1, stiffness);
            if (up) add_spring(model, here, here + columns, stiffness);
            if (!right || !up) continue;
            add_spring(model, here, here + columns + 1, 0.3 * stiffness);
            add_spring(model, here + 1, here + columns, 0.3 * stiffness);
            const int64_t cell[6] = {here,     here + 1,           here + columns,
                                     here + 1, here + columns + 1, here + columns};
            for (int i = 0; i < 6; i++) triangles[corners++] = cell[i];
        }
    tw_display display = {
        .first = first, .count = count, .triangle_count = corners / 3, .triangles = triangles};
    ck_assert_int_eq(tw_model_add_display(model, &display, NULL), TW_OK);
    free(x);
    free(triangles);
    return first;
}

int64_t touching_line(tw_model *model, const double a[3], const double b[3], int count,
                      const double velocity[3], double mass, double stiffness)
{
    double *x = malloc(3 * (size_t)count * sizeof *x);
    int64_t *edges = malloc(2 * (size_t)count * sizeof *edges);
    ck_assert(x && edges);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) x[3 * i + k] = a[k] + i * (b[k] - a[k]) / (count - 1);
    int64_t first = add_particles(model, count, x, velocity, mass / count);
    for (int i = 0; i + 1 < count; i++) {
        edges[2 * i] = first + i;
        edges[2 * i + 1] = first + i + 1;
        add_spring(model, first + i, first + i + 1, stiffness);
    }
    tw_display display = {.first = first, .count = count, .edge_count = count - 1, .edges = edges};
    ck_assert_int_eq(tw_model_add_display(model, &display, NULL), TW_OK);
    free(x);
    free(edges);
    return first;
}

/* ---- crossings ---- */

/* Six times the signed volume of the tetrahedron a b c d, rows of six columns. */
static double volume(const double *rows, int64_t a, int64_t b, int64_t c, int64_t d)
{
    double e[3][3];
    const int64_t corner[3] = {b, c, d};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) e[i][k] = rows[6 * corner[i] + k] - rows[6 * a + k];
    return e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) -
           e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
           e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
}

static double length(const double *rows, int64_t a, int64_t b)
{
    double square = 0;
    for (int k = 0; k < 3; k++)
        square += (rows[6 * b + k] - rows[6 * a + k]) * (rows[6 * b + k] - rows[6 * a + k]);
    return sqrt(square);
}

/* The edge p q pierces the triangle t: its ends are on different sides, and its line passes inside
 * all three sides. What lies in the plane of the triangle to rounding does not pierce it. */
static bool pierces(const double *rows, int64_t p, int64_t q, const int64_t *t)
{
    for (int i = 0; i < 3; i++)
        if (t[i] == p || t[i] == q) return false;
    double sides[2] = {volume(rows, p, t[0], t[1], t[2]), volume(rows, q, t[0], t[1], t[2])};
    double rounding =
        1e-9 * length(rows, p, q) * length(rows, t[0], t[1]) * length(rows, t[0], t[2]);
    if (sides[0] * sides[1] >= 0 || fmin(fabs(sides[0]), fabs(sides[1])) < rounding) return false;
    double a = volume(rows, p, q, t[0], t[1]);
    double b = volume(rows, p, q, t[1], t[2]);
    double c = volume(rows, p, q, t[2], t[0]);
    return (a > 0 && b > 0 && c > 0) || (a < 0 && b < 0 && c < 0);
}

static int64_t count_piercing(const double *rows, int64_t p, int64_t q, const tw_display *surface)
{
    int64_t count = 0;
    for (int64_t t = 0; t < surface->triangle_count; t++)
        count += pierces(rows, p, q, surface->triangles + 3 * t);
    return count;
}

int64_t touching_crossings(tw_simulation *simulation, double t, const double *u)
{
    int64_t row_count = tw_simulation_row_count(simulation);
    double *rows = malloc(6 * (size_t)row_count * sizeof *rows);
    ck_assert_ptr_nonnull(rows);
    ck_assert_int_eq(tw_simulation_rows(simulation, t, u, rows), TW_OK);

    int64_t count = 0;
    int displays = tw_simulation_display_count(simulation);
    for (int a = 0; a < displays; a++)
        for (int b = 0; b < displays; b++) {
            const tw_display *one = tw_simulation_display(simulation, a);
            const tw_display *two = tw_simulation_display(simulation, b);
            for (int64_t i = 0; i < 3 * one->triangle_count; i++) {
                int64_t next = 3 * (i / 3) + (i + 1) % 3;
                count += count_piercing(rows, one->triangles[i], one->triangles[next], two);
            }
            for (int64_t i = 0; i < one->edge_count; i++)
                count += count_piercing(rows, one->edges[2 * i], one->edges[2 * i + 1], two);
        }
    free(rows);
    return count;
}
