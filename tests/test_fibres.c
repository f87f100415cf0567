/* Fibres against the theory of slender rods: tip deflection, first frequency, twist, extension; curls, taper, and the
 * seam to contact. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "linalg/dense.h"
#include "support/run_suite.h"
#include "support/temporary_folder.h"

static const double PI = 3.14159265358979323846;

enum { CORNERS = 4 };

/* ---- a fibre and its stiffness ---- */

typedef struct fibre {
    tw_fibres shape;
    tw_simulation *simulation;
    const tw_second_order_problem *problem;
    int n;
    double *K; /* dense, at rest */
} fibre;

static const double origin[3] = {0.1, -0.2, 0.3};
static const double along_x[3] = {2, 0, 0};

static fibre fibre_of(tw_fibres shape)
{
    fibre f = {.shape = shape};
    f.shape.count = 1;
    f.shape.roots = origin;
    f.shape.directions = along_x;

    tw_model *model = NULL;
    tw_error error = {0};
    ck_assert_int_eq(tw_model_create(&model, &error), TW_OK);
    ck_assert_msg(tw_model_add_fibres(model, &f.shape, NULL, &error) == TW_OK, "%s", error.text);
    ck_assert_int_eq(tw_simulation_of_model(model, &f.simulation, &error), TW_OK);
    f.problem = tw_simulation_second_order(f.simulation);
    f.n = (int)f.problem->space.local_size;

    /* The columns of K are products with unit vectors. */
    const double *x = tw_simulation_start(f.simulation);
    ck_assert_int_eq(f.problem->linearise(f.problem->context, 0, x, x + f.n), TW_OK);
    f.K = calloc((size_t)f.n * (size_t)f.n, sizeof(double));
    double *unit = calloc((size_t)f.n, sizeof(double));
    ck_assert(f.K && unit);
    for (int j = 0; j < f.n; j++) {
        unit[j] = 1;
        ck_assert_int_eq(
            f.problem->apply_stiffness(f.problem->context, 1, unit, f.K + (size_t)j * (size_t)f.n),
            TW_OK);
        unit[j] = 0;
    }
    free(unit);
    return f;
}

static void fibre_free(fibre *f)
{
    tw_simulation_free(f->simulation);
    free(f->K);
}

/* b becomes K^-1 b. */
static void solve(const fibre *f, double *b)
{
    size_t size = (size_t)f->n * (size_t)f->n * sizeof(double);
    double *copy = malloc(size);
    int *pivots = calloc((size_t)f->n, sizeof(int));
    ck_assert(copy && pivots);
    memcpy(copy, f->K, size);
    ck_assert_int_eq(tw_dense_solve(f->n, copy, 1, b, pivots), TW_OK);
    free(copy);
    free(pivots);
}

/* The movement of the tip's centre along `axis` under a unit force along it. */
static double deflection(const fibre *f, int axis)
{
    double *b = calloc((size_t)f->n, sizeof(double));
    int tip = f->n - 3 * CORNERS;
    double sum = 0;
    for (int c = 0; c < CORNERS; c++) b[tip + 3 * c + axis] = 1.0 / CORNERS;
    solve(f, b);
    for (int c = 0; c < CORNERS; c++) sum += b[tip + 3 * c + axis] / CORNERS;
    free(b);
    return sum;
}

/* The angle by which the tip of a straight fibre along x turns about x under a unit torque. */
static double twist(const fibre *f)
{
    double *b = calloc((size_t)f->n, sizeof(double));
    int tip = f->n - 3 * CORNERS;
    const double *x = tw_simulation_start(f->simulation);

    /* Forces along the circle around the centre: force (-z, y) / (sum of y^2 + z^2). */
    double squares = 0;
    for (int c = 0; c < CORNERS; c++) {
        double y = x[tip + 3 * c + 1] - origin[1];
        double z = x[tip + 3 * c + 2] - origin[2];
        b[tip + 3 * c + 1] = -z;
        b[tip + 3 * c + 2] = y;
        squares += y * y + z * z;
    }
    for (int i = 0; i < f->n; i++) b[i] /= squares;
    solve(f, b);

    /* The turning that fits the displacements best: sum (y dz - z dy) / sum (y^2 + z^2). */
    double angle = 0;
    for (int c = 0; c < CORNERS; c++) {
        double y = x[tip + 3 * c + 1] - origin[1];
        double z = x[tip + 3 * c + 2] - origin[2];
        angle += (y * b[tip + 3 * c + 2] - z * b[tip + 3 * c + 1]) / squares;
    }
    free(b);
    return angle;
}

/* The lowest frequency [1/s], from the eigenvalues of M^-1/2 K M^-1/2. */
static double first_frequency(const fibre *f)
{
    size_t n = (size_t)f->n;
    double *A = malloc(n * n * sizeof(double));
    double *w = malloc(n * sizeof(double));
    double *scratch = malloc(tw_dense_eigen_scratch(f->n) * sizeof(double));
    const double *mass = f->problem->lumped_mass;
    ck_assert(A && w && scratch && mass);
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) A[j * n + i] = f->K[j * n + i] / sqrt(mass[i] * mass[j]);
    ck_assert_int_eq(tw_symmetric_eigen(f->n, A, w, scratch), TW_OK);
    double lowest = sqrt(w[0]);
    free(A);
    free(w);
    free(scratch);
    return lowest;
}

/* ---- theory ---- */

/* A point of the centre line of a fibre that begins along x and curls towards y, its tangent and its diameter. */
static void centre_line(const tw_fibres *f, double s, double point[3], double tangent[3])
{
    double r = f->curl_radius;
    double c = f->curl_pitch / (2 * PI);
    double q = hypot(r, c);
    if (r == 0) {
        memcpy(point, (double[3]){s, 0, 0}, 3 * sizeof(double));
        memcpy(tangent, (double[3]){1, 0, 0}, 3 * sizeof(double));
    } else if (c == 0) {
        memcpy(point, (double[3]){r * sin(s / r), r * (1 - cos(s / r)), 0}, 3 * sizeof(double));
        memcpy(tangent, (double[3]){cos(s / r), sin(s / r), 0}, 3 * sizeof(double));
    } else {
        double a = s / q;
        memcpy(point, (double[3]){c * a, r * (1 - cos(a)), r * sin(a)}, 3 * sizeof(double));
        memcpy(tangent, (double[3]){c / q, r / q * sin(a), r / q * cos(a)}, 3 * sizeof(double));
    }
}

/* Castigliano: under a unit force along `axis` the tip moves by
 *     int (M . t)^2 / (G J) + (M^2 - (M . t)^2) / (E I) + (axis . t)^2 / (E A) ds,  M = (x(L) - x(s)) x axis. */
static double theory_deflection(const tw_fibres *f, int axis)
{
    enum { POINTS = 4000 };
    double tip[3], point[3], t[3], sum = 0;
    centre_line(f, f->length, tip, t);
    for (int i = 0; i < POINTS; i++) {
        double s = f->length * (i + 0.5) / POINTS;
        centre_line(f, s, point, t);
        double arm[3] = {tip[0] - point[0], tip[1] - point[1], tip[2] - point[2]}, M[3] = {0};
        M[(axis + 1) % 3] = arm[(axis + 2) % 3];
        M[(axis + 2) % 3] = -arm[(axis + 1) % 3];
        double torsion = M[0] * t[0] + M[1] * t[1] + M[2] * t[2];
        double square = M[0] * M[0] + M[1] * M[1] + M[2] * M[2] - torsion * torsion;
        double end = f->tip_thickness > 0 ? f->tip_thickness : f->thickness;
        double d = f->thickness + s / f->length * (end - f->thickness);
        double I = PI * pow(d, 4) / 64, area = PI * d * d / 4;
        sum += torsion * torsion / (f->shear_modulus * 2 * I) + square / (f->youngs_modulus * I) +
               t[axis] * t[axis] / (f->youngs_modulus * area);
    }
    return sum * f->length / POINTS;
}

static double theory_frequency(const tw_fibres *f)
{
    double I = PI * pow(f->thickness, 4) / 64, area = PI * f->thickness * f->thickness / 4;
    double root = 1.8751040687119611; /* of cos b cosh b = -1 */
    return root * root * sqrt(f->youngs_modulus * I / (f->density * area * pow(f->length, 4)));
}

static double error_of(double value, double right)
{
    return fabs(value / right - 1);
}

/* ---- straight fibres ---- */

static const double moduli[][2] = {{3.6e9, 1e9}, {3.2e10, 1e9}, {1e7, 4e6}};
static const double thicknesses[] = {4e-5, 1.2e-4};

START_TEST(a_fibre_is_a_slender_rod)
{
    static const int segments[] = {8, 16};
    for (int m = 0; m < 3; m++)
        for (int d = 0; d < 2; d++)
            for (int s = 0; s < 2; s++) {
                tw_fibres shape = tw_fibres_default();
                shape.youngs_modulus = moduli[m][0];
                shape.shear_modulus = moduli[m][1];
                shape.thickness = thicknesses[d];
                shape.segments = segments[s];
                fibre f = fibre_of(shape);

                double J = PI * pow(shape.thickness, 4) / 32;
                double right_twist = shape.length / (shape.shear_modulus * J);
                for (int axis = 0; axis < 3; axis++)
                    ck_assert_double_lt(
                        error_of(deflection(&f, axis), theory_deflection(&f.shape, axis)), 0.05);
                ck_assert_double_lt(error_of(first_frequency(&f), theory_frequency(&f.shape)),
                                    0.05);
                ck_assert_double_lt(error_of(twist(&f), right_twist), 0.01);
                fibre_free(&f);
            }
}
END_TEST

/* The changes fall with the square of the segment length. The softness of sections leaves 0.4 %. */
START_TEST(a_fibre_converges_with_its_segments)
{
    enum { LEVELS = 4 };
    double bending[LEVELS], frequency[LEVELS];
    for (int level = 0; level < LEVELS; level++) {
        tw_fibres shape = tw_fibres_default();
        shape.segments = 4 << level;
        fibre f = fibre_of(shape);
        bending[level] = deflection(&f, 2) / theory_deflection(&f.shape, 2);
        frequency[level] = first_frequency(&f) / theory_frequency(&f.shape);
        fibre_free(&f);
    }
    for (int i = 0; i + 2 < LEVELS; i++) {
        double bending_ratio = (bending[i] - bending[i + 1]) / (bending[i + 1] - bending[i + 2]);
        double ratio = (frequency[i] - frequency[i + 1]) / (frequency[i + 1] - frequency[i + 2]);
        ck_assert_double_eq_tol(bending_ratio, 4.0, 0.5);
        ck_assert_double_eq_tol(ratio, 4.0, 0.5);
    }
    ck_assert_double_lt(fabs(bending[LEVELS - 1] - 1), 5e-3);
    ck_assert_double_lt(fabs(frequency[LEVELS - 1] - 1), 5e-3);
}
END_TEST

START_TEST(a_tapered_fibre_bends_as_its_diameter_says)
{
    tw_fibres shape = tw_fibres_default();
    shape.tip_thickness = 4e-5;
    shape.segments = 16;
    fibre f = fibre_of(shape);
    for (int axis = 0; axis < 3; axis++)
        ck_assert_double_lt(error_of(deflection(&f, axis), theory_deflection(&f.shape, axis)),
                            0.05);

    /* The mass of a truncated cone; the root section is held, and half a segment with it. */
    double d = shape.thickness, e = shape.tip_thickness, w = d + (e - d) / 16;
    double all = shape.density * PI * shape.length / 12 * (d * d + d * e + e * e);
    double held = shape.density * PI * shape.length / 16 / 12 * (d * d + d * w + w * w) / 2;
    double mass = tw_simulation_summarise(f.simulation).mass;
    ck_assert_double_lt(error_of(mass, all - held), 1e-12);
    fibre_free(&f);
}
END_TEST

/* ---- curls ---- */

START_TEST(arcs_and_helices_have_the_stiffness_of_a_curved_rod)
{
    /* An arc of one radian, a steep helix, a flat one. */
    static const double curls[][2] = {{0.3, 0}, {0.01, 0.1}, {0.02, 0.02}};
    for (int i = 0; i < 3; i++) {
        tw_fibres shape = tw_fibres_default();
        shape.curl_radius = curls[i][0];
        shape.curl_pitch = curls[i][1];
        shape.segments = 60;
        fibre f = fibre_of(shape);
        for (int axis = 0; axis < 3; axis++)
            ck_assert_double_lt(error_of(deflection(&f, axis), theory_deflection(&f.shape, axis)),
                                0.05);
        fibre_free(&f);
    }
}
END_TEST

static double largest_difference(int n, const double *x, const double *y)
{
    double largest = 0;
    for (int i = 0; i < n; i++) largest = fmax(largest, fabs(x[i] - y[i]));
    return largest;
}

START_TEST(a_helix_keeps_its_shape)
{
    tw_fibres shape = tw_fibres_default();
    shape.curl_radius = 0.01;
    shape.curl_pitch = 0.1;
    shape.segments = 30;
    fibre f = fibre_of(shape);
    const double *start = tw_simulation_start(f.simulation);

    /* Its sections are where the centre line of the helix is. */
    for (int s = 1; s <= 30; s++) {
        double point[3], tangent[3];
        centre_line(&f.shape, shape.length * s / 30, point, tangent);
        for (int k = 0; k < 3; k++) {
            double centre = 0;
            for (int c = 0; c < CORNERS; c++)
                centre += start[3 * (CORNERS * (s - 1) + c) + k] / CORNERS;
            ck_assert_double_lt(fabs(centre - origin[k] - point[k]), 1e-14);
        }
    }

    /* Left alone it stays where it is: 50 steps of 10 ms. */
    tw_integrator_options options = tw_integrator_options_default();
    tw_integrator *integrator = NULL;
    options.scheme = TW_SCHEME_EXPMID2;
    options.step = 0.01;
    ck_assert_int_eq(tw_simulation_integrator(f.simulation, &options, &integrator, NULL), TW_OK);
    ck_assert_int_eq(tw_integrator_advance(integrator, 0.5, NULL), TW_OK);
    ck_assert_double_lt(largest_difference(f.n, tw_integrator_state_view(integrator), start), 1e-9);
    tw_integrator_free(integrator);
    fibre_free(&f);
}
END_TEST

/* ---- many fibres, errors, contact ---- */

START_TEST(fibres_of_a_set_are_alike_and_found)
{
    static const double roots[9] = {0, 0, 0, 1, 0, 0, 0, 2, 0};
    static const double directions[9] = {0, 0, 1, 1, 1, 1, 0, -1, 0};
    tw_fibres shape = tw_fibres_default();
    shape.count = 3;
    shape.roots = roots;
    shape.directions = directions;
    shape.segments = 5;
    shape.tip_thickness = 3e-5;

    tw_model *model = NULL;
    int64_t first = -1;
    tw_error error = {0};
    ck_assert_int_eq(tw_model_create(&model, &error), TW_OK);
    ck_assert_int_eq(
        tw_model_add_particles(model, 1, (double[3]){9, 9, 9}, NULL, (double[1]){1}, NULL, &error),
        TW_OK);
    ck_assert_int_eq(tw_model_add_fibres(model, &shape, &first, &error), TW_OK);
    ck_assert_int_eq(first, 1);
    ck_assert_int_eq(tw_model_fibre_set_count(model), 1);
    ck_assert_ptr_null(tw_model_fibre_set(model, 1));
    tw_fibre_set set = *tw_model_fibre_set(model, 0);
    ck_assert_int_eq(set.count, 3);
    ck_assert_int_eq(set.segments, 5);
    ck_assert_double_eq(set.thickness, 9e-5);
    ck_assert_double_eq_tol(set.tip_thickness, 3e-5, 1e-19);
    ck_assert_int_eq(tw_model_free_count(model), 1 + 3 * 5 * CORNERS);

    /* The centre of section s is at root + s l direction / |direction|. */
    tw_simulation *simulation = NULL;
    ck_assert_int_eq(tw_simulation_of_model(model, &simulation, &error), TW_OK);
    int64_t count = tw_simulation_row_count(simulation);
    double *rows = malloc((size_t)count * 6 * sizeof(double));
    ck_assert_int_eq(tw_simulation_rows(simulation, 0, tw_simulation_start(simulation), rows),
                     TW_OK);
    for (int f = 0; f < 3; f++) {
        const double *d = directions + 3 * f;
        double norm = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        for (int s = 0; s <= 5; s++)
            for (int k = 0; k < 3; k++) {
                double centre = 0;
                for (int c = 0; c < CORNERS; c++)
                    centre += rows[6 * (tw_fibre_set_section(&set, f, s) + c) + k] / CORNERS;
                double right = roots[3 * f + k] + 0.06 * s * d[k] / norm;
                ck_assert_double_lt(fabs(centre - right), 1e-14);
            }
    }
    free(rows);
    tw_simulation_free(simulation);
}
END_TEST

START_TEST(bad_fibres_are_refused)
{
    static const double none[3] = {0, 0, 0};
    tw_fibres good = tw_fibres_default();
    good.count = 1;
    good.roots = origin;
    good.directions = along_x;
    tw_fibres bad[] = {good, good, good, good, good, good, good, good, good, good};
    bad[0].count = 0;
    bad[1].directions = none;
    bad[2].length = -1;
    bad[3].thickness = NAN;
    bad[4].shear_modulus = 2 * good.youngs_modulus;
    bad[5].density = 0;
    bad[6].curl_radius = 1e-3;
    bad[7].segments = 0;
    bad[8].sides = along_x;
    bad[9].curl_pitch = -1;

    tw_model *model = NULL;
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tw_error error = {0};
        ck_assert_int_eq(tw_model_add_fibres(model, &bad[i], NULL, &error), TW_INVALID_ARGUMENT);
        ck_assert_int_gt((int)strlen(error.text), 10);
        ck_assert_int_eq(tw_model_particle_count(model), 0);
    }
    good.segments = INT64_MAX;
    ck_assert_int_eq(tw_model_add_fibres(model, &good, NULL, NULL), TW_UNSUPPORTED);
    ck_assert_int_eq(tw_model_add_fibres(NULL, &good, NULL, NULL), TW_INVALID_ARGUMENT);
    tw_model_free(model);
}
END_TEST

/* ---- fibres of scenes ---- */

static const char scene_head[] = "name: x\nduration: 1\nintegrator: {name: expmid2, step: 0.01}\n";
static const char material[] = "    length: 0.3\n    thickness: 9e-5\n    youngs_modulus: 3.6e9\n"
                               "    shear_modulus: 1e9\n    density: 1320\n";

static tw_status build_scene(const char *roots, const char *rest, tw_simulation **out,
                             tw_error *error)
{
    char text[2000];
    snprintf(text, sizeof text, "%sbodies:\n  - kind: fibres\n%s%s%s", scene_head, material, roots,
             rest);
    tw_scene *scene = NULL;
    tw_status status = tw_scene_parse("x.yaml", text, strlen(text), 0, NULL, &scene, error);
    if (status == TW_OK) status = tw_scene_build(scene, out, error);
    tw_scene_free(scene);
    return status;
}

/* The rows of all particles at time t, with the free ones where they start. */
static double *rows_at(tw_simulation *simulation, double t)
{
    double *rows = malloc((size_t)tw_simulation_row_count(simulation) * 6 * sizeof(double));
    ck_assert_ptr_nonnull(rows);
    ck_assert_int_eq(tw_simulation_rows(simulation, t, tw_simulation_start(simulation), rows),
                     TW_OK);
    return rows;
}

/* The centre of the root section of fibre f: roots come first. */
static void root_of(const double *rows, int f, double root[3])
{
    for (int k = 0; k < 3; k++) {
        root[k] = 0;
        for (int c = 0; c < CORNERS; c++) root[k] += rows[6 * (CORNERS * f + c) + k] / CORNERS;
    }
}

START_TEST(roots_are_scattered_over_a_head_and_follow_it)
{
    enum { COUNT = 200 };
    tw_simulation *simulation = NULL;
    tw_error error = {0};
    ck_assert_msg(
        build_scene("    count: 200\n    roots: {obstacle: head, upper: 0.25, seed: 7}\n",
                    "obstacles:\n  - {name: head, kind: sphere, centre: [1, 2, 3], radius: 0.1, "
                    "motion: {kind: rotation, point: [1, 2, 3], keyframes: [[0, 0], [1, 90]]}}\n",
                    &simulation, &error) == TW_OK,
        "%s", error.text);
    double *at_start = rows_at(simulation, 0), *turned = rows_at(simulation, 1);
    int quarters[4] = {0};
    for (int f = 0; f < COUNT; f++) {
        double root[3], later[3];
        root_of(at_start, f, root);
        root_of(turned, f, later);
        double x = root[0] - 1, y = root[1] - 2, z = root[2] - 3;
        ck_assert_double_eq_tol(sqrt(x * x + y * y + z * z), 0.1, 1e-14);
        ck_assert_double_ge(z, 0.05 - 1e-12); /* the upper quarter of the height 0.2 */
        quarters[(x > 0) + 2 * (y > 0)]++;

        /* A quarter turn about z through the centre: (x, y) becomes (-y, x). */
        ck_assert_double_eq_tol(later[0] - 1, -y, 1e-14);
        ck_assert_double_eq_tol(later[1] - 2, x, 1e-14);
        ck_assert_double_eq_tol(later[2] - 3, z, 1e-14);
    }

    /* A quarter of the roots in each quarter, but for chance. */
    for (int i = 0; i < 4; i++) ck_assert_int_ge(quarters[i], COUNT / 5);
    free(at_start);
    free(turned);
    tw_simulation_free(simulation);
}
END_TEST

START_TEST(a_grid_has_its_middle_at_the_origin)
{
    tw_simulation *simulation = NULL;
    ck_assert_int_eq(build_scene("    columns: 3\n    rows: 2\n    spacing: 0.1\n"
                                 "    origin: [1, 1, 1]\n",
                                 "", &simulation, NULL),
                     TW_OK);
    double *rows = rows_at(simulation, 0);
    for (int f = 0; f < 6; f++) {
        double root[3];
        int column = f % 3;
        int row = f / 3;
        root_of(rows, f, root);
        ck_assert_double_eq_tol(root[0], 1 + 0.1 * (column - 1), 1e-14);
        ck_assert_double_eq_tol(root[1], 1 + 0.1 * (row - 0.5), 1e-14);
        ck_assert_double_eq_tol(root[2], 1, 1e-14);
    }
    free(rows);
    tw_simulation_free(simulation);
}
END_TEST

static tw_status build_of_file(const char *folder, const char *csv, tw_simulation **out,
                               tw_error *error)
{
    char path[600], roots[700];
    snprintf(path, sizeof path, "%s/roots.csv", folder);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(csv, file);
    fclose(file);
    snprintf(roots, sizeof roots, "    roots: {points: %s}\n", path);
    return build_scene(roots, "", out, error);
}

START_TEST(roots_come_from_a_file)
{
    static const char *const bad[][2] = {{"", "has no roots"},
                                         {"x,y,z,nx,ny,nz\n", "has no roots"},
                                         {"1,2,3\n", ":1: is not six numbers"},
                                         {"0,0,0,0,0,1\n1,2,3,4,5,six\n", ":2: is not six numbers"},
                                         {"0,0,0,0,0,0\n", ":1: the normal nx, ny, nz has length"},
                                         {"0,0,0,0,0,1,7\n", ":1: is not six numbers"}};
    const char *folder = test_enter_temporary_folder();
    tw_error error = {0};
    tw_simulation *simulation = NULL;
    const char *good = "x,y,z,nx,ny,nz\r\n1,2,3,0,0,1\r\n\n4,5,6,1,0,0";
    ck_assert_msg(build_of_file(folder, good, &simulation, &error) == TW_OK, "%s", error.text);
    double *rows = rows_at(simulation, 0), root[3];
    root_of(rows, 1, root);
    ck_assert_double_eq_tol(root[0] + 10 * root[1] + 100 * root[2], 654, 1e-12);
    free(rows);
    tw_simulation_free(simulation);

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_int_eq(build_of_file(folder, bad[i][0], &simulation, &error), TW_BAD_INPUT);
        ck_assert_msg(strstr(error.text, bad[i][1]) != NULL, "%s", error.text);
    }
    test_leave_temporary_folder();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fibres");
    TCase *cases = tcase_create("fibres");
    tcase_set_timeout(cases, 120);
    tcase_add_test(cases, a_fibre_is_a_slender_rod);
    tcase_add_test(cases, a_fibre_converges_with_its_segments);
    tcase_add_test(cases, a_tapered_fibre_bends_as_its_diameter_says);
    tcase_add_test(cases, arcs_and_helices_have_the_stiffness_of_a_curved_rod);
    tcase_add_test(cases, a_helix_keeps_its_shape);
    tcase_add_test(cases, fibres_of_a_set_are_alike_and_found);
    tcase_add_test(cases, bad_fibres_are_refused);
    tcase_add_test(cases, roots_are_scattered_over_a_head_and_follow_it);
    tcase_add_test(cases, a_grid_has_its_middle_at_the_origin);
    tcase_add_test(cases, roots_come_from_a_file);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
