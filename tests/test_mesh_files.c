/* The readers against files of other programs (tests/meshes), round trips, and broken files (tests/bad_meshes). */
#include <ctype.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <twang/twang.h>

#include "support/comma_locale.h"
#include "support/failing_allocator.h"
#include "support/run_suite.h"
#include "support/temporary_folder.h"

static const char *fixture(const char *name)
{
    static char path[1200];
    snprintf(path, sizeof path, "%s/tests/meshes/%s", getenv("TWANG_SOURCE"), name);
    return path;
}

/* The box [0, 1] x [0, 2] x [0, 3], whatever wrote it. */
static void check_box(const tw_mesh *mesh)
{
    double lower[3], upper[3];
    ck_assert_int_eq(tw_mesh_check(mesh, NULL), TW_OK);
    tw_mesh_bounds(mesh, lower, upper);
    for (int k = 0; k < 3; k++) {
        ck_assert_double_eq_tol(lower[k], 0.0, 1e-9);
        ck_assert_double_eq_tol(upper[k], k + 1.0, 1e-9);
    }
    ck_assert_double_eq_tol(tw_mesh_volume(mesh), 6.0, 1e-6);
}

typedef struct file_case {
    const char *name;
    int64_t vertices, triangles, tetrahedra; /* after repairs */
    int64_t lower, flipped, dropped;         /* repairs */
} file_case;

/* Gmsh leaves the extruded side of the box inside out: 8 triangles are to be turned. */
static const file_case cases[] = {
    {"gmsh_22.msh", 40, 0, 88, 100, 0, 0},
    {"gmsh_22_binary.msh", 40, 0, 88, 100, 0, 0},
    {"gmsh_41.msh", 40, 0, 88, 100, 0, 0},
    {"gmsh_41_binary.msh", 40, 0, 88, 100, 0, 0},
    {"gmsh_second_order.msh", 40, 0, 88, 100, 0, 165},
    {"gmsh_grid.vtk", 40, 0, 88, 100, 0, 0},
    {"gmsh_medit.mesh", 40, 0, 88, 100, 0, 0},
    {"gmsh_text.stl", 40, 76, 0, 0, 8, 0},
    {"gmsh_binary.stl", 40, 76, 0, 0, 8, 0},
    {"meshio_41.msh", 40, 0, 88, 0, 0, 0},
    {"meshio_41_binary.msh", 40, 0, 88, 0, 0, 0},
    {"meshio_grid.vtk", 40, 0, 88, 0, 0, 0},
    {"meshio_grid_text.vtk", 40, 0, 88, 0, 0, 0},
    {"meshio_grid_42.vtk", 40, 0, 88, 0, 0, 0},
    {"meshio_medit.mesh", 40, 0, 88, 0, 0, 0},
    {"meshio_solid.node", 40, 0, 88, 0, 0, 0},
    {"meshio_solid.ele", 40, 0, 88, 0, 0, 0},
    {"meshio_little.ply", 40, 76, 0, 0, 8, 0},
    {"meshio_text.ply", 40, 76, 0, 0, 8, 0},
    {"meshio_surface.obj", 40, 76, 0, 0, 8, 0},
    {"meshio_binary.stl", 40, 76, 0, 0, 8, 0},
    {"numpy_big.ply", 40, 76, 0, 0, 8, 0},
    {"numpy_poly.vtk", 8, 12, 0, 0, 0, 0},
    {"numpy_poly_text.vtk", 8, 12, 0, 0, 0, 0},
    {"tetgen_one.ele", 36, 0, 46, 0, 0, 0},
    {"tetgen_zero.node", 36, 0, 46, 0, 0, 0},
};
enum { CASES = sizeof cases / sizeof cases[0] };

START_TEST(files_of_other_programs_are_read)
{
    const file_case *c = cases + _i;
    tw_mesh mesh;
    tw_mesh_repairs repairs;
    tw_error error = {0};
    ck_assert_msg(tw_mesh_load(fixture(c->name), &mesh, &repairs, &error) == TW_OK, "%s",
                  error.text);
    char text[200];
    ck_assert_msg(repairs.lower_cells == c->lower && repairs.flipped_cells == c->flipped &&
                      repairs.dropped_vertices == c->dropped && repairs.degenerate_cells == 0,
                  "%s: %s", c->name, tw_mesh_repairs_text(&repairs, text, sizeof text));
    ck_assert_int_eq(mesh.vertex_count, c->vertices);
    ck_assert_int_eq(mesh.triangle_count, c->triangles);
    ck_assert_int_eq(mesh.tetrahedron_count, c->tetrahedra);
    check_box(&mesh);
    tw_mesh_free(&mesh);
}
END_TEST

/* A fixture as editors and programs of other systems would have left it, under its suffix. */
typedef struct text_change {
    const char *name, *before;
    bool carriage_returns, capitals;
} text_change;

static void write_changed(const text_change *c, const char *path)
{
    FILE *in = fopen(fixture(c->name), "r"), *out = fopen(path, "w");
    ck_assert(in && out);
    fputs(c->before, out);
    for (int letter = fgetc(in); letter != EOF; letter = fgetc(in)) {
        if (letter == '\n' && c->carriage_returns) fputc('\r', out);
        fputc(c->capitals ? toupper(letter) : letter, out);
    }
    fclose(in);
    fclose(out);
}

START_TEST(marks_carriage_returns_and_capitals_are_read)
{
    static const char mark[] = "\xef\xbb\xbf";
    static const text_change changes[] = {
        {"meshio_surface.obj", mark, true, false},
        {"meshio_text.ply", mark, true, false},
        {"gmsh_text.stl", mark, true, false},
        {"gmsh_text.stl", "", false, true},
        {"gmsh_text.stl", "\n  ", false, true},
        {"gmsh_22.msh", mark, true, false},
        {"gmsh_41.msh", mark, true, false},
        {"gmsh_22.msh", "$Comments\n$ ours\n$EndComments\n", false, false},
        {"gmsh_grid.vtk", mark, true, false},
        {"gmsh_medit.mesh", mark, true, false}};
    test_enter_temporary_folder();
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char path[64];
        tw_mesh mesh;
        tw_mesh_repairs repairs;
        tw_error error = {0};
        snprintf(path, sizeof path, "changed%s", strrchr(changes[i].name, '.'));
        write_changed(&changes[i], path);
        ck_assert_msg(tw_mesh_load(path, &mesh, &repairs, &error) == TW_OK, "%zu: %s", i,
                      error.text);
        check_box(&mesh);
        tw_mesh_free(&mesh);
    }
}
END_TEST

START_TEST(what_is_written_is_read_back_bit_for_bit)
{
    static const char *const solids[] = {"out.node", "out.ele", "out.msh", "out.vtk", "out.mesh"};
    static const char *const surfaces[] = {"out.obj", "out.ply", "out.msh", "out.vtk", "out.mesh"};
    tw_mesh solid, surface, again;
    tw_mesh_repairs repairs;
    tw_error error = {0};
    ck_assert_int_eq(tw_mesh_load(fixture("tetgen_one.ele"), &solid, &repairs, NULL), TW_OK);
    ck_assert_int_eq(tw_mesh_load(fixture("meshio_surface.obj"), &surface, NULL, NULL), TW_OK);
    for (int64_t i = 0; i < 3 * solid.vertex_count; i++) solid.vertices[i] = sin((double)i) / 3.0;
    for (int64_t i = 0; i < 3 * surface.vertex_count; i++)
        surface.vertices[i] = 1e-7 * cos((double)i);
    test_enter_temporary_folder();
    for (int k = 0; k < 10; k++) {
        const tw_mesh *mesh = k < 5 ? &solid : &surface;
        const char *name = k < 5 ? solids[k] : surfaces[k - 5];
        ck_assert_msg(tw_mesh_save(name, mesh, &error) == TW_OK, "%s", error.text);
        ck_assert_msg(tw_mesh_load(name, &again, NULL, &error) == TW_OK, "%s", error.text);
        ck_assert_int_eq(again.vertex_count, mesh->vertex_count);
        ck_assert_int_eq(again.triangle_count, mesh->triangle_count);
        ck_assert_int_eq(again.tetrahedron_count, mesh->tetrahedron_count);
        ck_assert_mem_eq(again.vertices, mesh->vertices, (size_t)mesh->vertex_count * 24);
        if (k < 5)
            ck_assert_mem_eq(again.tetrahedra, mesh->tetrahedra,
                             (size_t)mesh->tetrahedron_count * 32);
        if (k >= 5)
            ck_assert_mem_eq(again.triangles, mesh->triangles, (size_t)mesh->triangle_count * 24);
        tw_mesh_free(&again);
    }
    test_leave_temporary_folder();
    tw_mesh_free(&solid);
    tw_mesh_free(&surface);
}
END_TEST

START_TEST(a_solid_is_saved_as_a_surface)
{
    tw_mesh solid, surface;
    tw_mesh_repairs repairs;
    ck_assert_int_eq(tw_mesh_load(fixture("gmsh_22.msh"), &solid, &repairs, NULL), TW_OK);
    test_enter_temporary_folder();
    ck_assert_int_eq(tw_mesh_save("surface.obj", &solid, NULL), TW_OK);
    ck_assert_int_eq(tw_mesh_load("surface.obj", &surface, NULL, NULL), TW_OK);
    check_box(&surface);
    ck_assert_int_eq(surface.triangle_count, 76);
    test_leave_temporary_folder();
    tw_mesh_free(&solid);
    tw_mesh_free(&surface);
}
END_TEST

START_TEST(saving_refuses_what_it_cannot)
{
    tw_mesh solid, surface;
    tw_mesh_repairs repairs;
    tw_error error = {0};
    ck_assert_int_eq(tw_mesh_load(fixture("gmsh_22.msh"), &solid, &repairs, NULL), TW_OK);
    ck_assert_int_eq(tw_mesh_load(fixture("meshio_surface.obj"), &surface, NULL, NULL), TW_OK);
    ck_assert_int_eq(tw_mesh_save("out.xyz", &solid, &error), TW_INVALID_ARGUMENT);
    ck_assert_str_eq(error.text, "out.xyz: unknown format, expected a name ending in .node, .ele, "
                                 ".msh, .vtk, .mesh, .obj or .ply");
    ck_assert_int_eq(tw_mesh_save("out.ele", &surface, &error), TW_INVALID_ARGUMENT);
    ck_assert_int_eq(tw_mesh_save("no/such/folder.vtk", &solid, &error), TW_INPUT_OUTPUT);
    ck_assert_int_eq(tw_mesh_save(NULL, &solid, &error), TW_INVALID_ARGUMENT);
    tw_mesh none;
    ck_assert_int_eq(tw_mesh_load("no/such.obj", &none, NULL, &error), TW_BAD_INPUT);
    ck_assert_str_eq(error.text, "no/such.obj: cannot be opened: No such file or directory");
    ck_assert_int_eq(error.status, TW_BAD_INPUT);
    tw_mesh_free(&solid);
    tw_mesh_free(&surface);
}
END_TEST

START_TEST(numbers_do_not_depend_on_the_locale)
{
    if (!test_enter_comma_locale()) return;
    for (int i = 0; i < CASES; i++) {
        tw_mesh mesh;
        tw_error error = {0};
        tw_mesh_repairs repairs;
        ck_assert_msg(tw_mesh_load(fixture(cases[i].name), &mesh, &repairs, &error) == TW_OK, "%s",
                      error.text);
        check_box(&mesh);
        tw_mesh_free(&mesh);
    }
    tw_mesh mesh;
    ck_assert_int_eq(tw_mesh_load(fixture("tetgen_one.ele"), &mesh, NULL, NULL), TW_OK);
    for (int64_t i = 0; i < 3 * mesh.vertex_count; i++) mesh.vertices[i] += 0.5;
    test_enter_temporary_folder();
    ck_assert_int_eq(tw_mesh_save("out.vtk", &mesh, NULL), TW_OK);
    tw_mesh again;
    ck_assert_int_eq(tw_mesh_load("out.vtk", &again, NULL, NULL), TW_OK);
    ck_assert_mem_eq(again.vertices, mesh.vertices, (size_t)mesh.vertex_count * 24);
    test_leave_temporary_folder();
    tw_mesh_free(&mesh);
    tw_mesh_free(&again);
}
END_TEST

/* ---- the folder of broken files: NAME and NAME.expected with the message after the path ---- */

static void check_broken_file(const char *folder, const char *name)
{
    char path[1400], sidecar[1500], expected[600] = "", full[2200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(sidecar, sizeof sidecar, "%s.expected", path);
    FILE *file = fopen(sidecar, "r");
    ck_assert_msg(file && fgets(expected, sizeof expected, file), "%s", sidecar);
    fclose(file);
    expected[strcspn(expected, "\n")] = '\0';
    snprintf(full, sizeof full, "%s:%s", path, expected);
    tw_mesh mesh;
    tw_error error = {0};
    tw_mesh_repairs repairs;
    ck_assert_msg(tw_mesh_load(path, &mesh, &repairs, &error) == TW_BAD_INPUT, "%s was not refused",
                  path);
    ck_assert_str_eq(error.text, full);
    ck_assert_int_eq(error.status, TW_BAD_INPUT);
    ck_assert_ptr_null(mesh.vertices);
}

START_TEST(every_broken_file_gets_its_message)
{
    char folder[1000];
    snprintf(folder, sizeof folder, "%s/tests/bad_meshes", getenv("TWANG_SOURCE"));
    DIR *directory = opendir(folder);
    ck_assert_ptr_nonnull(directory);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        size_t length = strlen(entry->d_name);
        if (length < 10 || strcmp(entry->d_name + length - 9, ".expected") != 0) continue;
        char name[300];
        snprintf(name, sizeof name, "%.*s", (int)length - 9, entry->d_name);
        check_broken_file(folder, name);
        count++;
    }
    closedir(directory);
    ck_assert_int_ge(count, 30);
}
END_TEST

/* Every prefix of every file is read or refused, and leaves nothing behind (the sanitizers look on). */
START_TEST(cut_files_do_no_harm)
{
    char *bytes = malloc(65536);
    ck_assert_ptr_nonnull(bytes);
    FILE *file = fopen(fixture(cases[_i].name), "rb");
    ck_assert_ptr_nonnull(file);
    size_t size = fread(bytes, 1, 65536, file), step = size / 97 + 1;
    fclose(file);
    const char *suffix = strrchr(cases[_i].name, '.');
    test_enter_temporary_folder();
    char name[64];
    snprintf(name, sizeof name, "cut%s", suffix);
    for (size_t cut = 0; cut < size; cut += step) {
        FILE *out = fopen(name, "wb");
        ck_assert(out && fwrite(bytes, 1, cut, out) == cut && fclose(out) == 0);
        tw_mesh mesh;
        tw_error error = {0};
        tw_mesh_repairs repairs;
        tw_status status = tw_mesh_load(name, &mesh, &repairs, &error);
        ck_assert_msg(status == TW_OK || status == TW_BAD_INPUT, "%s", error.text);
        ck_assert(status == TW_OK || strncmp(error.text, "cut.", 4) == 0);
        tw_mesh_free(&mesh);
    }
    test_leave_temporary_folder();
    free(bytes);
}
END_TEST

static tw_status load_repaired(void *context)
{
    tw_mesh mesh;
    tw_mesh_repairs repairs;
    tw_status status = tw_mesh_load(context, &mesh, &repairs, NULL);
    tw_mesh_free(&mesh);
    return status;
}

static tw_status save_everything(void *context)
{
    tw_status status = tw_mesh_save("out.obj", context, NULL);
    return status == TW_OK ? tw_mesh_save("out.ele", context, NULL) : status;
}

START_TEST(every_allocation_may_fail)
{
    static const char *const names[] = {"gmsh_41.msh", "gmsh_text.stl", "meshio_grid.vtk",
                                        "meshio_little.ply"};
    for (int i = 0; i < 4; i++) {
        char path[1200];
        snprintf(path, sizeof path, "%s", fixture(names[i]));
        ck_assert_int_ge(test_fail_each_allocation(load_repaired, path), 8);
    }
    tw_mesh solid;
    ck_assert_int_eq(tw_mesh_load(fixture("tetgen_zero.ele"), &solid, NULL, NULL), TW_OK);
    test_enter_temporary_folder();
    ck_assert_int_ge(test_fail_each_allocation(save_everything, &solid), 8);
    test_leave_temporary_folder();
    tw_mesh_free(&solid);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mesh files");
    TCase *tests = tcase_create("mesh files");
    tcase_add_loop_test(tests, files_of_other_programs_are_read, 0, CASES);
    tcase_add_test(tests, marks_carriage_returns_and_capitals_are_read);
    tcase_add_test(tests, what_is_written_is_read_back_bit_for_bit);
    tcase_add_test(tests, a_solid_is_saved_as_a_surface);
    tcase_add_test(tests, saving_refuses_what_it_cannot);
    tcase_add_test(tests, numbers_do_not_depend_on_the_locale);
    tcase_add_test(tests, every_broken_file_gets_its_message);
    tcase_add_loop_test(tests, cut_files_do_no_harm, 0, CASES);
    tcase_add_test(tests, every_allocation_may_fail);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
