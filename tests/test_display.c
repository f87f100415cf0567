/* What bodies look like: the boundary of tetrahedra, checked copies, and memory that runs out. */
#include <math.h>
#include <twang/twang.h>

#include "support/failing_allocator.h"
#include "support/run_suite.h"

/* A cube of 2 x 2 x 2 cells, each cut into six tetrahedra around its diagonal (Kuhn). */
enum { SIDE = 3, CORNERS = SIDE * SIDE * SIDE, TETRAHEDRA = 8 * 6 };
static double positions[3 * CORNERS], masses[CORNERS];
static int64_t tetrahedra[4 * TETRAHEDRA];

static int64_t corner(int a, int b, int c)
{
    return a + SIDE * b + SIDE * SIDE * c;
}

static void fill_cube(void)
{
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                     {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int64_t i = 0; i < CORNERS; i++) {
        const int64_t place[3] = {i % 3, i / 3 % 3, i / 9};
        for (int k = 0; k < 3; k++) positions[3 * i + k] = (double)place[k];
        masses[i] = 1.0;
    }
    int64_t *t = tetrahedra;
    for (int cell = 0; cell < 8; cell++)
        for (int o = 0; o < 6; o++) {
            int at[3] = {cell % 2, cell / 2 % 2, cell / 4};
            *t++ = corner(at[0], at[1], at[2]);
            for (int step = 0; step < 3; step++) {
                at[orders[o][step]]++;
                *t++ = corner(at[0], at[1], at[2]);
            }
        }
}

static tw_model *cube_model(void)
{
    fill_cube();
    tw_model *model = NULL;
    ck_assert_int_eq(tw_model_create(&model, NULL), TW_OK);
    ck_assert_int_eq(tw_model_add_particles(model, CORNERS, positions, NULL, masses, NULL, NULL),
                     TW_OK);
    return model;
}

static tw_display cube_display(void)
{
    return (tw_display){.name = "cube",
                        .count = CORNERS,
                        .tetrahedron_count = TETRAHEDRA,
                        .tetrahedra = tetrahedra};
}

START_TEST(the_boundary_of_a_cube_is_its_surface_turned_outward)
{
    tw_model *model = cube_model();
    tw_display given = cube_display();
    tw_simulation *simulation = NULL;
    tw_error error = {0};
    ck_assert_int_eq(tw_model_add_display(model, &given, &error), TW_OK);
    ck_assert_int_eq(tw_simulation_of_model(model, &simulation, &error), TW_OK);
    ck_assert_int_eq(tw_simulation_display_count(simulation), 1);
    ck_assert_ptr_null(tw_simulation_display(simulation, 1));
    const tw_display *d = tw_simulation_display(simulation, 0);
    ck_assert_str_eq(d->name, "cube");
    ck_assert_int_eq(d->triangle_count, 6 * 4 * 2);
    double area = 0.0;
    for (int64_t i = 0; i < d->triangle_count; i++) {
        const double *p[3];
        for (int k = 0; k < 3; k++) p[k] = positions + 3 * d->triangles[3 * i + k];
        double u[3], v[3], n[3], centre[3];
        for (int k = 0; k < 3; k++) {
            u[k] = p[1][k] - p[0][k];
            v[k] = p[2][k] - p[0][k];
            centre[k] = (p[0][k] + p[1][k] + p[2][k]) / 3.0 - 1.0; /* from the middle of the cube */
        }
        for (int k = 0; k < 3; k++)
            n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
        area += 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        ck_assert_double_gt(n[0] * centre[0] + n[1] * centre[1] + n[2] * centre[2], 0.0);
    }
    ck_assert_double_eq_tol(area, 24.0, 1e-12);
    tw_simulation_free(simulation);
}
END_TEST

START_TEST(what_cannot_be_shown_is_refused)
{
    tw_model *model = cube_model();
    static const int64_t outside[] = {0, CORNERS, 0, 0}, inside[] = {0, 1, 2, 3},
                         face[] = {0, 0, 0}, far[] = {0, 0, 1};
    static const int64_t short_face[] = {0, 2}, two[] = {2, 2}, falling[] = {1, 0};
    static const double weights[] = {0.25, 0.25, 0.25, 0.25}, heavy[] = {1, 1, 0, 0},
                        no_number[] = {NAN, 0, 0, 1};
#define ONE_VERTEX                                                                                 \
    .vertex_count = 1, .face_count = 1, .carriers = inside, .weights = weights, .corners = face
    const tw_display wrong[] = {
        {.first = 1, .count = CORNERS},
        {.first = -1},
        {.edge_count = 1},
        {.edge_count = 1, .edges = outside},
        {.edge_count = -1, .edges = inside},
        {.triangle_count = 1, .triangles = outside},
        {.tetrahedron_count = 1, .tetrahedra = outside},
        {.radius = -1.0},
        {.radius = NAN},
        {.surface = {.vertex_count = -1}},
        {.surface = {.vertex_count = 1}},
        {.surface = {.vertex_count = 1,
                     .face_count = 1,
                     .carriers = outside,
                     .weights = weights,
                     .corners = face}},
        {.surface = {.vertex_count = 1,
                     .face_count = 1,
                     .carriers = inside,
                     .weights = heavy,
                     .corners = face}},
        {.surface = {.vertex_count = 1,
                     .face_count = 1,
                     .carriers = inside,
                     .weights = no_number,
                     .corners = face}},
        {.surface = {.vertex_count = 1,
                     .face_count = 1,
                     .carriers = inside,
                     .weights = weights,
                     .corners = far}},
        {.surface = {ONE_VERTEX, .face_start = short_face}},
        {.surface = {ONE_VERTEX, .texture_count = 1}},
        {.surface = {ONE_VERTEX, .texture_count = 1, .texture = weights, .corner_texture = far}},
        {.surface = {ONE_VERTEX, .corner_texture = face}},
        {.surface = {ONE_VERTEX, .edge_count = -1}},
        {.surface = {ONE_VERTEX, .edge_count = 1}},
        {.surface = {ONE_VERTEX, .edge_count = 1, .edges = two}},
        {.surface = {ONE_VERTEX, .statement_count = -1}},
        {.surface = {ONE_VERTEX, .statement_count = 1}},
        {.surface = {ONE_VERTEX, .statement_count = 1, .statement_face = two, .statement_end = two,
                     .statements = "s"}},
        {.surface = {ONE_VERTEX, .statement_count = 2, .statement_face = falling,
                     .statement_end = two, .statements = "s"}},
        {.surface = {ONE_VERTEX, .statement_count = 2, .statement_face = face,
                     .statement_end = falling, .statements = "s"}},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        tw_error error = {0};
        ck_assert_msg(tw_model_add_display(model, &wrong[i], &error) == TW_INVALID_ARGUMENT,
                      "case %zu", i);
        ck_assert_int_ne(error.text[0], '\0');
    }
    tw_display right = {
        .surface = {ONE_VERTEX, .texture_count = 1, .texture = weights, .corner_texture = face}};
    ck_assert_int_eq(tw_model_add_display(model, &right, NULL), TW_OK);
    tw_model_free(model);
}
END_TEST

static tw_status show_a_cube(void *context)
{
    (void)context;
    static const int64_t carriers[] = {0, 1, 2, 3}, corners[] = {0, 0, 0, 0}, start[] = {0, 4};
    static const double weights[] = {0.25, 0.25, 0.25, 0.25};
    tw_model *model = NULL;
    tw_status status = tw_model_create(&model, NULL);
    if (status == TW_OK)
        status = tw_model_add_particles(model, CORNERS, positions, NULL, masses, NULL, NULL);
    tw_display given = cube_display();
    given.surface = (tw_display_surface){.vertex_count = 1,
                                         .carriers = carriers,
                                         .weights = weights,
                                         .face_count = 1,
                                         .face_start = start,
                                         .corners = corners,
                                         .texture_count = 1,
                                         .texture = weights,
                                         .corner_texture = corners,
                                         .edge_count = 1,
                                         .edges = corners,
                                         .statement_count = 1,
                                         .statement_face = corners,
                                         .statement_end = start + 1,
                                         .statements = "g me"};
    if (status == TW_OK) status = tw_model_add_display(model, &given, NULL);
    tw_model_free(model);
    return status;
}

START_TEST(memory_may_run_out_anywhere)
{
    fill_cube();
    ck_assert_int_gt(test_fail_each_allocation(show_a_cube, NULL), 16);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("display");
    TCase *cases = tcase_create("display");
    tcase_add_test(cases, the_boundary_of_a_cube_is_its_surface_turned_outward);
    tcase_add_test(cases, what_cannot_be_shown_is_refused);
    tcase_add_test(cases, memory_may_run_out_anywhere);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
