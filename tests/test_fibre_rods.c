/* A fibre against the theory of slender rods: tip deflection, first frequency, twist, extension; taper and curls. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "support/run_suite.h"

static const double PI = 3.14159265358979323846;

enum { CORNERS = 4, BAND = 24 /* unknowns of two neighbouring sections */ };

/* ---- a fibre and its stiffness ---- */

typedef struct fibre {
    tw_fibres shape;
    tw_simulation *simulation;
    const tw_second_order_problem *problem;
    int n;
    double *L; /* dense, the factor of K = L L^T at rest */
} fibre;

static const double origin[3] = {0.1, -0.2, 0.3};
static const double along_x[3] = {2, 0, 0};

/* Cholesky's factor of a matrix that has no entries further than BAND from the diagonal. */
static void factorise(int n, double *A)
{
    for (int j = 0; j < n; j++) {
        int first = j < BAND ? 0 : j - BAND;
        for (int k = first; k < j; k++)
            for (int i = j; i < n && i < k + BAND; i++)
                A[(size_t)j * n + i] -= A[(size_t)k * n + i] * A[(size_t)k * n + j];
        double pivot = A[(size_t)j * n + j];
        ck_assert_double_gt(pivot, 0);
        for (int i = j; i < n && i < j + BAND; i++) A[(size_t)j * n + i] /= sqrt(pivot);
    }
}

/* b becomes K^-1 b. */
static void solve(const fibre *f, double *b)
{
    int n = f->n;
    for (int j = 0; j < n; j++) {
        b[j] /= f->L[(size_t)j * n + j];
        for (int i = j + 1; i < n && i < j + BAND; i++) b[i] -= f->L[(size_t)j * n + i] * b[j];
    }
    for (int j = n - 1; j >= 0; j--) {
        for (int i = j + 1; i < n && i < j + BAND; i++) b[j] -= f->L[(size_t)j * n + i] * b[i];
        b[j] /= f->L[(size_t)j * n + j];
    }
}

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
    f.L = calloc((size_t)f.n * (size_t)f.n, sizeof(double));
    double *unit = calloc((size_t)f.n, sizeof(double));
    ck_assert(f.L && unit);
    for (int j = 0; j < f.n; j++) {
        unit[j] = 1;
        ck_assert_int_eq(
            f.problem->apply_stiffness(f.problem->context, 1, unit, f.L + (size_t)j * (size_t)f.n),
            TW_OK);
        unit[j] = 0;
    }
    free(unit);
    factorise(f.n, f.L);
    return f;
}

static void fibre_free(fibre *f)
{
    tw_simulation_free(f->simulation);
    free(f->L);
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

/* The lowest frequency [1/s], by inverse iteration. The start is the push of a uniform load across the fibre. */
static double first_frequency(const fibre *f)
{
    enum { ITERATIONS = 12 };
    const double *mass = f->problem->lumped_mass;
    double *u = calloc((size_t)f->n, sizeof(double));
    double square = 0;
    for (int i = 2; i < f->n; i += 3) u[i] = 1;
    for (int k = 0; k < ITERATIONS; k++) {
        /* w = K^-1 M u and omega^2 = (w, M u) / (w, M w). */
        double *w = calloc((size_t)f->n, sizeof(double));
        double upper = 0, lower = 0;
        for (int i = 0; i < f->n; i++) w[i] = mass[i] * u[i];
        solve(f, w);
        for (int i = 0; i < f->n; i++) {
            upper += w[i] * mass[i] * u[i];
            lower += w[i] * mass[i] * w[i];
        }
        square = upper / lower;
        for (int i = 0; i < f->n; i++) u[i] = w[i] / sqrt(lower);
        free(w);
    }
    free(u);
    return sqrt(square);
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

static double diameter(const tw_fibres *f, double s)
{
    double end = f->tip_thickness > 0 ? f->tip_thickness : f->thickness;
    return f->thickness + s / f->length * (end - f->thickness);
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
        double d = diameter(f, s);
        double I = PI * pow(d, 4) / 64, area = PI * d * d / 4;
        sum += torsion * torsion / (f->shear_modulus * 2 * I) + square / (f->youngs_modulus * I) +
               t[axis] * t[axis] / (f->youngs_modulus * area);
    }
    return sum * f->length / POINTS;
}

/* The angle of the tip under a unit torque: int 1 / (G J) ds. */
static double theory_twist(const tw_fibres *f)
{
    enum { POINTS = 4000 };
    double sum = 0;
    for (int i = 0; i < POINTS; i++) {
        double d = diameter(f, f->length * (i + 0.5) / POINTS);
        sum += 32 / (PI * pow(d, 4) * f->shear_modulus);
    }
    return sum * f->length / POINTS;
}

/* The first frequency of a beam of Euler and Bernoulli by Stodola's iteration: y is bent by the load m y, and
 * omega^2 = int m y^2 / int m y y_new. Load and curvature are constant in each of the small intervals. */
static double theory_frequency(const tw_fibres *f)
{
    enum { POINTS = 2000, ITERATIONS = 12 };
    static double y[POINTS], moment[POINTS], next[POINTS];
    double step = f->length / POINTS, square = 0;
    for (int i = 0; i < POINTS; i++) y[i] = pow((i + 0.5) / POINTS, 2);
    for (int k = 0; k < ITERATIONS; k++) {
        /* From the tip: shear Q' = -m y, moment M' = -Q. */
        double shear = 0, bending = 0, slope = 0, place = 0, upper = 0, lower = 0;
        for (int i = POINTS - 1; i >= 0; i--) {
            double m = f->density * PI / 4 * pow(diameter(f, (i + 0.5) * step), 2);
            moment[i] = bending + 0.5 * step * (shear + 0.25 * step * m * y[i]);
            bending += step * (shear + 0.5 * step * m * y[i]);
            shear += step * m * y[i];
        }
        /* From the root: slope' = M / (E I), y' = slope. */
        for (int i = 0; i < POINTS; i++) {
            double d = diameter(f, (i + 0.5) * step), m = f->density * PI / 4 * d * d;
            double curvature = moment[i] / (f->youngs_modulus * PI * pow(d, 4) / 64);
            next[i] = place + 0.5 * step * (slope + 0.25 * step * curvature);
            place += step * (slope + 0.5 * step * curvature);
            slope += step * curvature;
            upper += m * y[i] * next[i];
            lower += m * next[i] * next[i];
        }
        square = upper / lower;
        for (int i = 0; i < POINTS; i++) y[i] = next[i] / place;
    }
    return sqrt(square);
}

static double error_of(double value, double right)
{
    return fabs(value / right - 1);
}

/* ---- straight fibres ---- */

/* Hair, bristles, rubber, and a rod that twists easily [Pa]. */
static const double moduli[][2] = {{3.6e9, 1e9}, {3.2e10, 1e9}, {1e7, 4e6}, {1e10, 1e7}};

/* Length, diameter at the root and at the tip [m]; 0: as at the root. */
static const double shapes[][3] = {
    {0.3, 4e-5, 0}, {0.3, 1.2e-4, 0}, {1, 0.01, 0}, {0.3, 9e-5, 4e-5}, {1, 0.005, 0.01}};

static tw_fibres shape_of(int m, int s, int segments)
{
    tw_fibres shape = tw_fibres_default();
    shape.youngs_modulus = moduli[m][0];
    shape.shear_modulus = moduli[m][1];
    shape.length = shapes[s][0];
    shape.thickness = shapes[s][1];
    shape.tip_thickness = shapes[s][2];
    shape.segments = segments;
    return shape;
}

START_TEST(a_fibre_is_a_slender_rod)
{
    static const int segments[] = {8, 16, 64};
    for (int m = 0; m < 4; m++)
        for (int s = 0; s < 5; s++)
            for (int k = 0; k < 3; k++) {
                fibre f = fibre_of(shape_of(m, s, segments[k]));
                double extension = deflection(&f, 0) / theory_deflection(&f.shape, 0);
                double angle = twist(&f) / theory_twist(&f.shape);
                ck_assert_double_eq_tol(extension, 1, 2e-3);
                ck_assert_double_eq_tol(angle, 1, 1e-3);
                for (int axis = 1; axis < 3; axis++) {
                    double bending = deflection(&f, axis) / theory_deflection(&f.shape, axis);
                    ck_assert_double_eq_tol(bending, 1, 0.05);
                }
                double frequency = first_frequency(&f) / theory_frequency(&f.shape);
                ck_assert_double_eq_tol(frequency, 1, 0.05);
                fibre_free(&f);
            }
}
END_TEST

/* Four segments are few: 4 % in bending, 7 % in frequency. */
START_TEST(four_segments_are_nearly_a_rod)
{
    for (int m = 0; m < 4; m++) {
        fibre f = fibre_of(shape_of(m, 0, 4));
        ck_assert_double_lt(error_of(deflection(&f, 0), theory_deflection(&f.shape, 0)), 1e-3);
        ck_assert_double_lt(error_of(deflection(&f, 1), theory_deflection(&f.shape, 1)), 0.04);
        ck_assert_double_lt(error_of(first_frequency(&f), theory_frequency(&f.shape)), 0.07);
        fibre_free(&f);
    }
}
END_TEST

/* The oracle itself: 1.8751^2 sqrt(E I / (m L^4)) of a uniform beam. */
START_TEST(the_theory_of_the_frequency_is_right)
{
    tw_fibres shape = tw_fibres_default();
    double I = PI * pow(shape.thickness, 4) / 64, area = PI * shape.thickness * shape.thickness / 4;
    double root = 1.8751040687119611; /* of cos b cosh b = -1 */
    double right = root * root *
                   sqrt(shape.youngs_modulus * I / (shape.density * area * pow(shape.length, 4)));
    ck_assert_double_lt(error_of(theory_frequency(&shape), right), 1e-5);
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

START_TEST(a_tapered_fibre_has_the_mass_of_a_cone)
{
    tw_fibres shape = tw_fibres_default();
    shape.tip_thickness = 4e-5;
    shape.segments = 16;
    fibre f = fibre_of(shape);

    /* The root section is held, and half a segment with it. */
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

int main(void)
{
    Suite *suite = suite_create("fibre_rods");
    TCase *cases = tcase_create("fibre_rods");
    tcase_set_timeout(cases, 120);
    tcase_add_test(cases, a_fibre_is_a_slender_rod);
    tcase_add_test(cases, four_segments_are_nearly_a_rod);
    tcase_add_test(cases, the_theory_of_the_frequency_is_right);
    tcase_add_test(cases, a_fibre_converges_with_its_segments);
    tcase_add_test(cases, a_tapered_fibre_has_the_mass_of_a_cone);
    tcase_add_test(cases, arcs_and_helices_have_the_stiffness_of_a_curved_rod);
    tcase_add_test(cases, a_helix_keeps_its_shape);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
