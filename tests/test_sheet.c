/* Sheets from a file: particles, springs, mass, the surface of the file, and groups of the file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <twang/twang.h>

#include "mesh/bodies.h"
#include "support/run_suite.h"
#include "support/temporary_folder.h"

/* A grid of COLUMNS x ROWS quadrangles of one metre, in two halves that meet at a seam: the vertices
 * of column SEAM are in the file twice. One vertex belongs to no face. */
enum { COLUMNS = 4, ROWS = 3, SEAM = 2 };

static int corner(int half, int column, int row)
{
    int first = half == 0 ? 0 : (SEAM + 1) * (ROWS + 1);
    int begin = half == 0 ? 0 : SEAM;
    return 1 + first + (column - begin) * (ROWS + 1) + row;
}

static void write_half(FILE *file, int half, const char *kind)
{
    int begin = half == 0 ? 0 : SEAM;
    int end = half == 0 ? SEAM : COLUMNS;
    for (int c = begin; kind[0] == 'v' && c <= end; c++)
        for (int r = 0; r <= ROWS; r++) fprintf(file, "v %d 0 %d\n", c, r);
    if (kind[0] == 'v') return;

    for (int c = begin; c < end; c++)
        for (int r = 0; r < ROWS; r++) {
            int a = corner(half, c, r);
            int b = corner(half, c + 1, r);
            if (strcmp(kind, "quadrangles") == 0)
                fprintf(file, "f %d %d %d %d\n", a, b, b + 1, a + 1);
            else
                fprintf(file, "f %d %d %d\nf %d %d %d\n", a, b, b + 1, a, b + 1, a + 1);
        }
}

static void write_sheet(const char *kind)
{
    FILE *file = fopen("sheet.obj", "w");
    ck_assert_ptr_nonnull(file);
    fputs("o coat\n", file);
    write_half(file, 0, "v");
    write_half(file, 1, "v");
    fputs("v 9 9 9\ng left both\n", file);
    write_half(file, 0, kind);
    fputs("g right both\nusemtl red\n", file);
    write_half(file, 1, kind);
    ck_assert_int_eq(fclose(file), 0);
}

static tw_status build(const char *rest, tw_simulation **out, tw_error *error)
{
    char text[1000];
    tw_scene *scene = NULL;
    snprintf(text, sizeof text,
             "name: x\nduration: 1\nintegrator: {step: 0.1}\nbodies:\n"
             "  - {kind: sheet, file: sheet.obj, density: 2, stiffness: 10, bending: 1}\n%s",
             rest);
    tw_status status = tw_scene_parse("test.yaml", text, strlen(text), 0, NULL, &scene, error);
    if (status == TW_OK) status = tw_scene_build(scene, out, error);
    tw_scene_free(scene);
    return status;
}

static tw_simulation_summary summary_of(const char *rest)
{
    tw_simulation *simulation = NULL;
    tw_error error = {0};
    ck_assert_msg(build(rest, &simulation, &error) == TW_OK, "%s", error.text);
    tw_simulation_summary summary = tw_simulation_summarise(simulation);
    tw_simulation_free(simulation);
    return summary;
}

START_TEST(a_seam_is_closed_and_every_edge_has_its_spring)
{
    int particles = (COLUMNS + 1) * (ROWS + 1);
    int along = COLUMNS * (ROWS + 1) + (COLUMNS + 1) * ROWS;
    int inner = along - 2 * (COLUMNS + ROWS);
    int cells = COLUMNS * ROWS;

    /* Quadrangles: their sides, two diagonals each, one spring over each inner side. */
    test_enter_temporary_folder();
    write_sheet("quadrangles");
    tw_simulation_summary quadrangles = summary_of("");
    ck_assert_int_eq(quadrangles.particles, particles);
    ck_assert_int_eq(quadrangles.springs, along + 2 * cells + inner);
    ck_assert_double_eq_tol(quadrangles.mass, 2.0 * cells, 1e-12);

    /* Triangles: the diagonal is a side like the others, and one spring goes over it. */
    write_sheet("triangles");
    tw_simulation_summary triangles = summary_of("");
    ck_assert_int_eq(triangles.particles, particles);
    ck_assert_int_eq(triangles.springs, along + cells + (inner + cells));
    test_leave_temporary_folder();
}
END_TEST

START_TEST(groups_and_objects_select_what_carries_them)
{
    test_enter_temporary_folder();
    write_sheet("quadrangles");
    ck_assert_int_eq(summary_of("pins: [{group: left}]\n").pinned, (SEAM + 1) * (ROWS + 1));
    ck_assert_int_eq(summary_of("pins: [{group: right}]\n").pinned,
                     (COLUMNS - SEAM + 1) * (ROWS + 1));

    /* `both` and `coat` are everything, so that nothing is left to move. */
    const char *all[] = {"pins: [{group: both}]\n", "pins: [{group: coat}]\n"};
    for (int i = 0; i < 2; i++) {
        tw_simulation *simulation = NULL;
        tw_error error = {0};
        ck_assert_int_eq(build(all[i], &simulation, &error), TW_BAD_INPUT);
        ck_assert_ptr_nonnull(strstr(error.text, "hold every particle"));
    }
    test_leave_temporary_folder();
}
END_TEST

START_TEST(a_group_that_is_not_there_is_told_with_those_that_are)
{
    test_enter_temporary_folder();
    write_sheet("quadrangles");
    tw_simulation *simulation = NULL;
    tw_error error = {0};
    ck_assert_int_eq(build("pins: [{group: lef}]\n", &simulation, &error), TW_BAD_INPUT);
    ck_assert_str_eq(error.text, "test.yaml:6:16: pins.0.group is 'lef', which bodies.0 does not "
                                 "have; its file has: coat, left both, right both");
    test_leave_temporary_folder();
}
END_TEST

/* The groups of a surface that is filled with tetrahedra: the particles on it. */
START_TEST(a_group_of_a_solid_is_a_part_of_its_surface)
{
    test_enter_temporary_folder();
    FILE *file = fopen("sheet.obj", "w");
    ck_assert_ptr_nonnull(file);
    for (int i = 0; i < 8; i++) fprintf(file, "v %d %d %d\n", i & 1, i >> 1 & 1, i >> 2);
    fputs("g sides\nf 1 2 6 5\nf 2 4 8 6\nf 4 3 7 8\nf 3 1 5 7\nf 5 6 8 7\ng floor\nf 1 3 4 2\n",
          file);
    ck_assert_int_eq(fclose(file), 0);

    const char text[] = "name: x\nduration: 1\nintegrator: {step: 0.1}\nbodies:\n  - {kind: mesh, "
                        "file: sheet.obj, vertices: 200, mass: 1, stiffness: 10}\n"
                        "pins: [{group: floor}]\n";
    tw_scene *scene = NULL;
    tw_simulation *simulation = NULL;
    tw_error error = {0};
    ck_assert_msg(tw_scene_parse("t.yaml", text, strlen(text), 0, NULL, &scene, &error) == TW_OK,
                  "%s", error.text);
    ck_assert_msg(tw_scene_build(scene, &simulation, &error) == TW_OK, "%s", error.text);

    /* The floor is the lower side of the cube. Its particles are at z = 0, at the cube's edges within
     * 0.01; the next layer of the lattice is at 0.087. */
    tw_simulation_summary summary = tw_simulation_summarise(simulation);
    int64_t rows = tw_simulation_row_count(simulation);
    double *row = malloc((size_t)rows * 6 * sizeof *row);
    ck_assert_ptr_nonnull(row);
    ck_assert_int_eq(tw_simulation_rows(simulation, 0, tw_simulation_start(simulation), row),
                     TW_OK);
    int64_t low = 0;
    for (int64_t i = 0; i < rows; i++) low += row[6 * i + 2] < 0.02;
    ck_assert_int_ge(low, 16);
    ck_assert_int_eq(summary.pinned, low);
    free(row);
    tw_simulation_free(simulation);
    tw_scene_free(scene);
    test_leave_temporary_folder();
}
END_TEST

START_TEST(every_vertex_of_the_file_has_its_particle)
{
    test_enter_temporary_folder();
    write_sheet("quadrangles");
    tw_mesh surface = {0};
    tw_mesh sheet = {0};
    tw_error error = {0};
    tw_mesh_repairs repairs = {0};
    ck_assert_int_eq(tw_mesh_load("sheet.obj", &surface, NULL, &error), TW_OK);
    ck_assert_int_eq(tw_mesh_load("sheet.obj", &sheet, &repairs, &error), TW_OK);
    ck_assert_int_eq(repairs.merged_vertices, ROWS + 1);
    ck_assert_int_eq(repairs.dropped_vertices, 1);

    int64_t *map = NULL;
    ck_assert_int_eq(tw_sheet_map(&sheet, &surface, &map, &error), TW_OK);
    for (int64_t i = 0; i + 1 < surface.vertex_count; i++)
        for (int k = 0; k < 3; k++)
            ck_assert_double_eq(surface.vertices[3 * i + k], sheet.vertices[3 * map[i] + k]);

    tw_mesh_free_indices(map);
    tw_mesh_free(&surface);
    tw_mesh_free(&sheet);
    test_leave_temporary_folder();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("sheet");
    TCase *cases = tcase_create("sheet");
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, a_seam_is_closed_and_every_edge_has_its_spring);
    tcase_add_test(cases, groups_and_objects_select_what_carries_them);
    tcase_add_test(cases, a_group_that_is_not_there_is_told_with_those_that_are);
    tcase_add_test(cases, a_group_of_a_solid_is_a_part_of_its_surface);
    tcase_add_test(cases, every_vertex_of_the_file_has_its_particle);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
