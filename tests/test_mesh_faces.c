/* The faces of a surface as its file has them: polygons, texture coordinates, groups and materials. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <twang/twang.h>

#include "support/failing_allocator.h"
#include "support/run_suite.h"
#include "support/temporary_folder.h"

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "wb");
    ck_assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void load(const char *name, const char *text, tw_mesh *mesh)
{
    tw_error error = {0};
    test_enter_temporary_folder();
    write_file(name, text);
    ck_assert_msg(tw_mesh_load(name, mesh, NULL, &error) == TW_OK, "%s", error.text);
    test_leave_temporary_folder();
    ck_assert_msg(tw_mesh_check(mesh, &error) == TW_OK, "%s", error.text);
}

#define CORNERS "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\n"

/* A triangle before the first quadrangle, a corner without a texture coordinate, numbers from the end, names with
 * blanks and signs, a joined line, Windows' line ends, a vertex and a texture coordinate that nothing uses. */
static const char textured[] = "# comment\nmtllib a b.mtl\r\no The Thing\n" CORNERS "v 9 9 9\n"
                               "vt 0 0\nvt 1 0 0\nvt 1 1\nvt .25\nvn 0 0 1\n"
                               "f 1 2 3\n"
                               "g one two\nusemtl fur#2   \nf 1/1/1 2/2/1 3/3/1 4/-2/1\n"
                               "s \\\n1\nf -2//1 2//1 3//1\nl 1 5 4\n"
                               "usemtl \xc3\xa4\nf 1/1 2 5/2\nbevel on\n";

static void check_numbers(const int64_t *found, const int64_t *expected, int count)
{
    for (int i = 0; i < count; i++)
        ck_assert_msg(found[i] == expected[i], "%d: %lld instead of %lld", i, (long long)found[i],
                      (long long)expected[i]);
}

static void check_textured(const tw_mesh *mesh)
{
    const tw_mesh_faces *f = &mesh->faces;
    ck_assert_int_eq(mesh->vertex_count, 6);
    ck_assert_int_eq(mesh->triangle_count, 5);
    ck_assert_int_eq(mesh->edge_count, 2);
    check_numbers(mesh->triangles, (int64_t[]){0, 1, 2, 0, 1, 2, 0, 2, 3, 4, 1, 2, 0, 1, 4}, 15);
    ck_assert_int_eq(f->count, 4);
    check_numbers(f->start, (int64_t[]){0, 3, 7, 10, 13}, 5);
    check_numbers(f->corners, (int64_t[]){0, 1, 2, 0, 1, 2, 3, 4, 1, 2, 0, 1, 4}, 13);
    check_numbers(f->corner_texture, (int64_t[]){-1, -1, -1, 0, 1, 2, 2, -1, -1, -1, 0, -1, 1}, 13);
    ck_assert_int_eq(f->texture_count, 4);
    ck_assert(f->texture[2] == 1.0 && f->texture[3] == 0.0 && f->texture[6] == 0.25 &&
              f->texture[7] == 0.0);
    ck_assert_int_eq(f->statement_count, 7);
    check_numbers(f->statement_face, (int64_t[]){-1, -1, 1, 1, 2, 3, 4}, 7);
    static const char *const lines[] = {"mtllib a b.mtl", "o The Thing", "g one two",
                                        "usemtl fur#2",   "s   1",       "usemtl \xc3\xa4",
                                        "bevel on"};
    int64_t begin = 0;
    for (int i = 0; i < 7; i++) {
        int64_t size = f->statement_end[i] - begin;
        ck_assert_msg(size == (int64_t)strlen(lines[i]) &&
                          !memcmp(f->statements + begin, lines[i], (size_t)size),
                      "'%.*s' instead of '%s'", (int)size, f->statements + begin, lines[i]);
        begin = f->statement_end[i];
    }
}

START_TEST(an_obj_keeps_polygons_textures_and_materials)
{
    tw_mesh mesh, copy;
    load("a.obj", textured, &mesh);
    check_textured(&mesh);
    ck_assert_int_eq(tw_mesh_copy(&mesh, &copy, NULL), TW_OK);
    tw_mesh_free(&mesh);
    check_textured(&copy);
    tw_mesh_repairs repairs;
    ck_assert_int_eq(tw_mesh_repair(&copy, &repairs, NULL),
                     TW_OK); /* the numbers are others then */
    ck_assert_int_eq(repairs.dropped_vertices, 1);
    ck_assert_int_eq(copy.faces.count + copy.faces.texture_count + copy.faces.statement_count, 0);
    tw_mesh_free(&copy);
    tw_mesh_forget_faces(NULL);
}
END_TEST

START_TEST(plain_triangles_are_kept_once)
{
    tw_mesh mesh;
    load("a.obj", "g all\n" CORNERS "vt 0 0\nf 1 2 3\nusemtl x\nf 1//1 2//2 3//3\n", &mesh);
    ck_assert_int_eq(mesh.faces.count, 0);
    ck_assert_ptr_null(mesh.faces.start);
    ck_assert_int_eq(mesh.faces.texture_count, 1);
    ck_assert_ptr_null(mesh.faces.corner_texture);
    check_numbers(mesh.faces.statement_face, (int64_t[]){-1, 1}, 2);
    tw_mesh_free(&mesh);
}
END_TEST

START_TEST(other_formats_keep_polygons)
{
    static const struct {
        const char *name, *text;
    } files[] = {
        {"a.ply", "ply\nformat ascii 1.0\nelement vertex 5\nproperty float x\nproperty float "
                  "y\nproperty float z\n"
                  "element face 2\nproperty list uchar int vertex_indices\nend_header\n"
                  "0 0 0\n1 0 0\n1 1 0\n0 1 0\n0 0 1\n3 0 1 4\n4 0 1 2 3\n"},
        {"a.vtk", "# vtk DataFile Version 3.0\na\nASCII\nDATASET POLYDATA\nPOINTS 5 float\n"
                  "0 0 0 1 0 0 1 1 0 0 1 0 0 0 1\nPOLYGONS 2 9\n3 0 1 4\n4 0 1 2 3\n"},
        {"a.mesh", "MeshVersionFormatted 2\nDimension 3\nVertices\n5\n0 0 0 0\n1 0 0 0\n1 1 0 0\n0 "
                   "1 0 0\n0 0 1 0\n"
                   "Triangles\n1\n1 2 5 0\nQuadrilaterals\n1\n1 2 3 4 0\nEnd\n"},
        {"a.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 1 1 0\n4 0 "
                  "1 0\n5 0 0 1\n"
                  "$EndNodes\n$Elements\n2\n1 2 2 0 1 1 2 5\n2 3 2 0 1 1 2 3 4\n$EndElements\n"},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        tw_mesh mesh;
        load(files[i].name, files[i].text, &mesh);
        check_numbers(mesh.triangles, (int64_t[]){0, 1, 4, 0, 1, 2, 0, 2, 3}, 9);
        ck_assert_int_eq(mesh.faces.count, 2);
        check_numbers(mesh.faces.start, (int64_t[]){0, 3, 7}, 3);
        check_numbers(mesh.faces.corners, (int64_t[]){0, 1, 4, 0, 1, 2, 3}, 7);
        ck_assert_ptr_null(mesh.faces.corner_texture);
        tw_mesh_free(&mesh);
    }
}
END_TEST

START_TEST(wrong_faces_are_refused)
{
    tw_mesh mesh;
    tw_error error = {0};
    load("a.obj", textured, &mesh);
    const struct {
        int64_t *place, value;
        const char *text;
    } faults[] = {
        {&mesh.faces.start[0], 1, "face 0 of the mesh has no three corners"},
        {&mesh.faces.start[2], 5, "face 1 of the mesh has no three corners"},
        {&mesh.faces.corners[12], 6, "face 3 of the mesh has vertex 6, there are 6"},
        {&mesh.faces.corner_texture[3], 4,
         "corner 3 of the mesh has texture coordinate 4, there are 4"},
        {&mesh.faces.corner_texture[0], -2,
         "corner 0 of the mesh has texture coordinate -2, there are 4"},
        {&mesh.faces.statement_face[0], -2,
         "statement 0 between the faces of the mesh is out of order"},
        {&mesh.faces.statement_face[3], 0,
         "statement 3 between the faces of the mesh is out of order"},
        {&mesh.faces.statement_face[6], 5,
         "statement 6 between the faces of the mesh is out of order"},
        {&mesh.faces.statement_end[2], 1,
         "statement 2 between the faces of the mesh is out of order"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        int64_t kept = *faults[i].place;
        *faults[i].place = faults[i].value;
        ck_assert_int_eq(tw_mesh_check(&mesh, &error), TW_INVALID_ARGUMENT);
        ck_assert_str_eq(error.text, faults[i].text);
        *faults[i].place = kept;
    }
    mesh.faces.texture[5] = NAN;
    ck_assert_int_eq(tw_mesh_check(&mesh, &error), TW_NOT_FINITE);
    ck_assert_str_eq(error.text, "texture coordinate 2 of the mesh is not finite");
    tw_mesh_free(&mesh);
}
END_TEST

static tw_status load_and_copy(void *context)
{
    tw_mesh mesh = {0}, copy = {0};
    tw_status status = tw_mesh_load(context, &mesh, NULL, NULL);
    if (status == TW_OK) status = tw_mesh_copy(&mesh, &copy, NULL);
    tw_mesh_free(&mesh);
    tw_mesh_free(&copy);
    return status;
}

START_TEST(every_allocation_may_fail)
{
    test_enter_temporary_folder();
    write_file("a.obj", textured);
    ck_assert_int_ge(test_fail_each_allocation(load_and_copy, "a.obj"), 24);
    test_leave_temporary_folder();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mesh faces");
    TCase *tests = tcase_create("mesh faces");
    tcase_add_test(tests, an_obj_keeps_polygons_textures_and_materials);
    tcase_add_test(tests, plain_triangles_are_kept_once);
    tcase_add_test(tests, other_formats_keep_polygons);
    tcase_add_test(tests, wrong_faces_are_refused);
    tcase_add_test(tests, every_allocation_may_fail);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
