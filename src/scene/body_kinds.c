/* The kinds of bodies. A kind is one row of the table `body_kinds`: its fields in the scene file,
 * the function that makes its shape, and the function that adds what holds it together. */
#include <math.h>
#include <string.h>
#include <twang/mesh.h>

#include "base/fail.h"
#include "base/log_line.h"
#include "mesh/bodies.h"
#include "scene/scene_internal.h"
#include "scene/schema_tables.h"

/* ---- coil ---- */

static const tw_schema_field coil_fields[] = {
    {"sections", TW_FIELD_INTEGER, .range = BETWEEN(2, 100000000), .fallback = "500",
     .doc = "cross-sections along the wire"},
    {"across", TW_FIELD_INTEGER, .range = BETWEEN(2, 1000), .fallback = "4",
     .doc = "particles along each side of a cross-section"},
    {"turns", TW_FIELD_NUMBER, .range = ABOVE(0), .fallback = "6", .doc = "windings"},
    {"radius", TW_FIELD_NUMBER, .unit = "m", .range = ABOVE(0), .fallback = "1",
     .doc = "from the axis to the middle of the wire"},
    {"height", TW_FIELD_NUMBER, .unit = "m", .range = ABOVE(0), .fallback = "4",
     .doc = "from the middle of the first section to that of the last"},
    {"thickness", TW_FIELD_NUMBER, .unit = "m", .range = ABOVE(0), .fallback = "0.3",
     .doc = "side of the square cross-section"},
};

static tw_status make_coil(tw_body *body, tw_error *error)
{
    const tw_node *node = body->node;
    tw_coil coil = {.sections = tw_node_integer(node, "sections"),
                    .across = tw_node_integer(node, "across"),
                    .turns = tw_node_number(node, "turns"),
                    .radius = tw_node_number(node, "radius"),
                    .height = tw_node_number(node, "height"),
                    .thickness = tw_node_number(node, "thickness")};

    return tw_body_coil(&coil, &body->mesh, error);
}

static double count_coil(const tw_node *body)
{
    double across = tw_node_number(body, "across");
    return tw_node_number(body, "sections") * across * across;
}

/* ---- cloth ---- */

static const tw_schema_field cloth_fields[] = {
    {"columns", TW_FIELD_INTEGER, .range = BETWEEN(2, 100000), .fallback = "50",
     .doc = "particles along its width; particle c + columns r is in column c, row r"},
    {"rows", TW_FIELD_INTEGER, .range = BETWEEN(2, 100000), .fallback = "70",
     .doc = "particles along its height"},
    {"width", TW_FIELD_NUMBER, .unit = "m", .range = ABOVE(0), .fallback = "1",
     .doc = "along x before it is turned"},
    {"height", TW_FIELD_NUMBER, .unit = "m", .range = ABOVE(0), .fallback = "1",
     .doc = "along z before it is turned"},
    {"density", TW_FIELD_NUMBER, .unit = "kg/m^2", .range = ABOVE(0),
     .doc = "of the sheet, lumped to the corners of its triangles; or give mass"},
    {"stiffness", TW_FIELD_NUMBER, .unit = "N/m", .range = ABOVE(0), .required = true,
     .doc = "structural: along the threads"},
    {"shear", TW_FIELD_NUMBER, .unit = "N/m", .range = ABOVE(0), .required = true,
     .doc = "along both diagonals of the cells"},
    {"bending", TW_FIELD_NUMBER, .unit = "N/m", .range = ABOVE(0), .required = true,
     .doc = "from a particle to the second next along a thread"},
};

static tw_status make_cloth(tw_body *body, tw_error *error)
{
    const tw_node *node = body->node;
    tw_cloth cloth = {.columns = tw_node_integer(node, "columns"),
                      .rows = tw_node_integer(node, "rows"),
                      .width = tw_node_number(node, "width"),
                      .height = tw_node_number(node, "height")};

    return tw_body_cloth(&cloth, &body->mesh, error);
}

static double count_grid(const tw_node *body)
{
    return tw_node_number(body, "columns") * tw_node_number(body, "rows");
}

/* ---- box ---- */

static const tw_schema_field box_fields[] = {
    {"size", TW_FIELD_NUMBERS, .length = 3, .unit = "m", .range = ABOVE(0), .fallback = "[1, 1, 1]",
     .doc = "along x, y, z before it is turned, from the origin"},
    {"cells", TW_FIELD_INTEGERS, .length = 3, .range = BETWEEN(1, 100000), .fallback = "[4, 4, 4]",
     .doc = "along x, y, z, of six tetrahedra each; particle a + (m + 1) b + (m + 1)(n + 1) c for "
            "m, n of them in x, y"},
};

static tw_status make_box(tw_body *body, tw_error *error)
{
    double size[3];
    double cells[3];
    tw_node_numbers(body->node, "size", 3, size);
    tw_node_numbers(body->node, "cells", 3, cells);

    /* The schema has seen that these are whole numbers. */
    int64_t counts[3] = {(int64_t)cells[0], (int64_t)cells[1], (int64_t)cells[2]};
    return tw_body_box(size, counts, &body->mesh, error);
}

static double count_box(const tw_node *body)
{
    double cells[3];
    tw_node_numbers(body, "cells", 3, cells);
    return (cells[0] + 1.0) * (cells[1] + 1.0) * (cells[2] + 1.0);
}

/* ---- bar ---- */

static const tw_schema_field bar_fields[] = {
    {"length", TW_FIELD_NUMBER, .unit = "m", .range = ABOVE(0), .fallback = "1",
     .doc = "along x before it is turned"},
    {"thickness", TW_FIELD_NUMBER, .unit = "m", .range = ABOVE(0), .fallback = "0.1",
     .doc = "side of its square cross-section"},
    {"cells", TW_FIELD_INTEGERS, .length = 2, .range = BETWEEN(1, 1000000), .fallback = "[20, 2]",
     .doc = "along its length and along each side of its cross-section"},
};

static tw_status make_bar(tw_body *body, tw_error *error)
{
    double length = tw_node_number(body->node, "length");
    double thickness = tw_node_number(body->node, "thickness");
    double cells[2];
    tw_node_numbers(body->node, "cells", 2, cells);

    /* A bar is a box along x with a square section. */
    double size[3] = {length, thickness, thickness};
    int64_t counts[3] = {(int64_t)cells[0], (int64_t)cells[1], (int64_t)cells[1]};
    return tw_body_box(size, counts, &body->mesh, error);
}

static double count_bar(const tw_node *body)
{
    double cells[2];
    tw_node_numbers(body, "cells", 2, cells);
    return (cells[0] + 1.0) * (cells[1] + 1.0) * (cells[1] + 1.0);
}

/* ---- rope ---- */

static const tw_schema_field rope_fields[] = {
    {"count", TW_FIELD_INTEGER, .range = BETWEEN(1, 10000000), .fallback = "10",
     .doc = "number of links; there is one particle more"},
    {"length", TW_FIELD_NUMBER, .unit = "m", .range = ABOVE(0), .fallback = "0.1",
     .doc = "length of a link, at rest"},
    {"direction", TW_FIELD_NUMBERS, .length = 3, .fallback = "[1, 0, 0]",
     .doc = "from the first particle to the last, of any length but zero"},
    {"mass", TW_FIELD_NUMBER, .unit = "kg", .range = ABOVE(0), .fallback = "0.1",
     .doc = "mass of each particle"},
    {"stiffness", TW_FIELD_NUMBER, .unit = "N/m", .range = ABOVE(0), .fallback = "1e4",
     .doc = "of each link"},
};

static tw_status make_rope(tw_body *body, tw_error *error)
{
    int64_t links = tw_node_integer(body->node, "count");
    double length = tw_node_number(body->node, "length");

    return tw_body_rope(links, length, &body->mesh, error);
}

static double count_rope(const tw_node *body)
{
    return tw_node_number(body, "count") + 1.0;
}

/* ---- tower ---- */

WORDS(tower_materials, "springs", "warping")

static const tw_schema_field tower_fields[] = {
    {"height", TW_FIELD_NUMBER, .unit = "m", .range = ABOVE(0), .fallback = "3",
     .doc = "to the tip of its spire"},
    {"width", TW_FIELD_NUMBER, .unit = "m", .range = ABOVE(0), .fallback = "1.2",
     .doc = "of its base"},
    {"detail", TW_FIELD_NUMBER, .range = BETWEEN(0.1, 1000), .fallback = "1",
     .doc = "number of cross-sections, relative to the tower of 4,936 nodes"},
    {"density", TW_FIELD_NUMBER, .unit = "kg/m", .range = ABOVE(0),
     .doc = "of the girders, half to each end; or give mass"},
    {"material", TW_FIELD_CHOICE, .choice = tower_materials, .fallback = "warping",
     .doc = "springs along the girders, or their linear stiffness turned with each node (stiffness "
            "warping)"},
    {"stiffness", TW_FIELD_NUMBER, .unit = "N/m", .range = ABOVE(0), .required = true,
     .doc = "of the girders above `below`"},
    {"stiffness_below", TW_FIELD_NUMBER, .unit = "N/m", .range = ABOVE(0), .required = true,
     .doc = "of the girders whose middle is below it"},
    {"below", TW_FIELD_NUMBER, .range = BETWEEN(0, 1), .fallback = "0.4",
     .doc = "share of the height up to which stiffness_below applies"},
};

static tw_status make_tower(tw_body *body, tw_error *error)
{
    const tw_node *node = body->node;
    tw_tower tower = {.height = tw_node_number(node, "height"),
                      .width = tw_node_number(node, "width"),
                      .detail = tw_node_number(node, "detail")};

    return tw_body_tower(&tower, &body->mesh, error);
}

/* Every section of the tower has as many nodes, whatever the detail. */
static double count_tower(const tw_node *body)
{
    return 4936.0 * tw_node_number(body, "detail");
}

/* ---- mesh ---- */

static const tw_schema_field mesh_fields[] = {
    {"file", TW_FIELD_TEXT, .required = true,
     .doc = "OBJ, PLY, STL, TetGen, Gmsh, VTK or MEDIT, relative to the scene file; see "
            "docs/meshes.md"},
    {"vertices", TW_FIELD_INTEGER, .range = BETWEEN(8, 100000000), .fallback = "4000",
     .doc = "a surface is filled with tetrahedra of about so many vertices"},
    {"up", TW_FIELD_CHOICE, .choice = tw_up_axes, .fallback = "z",
     .doc = "the axis of the file that points up; y is turned to z before everything else"},
    {"extent", TW_FIELD_NUMBER, .unit = "m", .range = ABOVE(0),
     .doc = "its longest side after it was turned; not given: as in the file"},
    {"scale", TW_FIELD_NUMBER, .range = ABOVE(0),
     .doc = "instead: factor of all coordinates of the file, 1e-3 for millimetres"},
};

/* Tells what `twang mesh` and `twang new` say of the surface, too. */
static void tell_fill(const tw_body *body, const tw_fill_report *report)
{
    char text[400];
    tw_fill_report_text(report, text, sizeof text);
    if (text[0])
        tw_log_line(TW_LOG_WARNING, "%s.file %.100s: %s", body->path,
                    tw_node_text(body->node, "file"), text);
}

/* Keeps the surface as it is in the file, to be shown, and fills it with tetrahedra. */
static tw_status fill_surface(tw_body *body, const char *file, tw_error *error)
{
    tw_mesh_free(&body->mesh);
    tw_status status = tw_mesh_load(file, &body->surface, NULL, error);
    if (status != TW_OK) return status;

    /* The error of the filling knows neither the file nor the scene. */
    tw_fill_options options = tw_fill_options_default();
    options.vertex_count = tw_node_integer(body->node, "vertices");
    tw_error reason = {0};
    tw_fill_report report = {0};
    status = tw_mesh_fill(&body->surface, &options, &body->mesh, &report, &reason);
    if (status == TW_OK) {
        tell_fill(body, &report);
        return TW_OK;
    }

    /* What was wrong with the surface, or with the number of vertices, and where it was given. */
    const tw_node *blamed = tw_node_find(body->node, "file");
    if (status == TW_OUT_OF_MEMORY && tw_node_find(body->node, "vertices"))
        blamed = tw_node_find(body->node, "vertices");

    /* The place is new, the status stays. */
    tw_fail_at(error, blamed->mark, "%s.file %.200s: %.300s", body->path,
               tw_node_text(body->node, "file"), reason.text);
    if (error) error->status = status;
    return status;
}

static tw_status make_mesh(tw_body *body, tw_error *error)
{
    const char *file = tw_node_text(body->node, "file");
    tw_mesh_repairs repairs = {0};
    tw_status status = tw_mesh_load(file, &body->mesh, &repairs, error);
    if (status != TW_OK) return status;

    /* A file without tetrahedra holds a surface. */
    if (body->mesh.tetrahedron_count == 0) return fill_surface(body, file, error);

    /* A solid is used as it is; the user learns what had to be repaired. */
    const tw_mesh_repairs none = {0};
    if (memcmp(&repairs, &none, sizeof none) != 0) {
        char text[300];
        tw_log_line(TW_LOG_INFO, "%s: %s", file, tw_mesh_repairs_text(&repairs, text, sizeof text));
    }
    return TW_OK;
}

/* ---- sheet ---- */

static const tw_schema_field sheet_fields[] = {
    {"file", TW_FIELD_TEXT, .required = true,
     .doc = "surface whose vertices become the particles, relative to the scene file; texture "
            "coordinates, groups and materials of an OBJ come back in its frames"},
    {"up", TW_FIELD_CHOICE, .choice = tw_up_axes, .fallback = "z",
     .doc = "the axis of the file that points up; y is turned to z before everything else"},
    {"extent", TW_FIELD_NUMBER, .unit = "m", .range = ABOVE(0),
     .doc = "its longest side after it was turned; not given: as in the file"},
    {"scale", TW_FIELD_NUMBER, .range = ABOVE(0),
     .doc = "instead: factor of all coordinates of the file, 1e-3 for millimetres"},
    {"density", TW_FIELD_NUMBER, .unit = "kg/m^2", .range = ABOVE(0),
     .doc = "of the sheet, lumped to the corners of its triangles; or give mass"},
    {"stiffness", TW_FIELD_NUMBER, .unit = "N/m", .range = ABOVE(0), .required = true,
     .doc = "along the sides of the polygons"},
    {"shear", TW_FIELD_NUMBER, .unit = "N/m", .range = ABOVE(0),
     .doc = "along the diagonals of quadrangles and larger polygons; not given: as stiffness"},
    {"bending", TW_FIELD_NUMBER, .unit = "N/m", .range = ABOVE(0), .required = true,
     .doc = "between the two corners that face a side"},
};

/* The surface as it is in the file is shown; its repaired copy has the particles. */
static tw_status make_sheet(tw_body *body, tw_error *error)
{
    const tw_node *file = tw_node_find(body->node, "file");
    tw_mesh_repairs repairs = {0};
    TW_TRY(tw_mesh_load(file->text, &body->surface, NULL, error));
    TW_TRY(tw_mesh_copy(&body->surface, &body->mesh, error));
    TW_TRY(tw_mesh_repair(&body->mesh, &repairs, error));

    /* A sheet is made of faces and nothing else. */
    if (body->mesh.tetrahedron_count > 0)
        return tw_fail_at(error, file->mark,
                          "%s.file %.200s holds tetrahedra, expected a surface: give kind mesh",
                          body->path, file->text);

    if (body->mesh.triangle_count == 0)
        return tw_fail_at(error, file->mark, "%s.file %.200s holds no faces, expected a surface",
                          body->path, file->text);
    return TW_OK;
}

/* ---- car ---- */

static const tw_schema_field car_fields[] = {
    {"vertices", TW_FIELD_INTEGER, .range = BETWEEN(2000, 10000000), .fallback = "12000",
     .doc = "about so many; the papers' car has 120000"},
    {"density", TW_FIELD_NUMBER, .unit = "kg/m^2", .range = ABOVE(0),
     .doc = "of the sheet, lumped to the corners of its triangles; or give mass"},
    {"stiffness", TW_FIELD_NUMBER, .unit = "N/m", .range = ABOVE(0), .required = true,
     .doc = "structural: along every edge of the triangles"},
    {"bending", TW_FIELD_NUMBER, .unit = "N/m", .range = ABOVE(0),
     .doc = "between the vertices opposite to each edge; not given: a hundredth of stiffness"},
};

static tw_status make_car(tw_body *body, tw_error *error)
{
    return tw_body_car(tw_node_integer(body->node, "vertices"), &body->mesh, error);
}

static double count_car(const tw_node *body)
{
    return tw_node_number(body, "vertices");
}

/* ---- fibres ---- */

static const tw_schema_field root_fields[] = {
    {"points", TW_FIELD_TEXT,
     .doc =
         "file of a line x,y,z,nx,ny,nz per fibre: where it begins (the origin is added), and in "
         "which direction"},
    {"obstacle", TW_FIELD_NAME,
     .doc = "instead: name of a sphere or a mesh among the obstacles, over which `count` roots are "
            "scattered and whose motion they follow"},
    {"upper", TW_FIELD_NUMBER,
     .range = {.has_low = true, .low = 0, .open_low = true, .has_high = true, .high = 1},
     .doc = "only in this upper share of the obstacle's height (z); not given: everywhere"},
    {"seed", TW_FIELD_INTEGER, .range = AT_LEAST(0),
     .doc = "another seed gives other places; not given: 1"},
};
static SECTION(root_section, "bodies.roots", root_fields);

static const tw_schema_field curl_fields[] = {
    {"radius", TW_FIELD_NUMBER, .unit = "m", .range = AT_LEAST(0), .fallback = "0",
     .doc = "of the helix that a fibre forms at rest; 0: it is straight"},
    {"pitch", TW_FIELD_NUMBER, .unit = "m", .range = AT_LEAST(0), .fallback = "0",
     .doc =
         "rise of the helix per turn along the direction; 0: the fibre is an arc of this radius"},
};
static SECTION(curl_section, "bodies.curl", curl_fields);

static const tw_schema_field fibre_fields[] = {
    {"count", TW_FIELD_INTEGER, .range = BETWEEN(1, 100000000),
     .doc = "number of fibres on an obstacle; without roots it is 1"},
    {"roots", TW_FIELD_MAP, .section = &root_section,
     .doc = "where fibres begin; not given: one at the origin, or a grid"},
    {"columns", TW_FIELD_INTEGER, .range = BETWEEN(1, 100000),
     .doc = "of a grid of fibres across the direction, with its middle at the origin"},
    {"rows", TW_FIELD_INTEGER, .range = BETWEEN(1, 100000), .doc = "of the grid"},
    {"spacing", TW_FIELD_NUMBER, .unit = "m", .range = ABOVE(0), .doc = "of the grid"},
    {"direction", TW_FIELD_NUMBERS, .length = 3, .fallback = "[0, 0, 1]",
     .doc = "in which one fibre or a grid of them begins, of any length but zero"},
    {"length", TW_FIELD_NUMBER, .unit = "m", .range = ABOVE(0), .required = true,
     .doc = "along the fibre"},
    {"segments", TW_FIELD_INTEGER, .range = BETWEEN(1, 100000), .fallback = "8",
     .doc = "cuboids per fibre; 8 and more are within 5 % of a slender rod"},
    {"thickness", TW_FIELD_NUMBER, .unit = "m", .range = ABOVE(0), .required = true,
     .doc = "diameter at the root"},
    {"tip_thickness", TW_FIELD_NUMBER, .unit = "m", .range = ABOVE(0),
     .doc = "diameter at the tip; not given: as at the root"},
    {"youngs_modulus", TW_FIELD_NUMBER, .unit = "Pa", .range = ABOVE(0), .required = true,
     .doc = "E of the material"},
    {"shear_modulus", TW_FIELD_NUMBER, .unit = "Pa", .range = ABOVE(0), .required = true,
     .doc = "G, at most E"},
    {"density", TW_FIELD_NUMBER, .unit = "kg/m^3", .range = ABOVE(0), .required = true,
     .doc = "of the material"},
    {"curl", TW_FIELD_MAP, .section = &curl_section, .fallback = "{}", .doc = "shape at rest"},
    {"rooted", TW_FIELD_BOOL, .fallback = "true",
     .doc = "whether the first section of each fibre is held where it is, or by motions"},
};

/* A grid, or as many as `count` says; a file of roots is counted when it is read. */
static double count_fibres(const tw_node *body)
{
    double fibres = fmax(count_grid(body), tw_node_number(body, "count"));
    return 4.0 * (tw_node_number(body, "segments") + 1.0) * fibres;
}

/* ---- cell ---- */

static const tw_schema_field cell_fields[] = {
    {"particles", TW_FIELD_INTEGER, .range = BETWEEN(8, 400), .fallback = "28",
     .doc = "on its surface; the first and the last are its poles, on z before it is turned"},
    {"radii", TW_FIELD_NUMBERS, .length = 3, .unit = "m", .range = ABOVE(0), .required = true,
     .doc = "of the ellipsoid along x, y, z before it is turned, about the origin"},
    {"stiffness", TW_FIELD_NUMBER, .unit = "N/m", .range = ABOVE(0), .required = true,
     .doc = "of a spring between every two particles"},
};

static tw_status make_cell(tw_body *body, tw_error *error)
{
    tw_cell cell = {.points = tw_node_integer(body->node, "particles")};
    tw_node_numbers(body->node, "radii", 3, cell.radii);
    return tw_body_cell(&cell, &body->mesh, error);
}

static double count_cell(const tw_node *body)
{
    return tw_node_number(body, "particles");
}

/* ---- fields that kinds share ---- */

static const tw_schema_field turned_fields[] = {
    {"rotation", TW_FIELD_NUMBERS, .length = 3, .unit = "degrees", .fallback = "[0, 0, 0]",
     .doc = "about the axes x, then y, then z, before the origin is added"},
    {"mass", TW_FIELD_NUMBER, .unit = "kg", .range = ABOVE(0),
     .doc = "mass of each particle; or give density"},
};
static const tw_field_group turned = FIELDS(turned_fields);

WORDS(inertias, "lumped", "consistent")
/* In the order of tw_material. */
WORDS(solid_materials, "springs", "linear", "corotational", "neo-hookean")

/* The keys of springs and of finite elements have no default: the copy of a scene that a run keeps
 * has all defaults written out, and tw_check_solid_material must accept it too. */
static const tw_schema_field solid_fields[] = {
    {"density", TW_FIELD_NUMBER, .unit = "kg/m^3", .range = ABOVE(0),
     .doc = "of the tetrahedra, lumped to their corners; or give mass"},
    {"inertia", TW_FIELD_CHOICE, .choice = inertias, .fallback = "lumped",
     .doc = "masses at the particles, or the consistent mass of the elements (with density; for "
            "more digits of frequencies)"},
    {"material", TW_FIELD_CHOICE, .choice = solid_materials, .fallback = "springs",
     .doc = "springs along the edges of the tetrahedra, or finite elements"},
    {"stiffness", TW_FIELD_NUMBER, .unit = "N/m", .range = ABOVE(0),
     .doc = "springs: along every edge of the tetrahedra"},
    {"diagonal", TW_FIELD_NUMBER, .unit = "N/m", .range = ABOVE(0),
     .doc = "springs: from each corner of a tetrahedron to the centre of the opposite face, in "
            "addition"},
    {"youngs_modulus", TW_FIELD_NUMBER, .unit = "Pa", .range = ABOVE(0),
     .doc = "finite elements: E"},
    {"poisson_ratio", TW_FIELD_NUMBER, .range = INSIDE(-1, 0.5),
     .doc = "finite elements: nu; not given: 0.3"},
    {"order", TW_FIELD_INTEGER, .range = BETWEEN(1, 2),
     .doc = "finite elements: 1 (not given), or 2 for ten-node elements, with a particle in the "
            "middle of every edge"},
};
static const tw_field_group solid = FIELDS(solid_fields);

static const tw_schema_field hardening_fields[] = {
    {"hardening", TW_FIELD_NUMBER, .range = AT_LEAST(0),
     .doc = "c of springs with the pull k L (e + c e^3) at the strain e; not given: linear"},
    {"plasticity", TW_FIELD_MAP, .section = &tw_schema_plasticity,
     .doc = "springs that yield and do not spring back (docs/plasticity.md); not given: elastic"},
};
static const tw_field_group hardening = FIELDS(hardening_fields);

/* ---- the table ---- */

static const tw_body_kind body_kinds[] = {
    {.schema = {"coil", FIELDS(coil_fields), {&turned, &solid, &hardening}},
     .cost = {2200, 7000, 1e-5},
     .count_particles = count_coil,
     .make_shape = make_coil,
     .add_material = tw_add_solid,
     .check = tw_check_solid_material},
    {.schema = {"cloth", FIELDS(cloth_fields), {&turned, &hardening}},
     .cost = {2200, 11000, 1e-5},
     .count_particles = count_grid,
     .make_shape = make_cloth,
     .add_material = tw_add_cloth,
     .check = tw_check_plasticity},
    {.schema = {"box", FIELDS(box_fields), {&turned, &solid, &hardening}},
     .cost = {2000, 19000, 1.5e-5},
     .count_particles = count_box,
     .make_shape = make_box,
     .add_material = tw_add_solid,
     .check = tw_check_solid_material},
    {.schema = {"bar", FIELDS(bar_fields), {&turned, &solid, &hardening}},
     .cost = {2000, 19000, 1.5e-5},
     .count_particles = count_bar,
     .make_shape = make_bar,
     .add_material = tw_add_solid,
     .check = tw_check_solid_material},
    {.schema = {"rope", FIELDS(rope_fields), {&hardening}},
     .cost = {1400, 4000, 3e-6},
     .count_particles = count_rope,
     .make_shape = make_rope,
     .add_material = tw_add_links,
     .check = tw_check_plasticity},
    {.schema = {"tower", FIELDS(tower_fields), {&turned}},
     .cost = {2200, 7000, 1e-5},
     .count_particles = count_tower,
     .make_shape = make_tower,
     .add_material = tw_add_girders},
    {.schema = {"mesh", FIELDS(mesh_fields), {&turned, &solid, &hardening}},
     .cost = {2000, 19000, 1.5e-5},
     .make_shape = make_mesh,
     .add_material = tw_add_solid,
     .check = tw_check_solid_material},
    {.schema = {"sheet", FIELDS(sheet_fields), {&turned, &hardening}},
     .cost = {2200, 11000, 1e-5},
     .make_shape = make_sheet,
     .add_material = tw_add_sheet,
     .check = tw_check_plasticity},
    {.schema = {"car", FIELDS(car_fields), {&turned, &hardening}},
     .cost = {2200, 11000, 1e-5},
     .count_particles = count_car,
     .make_shape = make_car,
     .add_material = tw_add_car,
     .check = tw_check_plasticity},
    {.schema = {"fibres", FIELDS(fibre_fields), {NULL}},
     .cost = {1800, 4200, 3e-6},
     .count_particles = count_fibres,
     .build = tw_build_fibres,
     .check = tw_check_fibres},
    {.schema = {"cell", FIELDS(cell_fields), {&turned}},
     .cost = {4000, 40000, 1.5e-5},
     .count_particles = count_cell,
     .make_shape = make_cell,
     .add_material = tw_add_cell},
};
KINDS_OF(body_kinds)

const tw_body_kind *tw_body_kind_of(const tw_node *body)
{
    return &body_kinds[tw_node_integer(body, "kind")];
}

WORDS(global_motions, "free", "rigid")

static const tw_schema_field common_fields[] = {
    {"kind", TW_FIELD_CHOICE, .choice = kind_name, .required = true, .doc = "what the body is"},
    {"name", TW_FIELD_NAME,
     .doc = "what its files are called; not given: as the mesh file, else as its kind; a number is "
            "added where two bodies have the same"},
    {"origin", TW_FIELD_NUMBERS, .length = 3, .unit = "m", .fallback = "[0, 0, 0]",
     .doc = "added to every position (rope: where the first particle is)"},
    {"velocity", TW_FIELD_NUMBERS, .length = 3, .unit = "m/s", .fallback = "[0, 0, 0]",
     .doc = "of every particle at t = 0"},
    {"spin", TW_FIELD_NUMBERS, .length = 3, .unit = "rad/s", .fallback = "[0, 0, 0]",
     .doc = "angular velocity about its centre of mass at t = 0"},
    {"motion", TW_FIELD_CHOICE, .choice = global_motions, .fallback = "free",
     .doc =
         "free: all particles move by themselves and touch; rigid: the body moves as a rigid one "
         "whose bounding box touches planes, and deforms in its frame (docs/plasticity.md)"},
};
const tw_section tw_schema_bodies = {"bodies", FIELDS(common_fields), kind_row};
