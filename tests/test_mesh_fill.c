/* The lattice mesher: winding numbers, angles whatever the cuts are, and the promises of docs/meshes.md on closed,
 * open, self-intersecting and thin surfaces. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <twang/twang.h>

#include "mesh/mesh_internal.h"
#include "support/failing_allocator.h"
#include "support/random.h"
#include "support/run_suite.h"
#include "support/surfaces.h"

static const double pi = 3.141592653589793;

/* ---- winding numbers ---- */

static double direct_winding(const tw_mesh *surface, vec3 q)
{
    double sum = 0.0;
    for (int64_t i = 0; i < surface->triangle_count; i++) {
        vec3 p[3];
        for (int k = 0; k < 3; k++)
            p[k] = vec3_subtract(vec3_at(surface->vertices, surface->triangles[3 * i + k]), q);
        double a = vec3_length(p[0]), b = vec3_length(p[1]), c = vec3_length(p[2]);
        sum += atan2(vec3_dot(p[0], vec3_cross(p[1], p[2])), a * b * c + vec3_dot(p[0], p[1]) * c +
                                                                 vec3_dot(p[1], p[2]) * a +
                                                                 vec3_dot(p[2], p[0]) * b);
    }
    return sum / (2.0 * pi);
}

START_TEST(the_tree_gives_the_winding_number_of_the_sum)
{
    tw_mesh torus;
    tw_winding winding;
    test_random random = {11};
    surface_torus(1.0, 0.4, 60, 30, &torus);
    surface_punch(&torus, 700, 0.2);
    ck_assert_int_eq(tw_winding_create(&torus, &winding, NULL), TW_OK);
    double worst = 0.0;
    for (int i = 0; i < 500; i++) {
        vec3 q = {test_random_between(&random, -2, 2), test_random_between(&random, -2, 2),
                  test_random_between(&random, -1, 1)};
        worst = fmax(worst, fabs(tw_winding_number(&winding, q) - direct_winding(&torus, q)));
    }
    ck_assert_double_lt(worst, 0.01); /* what is inside is decided with this margin */
    tw_winding_free(&winding);
    tw_mesh_free(&torus);
}
END_TEST

START_TEST(distances_to_a_sphere_are_right)
{
    tw_mesh sphere;
    tw_winding winding;
    surface_sphere(40, &sphere);
    ck_assert_int_eq(tw_winding_create(&sphere, &winding, NULL), TW_OK);
    for (int i = 0; i < 50; i++) {
        double r = 0.1 + 0.06 * i;
        vec3 q = {r * cos(1.0 * i), r * sin(1.0 * i) * 0.6, r * sin(1.0 * i) * 0.8};
        ck_assert_double_eq_tol(tw_winding_distance(&winding, q), fabs(r - 1.0),
                                4e-3); /* of the facets */
    }
    tw_winding_free(&winding);
    tw_mesh_free(&sphere);
}
END_TEST

/* ---- angles, whatever the cuts are ---- */

/* Where an edge that `owner` owns goes, in cells. */
static vec3 direction_of(int edge)
{
    if (edge < TW_BCC_SHORT) return (vec3){edge == 0, edge == 1, edge == 2};
    int octant = edge - TW_BCC_SHORT;
    return (vec3){(octant & 1) - 0.5, (octant >> 1 & 1) - 0.5, (octant >> 2) - 0.5};
}

/* Undoes the moves and puts every cut somewhere on its edge: anywhere, or just where nodes are barely moved or not. */
static void scatter_cuts(tw_bcc *lattice, const tw_winding *winding, int kind, test_random *random)
{
    for (int64_t i = 0; i < lattice->node_count; i++) {
        bool was_moved = lattice->moved[i] >= 0;
        lattice->moved[i] = -1;
        if (was_moved)
            lattice->signs[i] =
                tw_winding_number(winding, tw_bcc_position(lattice, i)) > 0.51 ? 1 : -1;
    }
    for (int64_t i = 0; i < lattice->node_count; i++)
        for (int e = 0; e < TW_BCC_OWNED; e++) {
            int64_t cut = tw_bcc_cut(lattice, i, e);
            if (cut < 0) continue;
            double limit = e < TW_BCC_SHORT ? 0.28 : 0.40, share = test_random_unit(random);
            if (kind > 0 && test_random_unit(random) < 0.8) {
                double beside = kind == 1 ? limit + 1e-9 : limit - 1e-9;
                share = share < 0.4 ? beside : share < 0.8 ? 1.0 - beside : 0.5;
            }
            lattice->cuts[cut] = vec3_add_scaled(tw_bcc_position(lattice, i), share * lattice->cell,
                                                 direction_of(e));
        }
}

START_TEST(no_place_of_the_cuts_spoils_the_angles)
{
    tw_mesh sphere;
    tw_winding winding;
    test_random random = {5};
    surface_sphere(8, &sphere);
    ck_assert_int_eq(tw_winding_create(&sphere, &winding, NULL), TW_OK);
    for (int run = 0; run < 15; run++) {
        tw_bcc lattice;
        tw_mesh solid;
        tw_mesh_quality q;
        double cell = test_random_between(&random, 0.15, 0.3);
        ck_assert_int_eq(
            tw_bcc_create(&(tw_body_shape){.surface = &winding}, cell, 1e6, &lattice, NULL), TW_OK);
        scatter_cuts(&lattice, &winding, run % 3, &random);
        tw_bcc_move_nodes(&lattice);
        ck_assert_int_eq(tw_bcc_cut_tetrahedra(&lattice, &solid, NULL), TW_OK);
        ck_assert_int_eq(tw_mesh_measure(&solid, &q, NULL), TW_OK);
        ck_assert_msg(q.smallest_angle > 10.0 && q.largest_angle < 165.0, "%g %g", q.smallest_angle,
                      q.largest_angle);
        ck_assert_int_eq(q.open_edges,
                         0); /* neighbours agree on every diagonal, or there were holes */
        ck_assert(q.smallest_volume > 0.0);
        tw_mesh_free(&solid);
        tw_bcc_free(&lattice);
    }
    tw_winding_free(&winding);
    tw_mesh_free(&sphere);
}
END_TEST

/* ---- the promises ---- */

/* Fills and frees the surface; the solid has so many pieces. */
static tw_fill_report filled_in_pieces(tw_mesh *surface, int64_t vertices, int64_t pieces,
                                       tw_mesh *solid)
{
    tw_fill_options options = {.vertex_count = vertices};
    tw_fill_report report;
    tw_error error = {0};
    ck_assert_msg(tw_mesh_fill(surface, &options, solid, &report, &error) == TW_OK, "%s",
                  error.text);
    ck_assert_int_eq(tw_mesh_check(solid, NULL), TW_OK);
    ck_assert_int_eq(report.quality.components, pieces);
    ck_assert_int_eq(report.quality.open_edges, 0);
    ck_assert_double_gt(report.quality.smallest_angle, 10.0);
    ck_assert_double_lt(report.quality.largest_angle, 165.0);
    ck_assert(report.quality.smallest_volume > 0.0);
    tw_mesh_free(surface);
    return report;
}

static tw_fill_report filled(tw_mesh *surface, int64_t vertices, tw_mesh *solid)
{
    return filled_in_pieces(surface, vertices, 1, solid);
}

static void check_count(const tw_mesh *solid, int64_t wanted, double share)
{
    ck_assert_msg(fabs((double)(solid->vertex_count - wanted)) <= share * (double)wanted,
                  "%lld vertices, wanted %lld", (long long)solid->vertex_count, (long long)wanted);
}

START_TEST(a_box_is_filled)
{
    tw_mesh surface, solid;
    surface_box(1.0, 2.0, 3.0, &surface);
    tw_fill_report r = filled(&surface, 2000, &solid);
    check_count(&solid, 2000, 0.05);
    ck_assert_double_eq_tol(r.volume, 6.0,
                            0.12); /* edges and corners of the box are cut off within a cell */
    ck_assert_double_lt(r.largest_distance, 1e-12);
    ck_assert_int_eq(r.input_open_edges, 0);
    tw_mesh_free(&solid);
}
END_TEST

START_TEST(a_sphere_is_filled_ever_better)
{
    double errors[2];
    for (int i = 0; i < 2; i++) {
        tw_mesh surface, solid;
        surface_sphere(40, &surface);
        tw_fill_report r = filled(&surface, i == 0 ? 400 : 3200, &solid);
        check_count(&solid, i == 0 ? 400 : 3200, 0.05);
        errors[i] = fabs(r.volume - 4.0 / 3.0 * pi);
        ck_assert_double_lt(r.largest_distance, 1e-3 * r.cell);
        tw_mesh_free(&solid);
    }
    ck_assert_double_gt(errors[0] / errors[1],
                        2.5); /* of second order in the cell: 4 for twice as fine */
}
END_TEST

START_TEST(a_punched_torus_is_filled)
{
    tw_mesh surface, solid;
    surface_torus(1.0, 0.4, 60, 30, &surface);
    for (int64_t i = 0; i < 8; i++) surface_punch(&surface, 400 * i % surface.triangle_count, 0.1);
    tw_fill_report r = filled(&surface, 2000, &solid);
    check_count(&solid, 2000, 0.05);
    ck_assert_int_gt(r.input_open_edges, 50);
    ck_assert_double_eq_tol(r.volume, 2.0 * pi * pi * 0.16, 0.1);
    ck_assert_double_lt(r.largest_distance, 0.5 * r.cell); /* holes are bridged */
    tw_mesh_free(&solid);
}
END_TEST

START_TEST(two_overlapping_cubes_become_one)
{
    tw_mesh a, b, surface, solid;
    surface_box(1.0, 1.0, 1.0, &a);
    surface_box(1.0, 1.0, 1.0, &b);
    surface_join(&a, &b, (const double[3]){0.5, 0.5, 0.5}, &surface);
    tw_fill_report r = filled(&surface, 2000, &solid);
    check_count(&solid, 2000, 0.06);
    ck_assert_double_eq_tol(r.volume, 1.875, 0.06);
    ck_assert_double_lt(r.largest_distance, 0.5 * r.cell);
    tw_mesh_free(&solid);
}
END_TEST

START_TEST(a_box_inside_out_and_a_solid_are_filled)
{
    tw_mesh surface, solid, again;
    surface_box(1.0, 1.0, 1.0, &surface);
    for (int64_t i = 0; i < 12; i++) {
        int64_t *t = surface.triangles + 3 * i, swap = t[0];
        t[0] = t[1];
        t[1] = swap;
    }
    surface.triangle_count = 11; /* open, so that nobody turns it */
    tw_fill_report r = filled(&surface, 1000, &solid);
    ck_assert_int_eq(r.repairs.flipped_cells, 0);
    ck_assert_double_gt(r.volume, 0.7);
    filled(&solid, 400, &again);
    check_count(&again, 400, 0.08);
    tw_mesh_free(&again);
}
END_TEST

/* Two bodies apart from each other are both kept, and both counted. */
START_TEST(all_bodies_of_a_surface_are_kept)
{
    tw_mesh a, b, surface, solid;
    surface_box(1.0, 1.0, 1.0, &a);
    surface_sphere(20, &b);
    surface_join(&a, &b, (const double[3]){4.0, 0.0, 0.0}, &surface);
    tw_fill_report r = filled_in_pieces(&surface, 1500, 2, &solid);
    ck_assert_int_eq(r.dropped_components, 0);
    ck_assert_double_eq_tol(r.volume, 1.0 + 4.0 / 3.0 * pi, 0.05 * r.volume);
    check_count(&solid, 1500, 0.05);
    tw_mesh_free(&solid);
}
END_TEST

/* A shell of two spheres, the inner one turned inwards: a cavity is no body of its own. */
START_TEST(thin_shells_are_refused_with_a_number)
{
    for (int i = 0; i < 2; i++) {
        const double A[9] = {i ? 0.8 : 0.98, 0, 0, 0, i ? 0.8 : 0.98, 0, 0, 0, i ? 0.8 : 0.98};
        tw_mesh outer, inner, surface, solid = {0};
        surface_sphere(40, &outer);
        surface_sphere(40, &inner);
        surface_transform(&inner, A);
        for (int64_t t = 0; t < inner.triangle_count; t++) {
            int64_t swap = inner.triangles[3 * t];
            inner.triangles[3 * t] = inner.triangles[3 * t + 1];
            inner.triangles[3 * t + 1] = swap;
        }
        surface_join(&outer, &inner, (const double[3]){0, 0, 0}, &surface);

        tw_fill_options options = {.vertex_count = 2000};
        tw_fill_report report = {0};
        tw_error error = {0};
        tw_status status = tw_mesh_fill(&surface, &options, &solid, &report, &error);
        if (i == 0) {
            /* 0.02 m are a third of a cell. */
            ck_assert_int_eq(status, TW_BAD_INPUT);
            ck_assert_ptr_nonnull(
                strstr(error.text, "m thick, too thin for 2000 vertices (cells of 0.0"));
        } else {
            ck_assert_int_eq(status, TW_OK);
            ck_assert_int_eq(report.quality.components, 1);
            ck_assert_double_eq_tol(report.volume, 4.0 / 3.0 * pi * (1 - 0.512), 0.1);
        }
        tw_mesh_free(&solid);
        tw_mesh_free(&surface);
    }
}
END_TEST

/* A box of which a vertex was pulled out to a spike of 3,766 m: found by a fuzzer, it took minutes, and then the box
 * without the spike was a success. */
START_TEST(a_spike_is_refused_at_once)
{
    tw_mesh surface, solid;
    surface_box(1.0, 2.0, 3.0, &surface);
    for (int64_t i = 0; i < surface.vertex_count; i++)
        if (surface.vertices[3 * i] > 0.9 && surface.vertices[3 * i + 1] > 1.9 &&
            surface.vertices[3 * i + 2] > 2.9)
            surface.vertices[3 * i + 2] = 3766.0;
    tw_fill_options options = {.vertex_count = 60};
    ck_assert_int_eq(tw_mesh_fill(&surface, &options, &solid, NULL, NULL), TW_BAD_INPUT);
    tw_mesh_free(&surface);
}
END_TEST

/* Only the tips of sharp corners become thicker, so that a body does not grow. */
START_TEST(a_tetrahedron_does_not_grow)
{
    tw_mesh surface, solid;
    const double A[9] = {0.8, -0.6, 0, 0.48, 0.64, -0.6, 0.36, 0.48, 0.8};
    ck_assert_int_eq(tw_mesh_allocate(&surface, 4, 0, 4, 0, NULL), TW_OK);
    const double corners[12] = {1, 1, 1, 1, -1, -1, -1, 1, -1, -1, -1, 1};
    const int64_t faces[12] = {0, 1, 2, 0, 2, 3, 0, 3, 1, 1, 3, 2};
    memcpy(surface.vertices, corners, sizeof corners);
    memcpy(surface.triangles, faces, sizeof faces);
    if (_i % 2 == 1) surface_transform(&surface, A);
    tw_fill_report r = filled(&surface, 300 + 100 * (_i / 2), &solid);
    ck_assert_double_lt(r.volume, 1.05 * 8.0 / 3.0);
    ck_assert_double_gt(r.volume, 0.8 * 8.0 / 3.0);
    tw_mesh_free(&solid);
}
END_TEST

/* Skewed bodies, so that surfaces lie in every direction to the lattice. */
START_TEST(skewed_bodies_keep_their_angles)
{
    test_random random = {(uint64_t)_i + 1};
    tw_mesh surface, solid;
    double A[9];
    for (int k = 0; k < 9; k++) A[k] = 0.35 * test_random_between(&random, -1, 1) + (k % 4 == 0);
    if (_i % 3 == 0) surface_box(1.0, 1.0, 0.3, &surface);
    if (_i % 3 == 1) surface_torus(1.0, 0.35, 40, 20, &surface);
    if (_i % 3 == 2) surface_sphere(20, &surface);
    surface_transform(&surface, A);
    tw_fill_report r = filled(&surface, 300 + 150 * _i, &solid);
    check_count(&solid, 300 + 150 * _i, 0.15);
    ck_assert_double_lt(r.largest_distance, 0.5 * r.cell);
    tw_mesh_free(&solid);
}
END_TEST

/* A sphere with a fin of a fifth of a cell, as ears are to a bunny: it is kept, thickened by less than half a cell. */
START_TEST(thin_parts_are_kept)
{
    tw_mesh sphere, fin, surface, solid;
    surface_sphere(20, &sphere);
    surface_box(1.0, 0.8, 0.03, &fin);
    surface_join(&sphere, &fin, (const double[3]){0.7, -0.4, 0.0}, &surface);
    tw_fill_report r = filled(&surface, 1500, &solid);
    double lower[3], upper[3];
    tw_mesh_bounds(&solid, lower, upper);
    ck_assert_double_lt(0.03, 0.25 * r.cell);
    ck_assert_double_gt(upper[0], 1.7);
    ck_assert_double_lt(upper[0], 1.7 + 0.5 * r.cell);
    ck_assert_double_lt(r.largest_distance, 0.5 * r.cell);
    ck_assert_double_lt(r.largest_gap, r.cell);
    check_count(&solid, 1500, 0.05);
    tw_mesh_free(&solid);
}
END_TEST

/* Where `twang fetch-meshes` put the bunny, this is tested too. */
START_TEST(the_bunny_is_filled)
{
    char path[1200];
    const char *own = getenv("TWANG_MESHES"), *home = getenv("HOME");
    if (own)
        snprintf(path, sizeof path, "%s/bunny.obj", own);
    else
        snprintf(path, sizeof path, "%s/.local/share/twang/meshes/bunny.obj", home ? home : ".");
    tw_mesh bunny, solid;
    if (tw_mesh_load(path, &bunny, NULL, NULL) != TW_OK) return;
    tw_fill_report r = filled(&bunny, 1000, &solid);
    check_count(&solid, 1000, 0.05);
    ck_assert_double_lt(r.largest_distance, 0.5 * r.cell);
    ck_assert_double_lt(r.largest_gap, r.cell); /* with its ears */
    tw_mesh_free(&solid);
}
END_TEST

START_TEST(the_input_is_embedded_in_the_solid)
{
    tw_mesh surface, kept, solid;
    tw_embedding embedding;
    surface_torus(1.0, 0.4, 40, 20, &surface);
    ck_assert_int_eq(tw_mesh_copy(&surface, &kept, NULL), TW_OK);
    tw_fill_report r = filled(&surface, 1500, &solid);
    double *out = malloc((size_t)kept.vertex_count * 24);
    ck_assert_ptr_nonnull(out);
    ck_assert_int_eq(
        tw_embedding_create(&solid, kept.vertex_count, kept.vertices, &embedding, NULL), TW_OK);
    tw_embedding_apply(&embedding, solid.vertices, out);
    for (int64_t i = 0; i < 3 * kept.vertex_count; i++)
        ck_assert_double_eq_tol(out[i], kept.vertices[i], 1e-12);
    double most = 0.0;
    for (int64_t i = 0; i < 4 * kept.vertex_count; i++)
        most = fmax(most, fabs(embedding.weights[i]));
    ck_assert_double_lt(most, 2.0); /* outside by a part of a cell only */
    ck_assert_double_gt(r.cell, 0.0);
    free(out);
    tw_embedding_free(&embedding);
    tw_mesh_free(&kept);
    tw_mesh_free(&solid);
}
END_TEST

START_TEST(a_solid_is_the_same_for_any_number_of_threads)
{
    tw_mesh surface, solids[2];
    for (int i = 0; i < 2; i++) {
        surface_torus(1.0, 0.4, 40, 20, &surface);
        tw_set_threads(i == 0 ? 1 : 3);
        filled(&surface, 800, solids + i);
    }
    ck_assert_int_eq(solids[0].vertex_count, solids[1].vertex_count);
    ck_assert_int_eq(solids[0].tetrahedron_count, solids[1].tetrahedron_count);
    ck_assert_mem_eq(solids[0].vertices, solids[1].vertices, (size_t)solids[0].vertex_count * 24);
    ck_assert_mem_eq(solids[0].tetrahedra, solids[1].tetrahedra,
                     (size_t)solids[0].tetrahedron_count * 32);
    tw_mesh_free(solids);
    tw_mesh_free(solids + 1);
}
END_TEST

START_TEST(what_cannot_be_filled_is_refused)
{
    tw_mesh surface, solid;
    tw_error error = {0};
    tw_fill_options options = tw_fill_options_default();
    ck_assert_int_eq(options.vertex_count, 4000);
    surface_box(1.0, 1.0, 1.0, &surface);
    surface.triangle_count = 2; /* a sheet */
    ck_assert_int_eq(tw_mesh_fill(&surface, &options, &solid, NULL, &error), TW_BAD_INPUT);
    ck_assert_str_eq(
        error.text,
        "the surface encloses nothing, expected one that is closed, or nearly so; a scene "
        "takes it as a body of kind: sheet");
    surface.triangle_count = 0;
    ck_assert_int_eq(tw_mesh_fill(&surface, &options, &solid, NULL, &error), TW_BAD_INPUT);
    ck_assert_str_eq(error.text, "the mesh has no triangles to fill, expected a surface");
    surface.triangle_count = 12;
    options.vertex_count = 7;
    ck_assert_int_eq(tw_mesh_fill(&surface, &options, &solid, NULL, &error), TW_INVALID_ARGUMENT);
    ck_assert_str_eq(error.text, "7 vertices are asked for, expected at least 8");
    options.vertex_count = 100;
    surface.vertices[0] = NAN;
    ck_assert_int_eq(tw_mesh_fill(&surface, &options, &solid, NULL, &error), TW_NOT_FINITE);
    ck_assert_int_eq(tw_mesh_fill(NULL, &options, &solid, NULL, &error), TW_INVALID_ARGUMENT);
    tw_mesh_free(&surface);
}
END_TEST

/* The lattice that looks for an inside has very many nodes where the surface is flat: none is made. */
START_TEST(a_flat_grid_is_refused_without_a_lattice)
{
    enum { SIDE = 60 };
    double vertices[3 * SIDE * SIDE] = {0};
    int64_t triangles[6 * (SIDE - 1) * (SIDE - 1)];
    tw_mesh grid = {.vertices = vertices,
                    .triangles = triangles,
                    .vertex_count = SIDE * SIDE,
                    .triangle_count = 2 * (SIDE - 1) * (SIDE - 1)};
    for (int i = 0; i < SIDE * SIDE; i++) {
        int row = i / SIDE;
        vertices[3 * i] = i % SIDE;
        vertices[3 * i + 2] = row;
    }
    for (int i = 0; i < (SIDE - 1) * (SIDE - 1); i++) {
        int a = i % (SIDE - 1) + i / (SIDE - 1) * SIDE;
        memcpy(triangles + 6 * i, (int64_t[6]){a, a + 1, a + SIDE, a + 1, a + SIDE + 1, a + SIDE},
               6 * sizeof *triangles);
    }

    tw_mesh solid;
    tw_error error = {0};
    tw_fill_options options = {.vertex_count = 1000};
    ck_assert_int_eq(tw_mesh_fill(&grid, &options, &solid, NULL, &error), TW_BAD_INPUT);
    ck_assert_ptr_nonnull(strstr(error.text, "the surface encloses nothing"));

    /* The tree over the triangles needs less than 500 bytes for each. */
    int64_t peak = tw_memory_counts_now().peak_bytes;
    ck_assert_msg(peak < 500 * grid.triangle_count, "%lld bytes", (long long)peak);
}
END_TEST

static tw_status fill_box(void *context)
{
    tw_fill_options options = {.vertex_count = 116}; /* met by the first trial: few allocations */
    tw_mesh solid;
    tw_status status = tw_mesh_fill(context, &options, &solid, NULL, NULL);
    tw_mesh_free(&solid);
    return status;
}

START_TEST(every_allocation_may_fail)
{
    tw_mesh surface;
    surface_box(1.0, 0.8, 0.9, &surface);
    ck_assert_int_ge(test_fail_each_allocation(fill_box, &surface), 50);
    tw_mesh_free(&surface);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mesh fill");
    TCase *tests = tcase_create("mesh fill");
    tcase_set_timeout(tests, 20);
    tcase_add_test(tests, the_tree_gives_the_winding_number_of_the_sum);
    tcase_add_test(tests, distances_to_a_sphere_are_right);
    tcase_add_test(tests, no_place_of_the_cuts_spoils_the_angles);
    tcase_add_test(tests, a_box_is_filled);
    tcase_add_test(tests, a_sphere_is_filled_ever_better);
    tcase_add_test(tests, a_punched_torus_is_filled);
    tcase_add_test(tests, two_overlapping_cubes_become_one);
    tcase_add_test(tests, a_box_inside_out_and_a_solid_are_filled);
    tcase_add_test(tests, all_bodies_of_a_surface_are_kept);
    tcase_add_test(tests, thin_shells_are_refused_with_a_number);
    tcase_add_test(tests, a_spike_is_refused_at_once);
    tcase_add_loop_test(tests, a_tetrahedron_does_not_grow, 0, 16);
    tcase_add_loop_test(tests, skewed_bodies_keep_their_angles, 0, 6);
    tcase_add_test(tests, thin_parts_are_kept);
    tcase_add_test(tests, the_bunny_is_filled);
    tcase_add_test(tests, the_input_is_embedded_in_the_solid);
    tcase_add_test(tests, a_solid_is_the_same_for_any_number_of_threads);
    tcase_add_test(tests, what_cannot_be_filled_is_refused);
    tcase_add_test(tests, a_flat_grid_is_refused_without_a_lattice);
    tcase_add_test(tests, every_allocation_may_fail);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
