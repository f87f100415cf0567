/* Bodies. A new one is a word in `body_kinds`, its fields here, and a maker in build_geometry.c. */
#include "scene/schema_tables.h"

#define SOLIDS   "coil box bar mesh"
#define UNPLACED "coil cloth box bar tower mesh"

WORDS(body_kinds, "coil", "cloth", "box", "bar", "rope", "tower", "mesh")
/* In the order of tw_material. */
WORDS(solid_materials, "springs", "linear", "corotational", "neo-hookean")
WORDS(inertias, "lumped", "consistent")
WORDS(tower_materials, "springs", "warping")

static const tw_schema_field fields[] = {
    {"kind", TW_FIELD_CHOICE, .choice = body_kinds, .required = true, .doc = "what the body is"},
    {"name", TW_FIELD_NAME,
     .doc = "what its files are called; not given: as the mesh file, else as its kind; a number is "
            "added where two "
            "bodies have the same"},
    /* shape */
    {"sections", TW_FIELD_INTEGER, .kinds = "coil", .range = BETWEEN(2, 100000000),
     .fallback = "500", .doc = "cross-sections along the wire"},
    {"across", TW_FIELD_INTEGER, .kinds = "coil", .range = BETWEEN(2, 1000), .fallback = "4",
     .doc = "particles along each side of a cross-section"},
    {"turns", TW_FIELD_NUMBER, .kinds = "coil", .range = ABOVE(0), .fallback = "6",
     .doc = "windings"},
    {"radius", TW_FIELD_NUMBER, .kinds = "coil", .unit = "m", .range = ABOVE(0), .fallback = "1",
     .doc = "from the axis to the middle of the wire"},
    {"height", TW_FIELD_NUMBER, .kinds = "coil", .unit = "m", .range = ABOVE(0), .fallback = "4",
     .doc = "from the middle of the first section to that of the last"},
    {"thickness", TW_FIELD_NUMBER, .kinds = "coil", .unit = "m", .range = ABOVE(0),
     .fallback = "0.3", .doc = "side of the square cross-section"},
    {"columns", TW_FIELD_INTEGER, .kinds = "cloth", .range = BETWEEN(2, 100000), .fallback = "50",
     .doc = "particles along its width; particle c + columns r is in column c, row r"},
    {"rows", TW_FIELD_INTEGER, .kinds = "cloth", .range = BETWEEN(2, 100000), .fallback = "70",
     .doc = "particles along its height"},
    {"width", TW_FIELD_NUMBER, .kinds = "cloth", .unit = "m", .range = ABOVE(0), .fallback = "1",
     .doc = "along x before it is turned"},
    {"height", TW_FIELD_NUMBER, .kinds = "cloth", .unit = "m", .range = ABOVE(0), .fallback = "1",
     .doc = "along z before it is turned"},
    {"size", TW_FIELD_NUMBERS, .kinds = "box", .length = 3, .unit = "m", .range = ABOVE(0),
     .fallback = "[1, 1, 1]", .doc = "along x, y, z before it is turned, from the origin"},
    {"cells", TW_FIELD_INTEGERS, .kinds = "box", .length = 3, .range = BETWEEN(1, 100000),
     .fallback = "[4, 4, 4]",
     .doc = "along x, y, z, of six tetrahedra each; particle a + (m + 1) b + (m + 1)(n + 1) c for "
            "m, n of them in x, y"},
    {"length", TW_FIELD_NUMBER, .kinds = "bar", .unit = "m", .range = ABOVE(0), .fallback = "1",
     .doc = "along x before it is turned"},
    {"thickness", TW_FIELD_NUMBER, .kinds = "bar", .unit = "m", .range = ABOVE(0),
     .fallback = "0.1", .doc = "side of its square cross-section"},
    {"cells", TW_FIELD_INTEGERS, .kinds = "bar", .length = 2, .range = BETWEEN(1, 1000000),
     .fallback = "[20, 2]", .doc = "along its length and along each side of its cross-section"},
    {"count", TW_FIELD_INTEGER, .kinds = "rope", .range = BETWEEN(1, 10000000), .fallback = "10",
     .doc = "number of links; there is one particle more"},
    {"length", TW_FIELD_NUMBER, .kinds = "rope", .unit = "m", .range = ABOVE(0), .fallback = "0.1",
     .doc = "length of a link, at rest"},
    {"height", TW_FIELD_NUMBER, .kinds = "tower", .unit = "m", .range = ABOVE(0), .fallback = "3",
     .doc = "to the tip of its spire"},
    {"width", TW_FIELD_NUMBER, .kinds = "tower", .unit = "m", .range = ABOVE(0), .fallback = "1.2",
     .doc = "of its base"},
    {"detail", TW_FIELD_NUMBER, .kinds = "tower", .range = BETWEEN(0.1, 1000), .fallback = "1",
     .doc = "number of cross-sections, relative to the tower of 4,936 nodes"},
    {"file", TW_FIELD_TEXT, .kinds = "mesh", .required = true,
     .doc = "OBJ, PLY, STL, TetGen, Gmsh, VTK or MEDIT, relative to the scene file; see "
            "docs/meshes.md"},
    {"vertices", TW_FIELD_INTEGER, .kinds = "mesh", .range = BETWEEN(8, 100000000),
     .fallback = "4000", .doc = "a surface is filled with tetrahedra of about so many vertices"},
    {"extent", TW_FIELD_NUMBER, .kinds = "mesh", .unit = "m", .range = ABOVE(0),
     .doc = "its longest side after it was turned; not given: as in the file"},
    /* place */
    {"origin", TW_FIELD_NUMBERS, .length = 3, .unit = "m", .fallback = "[0, 0, 0]",
     .doc = "added to every position (rope: where the first particle is)"},
    {"rotation", TW_FIELD_NUMBERS, .kinds = UNPLACED, .length = 3, .unit = "degrees",
     .fallback = "[0, 0, 0]",
     .doc = "about the axes x, then y, then z, before the origin is added; [90, 0, 0] for files "
            "with y up"},
    {"direction", TW_FIELD_NUMBERS, .kinds = "rope", .length = 3, .fallback = "[1, 0, 0]",
     .doc = "from the first particle to the last, of any length but zero"},
    {"velocity", TW_FIELD_NUMBERS, .length = 3, .unit = "m/s", .fallback = "[0, 0, 0]",
     .doc = "of every particle at t = 0"},
    {"spin", TW_FIELD_NUMBERS, .length = 3, .unit = "rad/s", .fallback = "[0, 0, 0]",
     .doc = "angular velocity about its centre of mass at t = 0"},
    /* mass */
    {"mass", TW_FIELD_NUMBER, .kinds = UNPLACED, .unit = "kg", .range = ABOVE(0),
     .doc = "mass of each particle; or give density"},
    {"mass", TW_FIELD_NUMBER, .kinds = "rope", .unit = "kg", .range = ABOVE(0), .fallback = "0.1",
     .doc = "mass of each particle"},
    {"density", TW_FIELD_NUMBER, .kinds = SOLIDS, .unit = "kg/m^3", .range = ABOVE(0),
     .doc = "of the tetrahedra, lumped to their corners; or give mass"},
    {"density", TW_FIELD_NUMBER, .kinds = "cloth", .unit = "kg/m^2", .range = ABOVE(0),
     .doc = "of the sheet, lumped to the corners of its triangles; or give mass"},
    {"density", TW_FIELD_NUMBER, .kinds = "tower", .unit = "kg/m", .range = ABOVE(0),
     .doc = "of the girders, half to each end; or give mass"},
    {"inertia", TW_FIELD_CHOICE, .kinds = SOLIDS, .choice = inertias, .fallback = "lumped",
     .doc = "masses at the particles, or the consistent mass of the elements (with density; for "
            "more digits of "
            "frequencies)"},
    /* material */
    {"material", TW_FIELD_CHOICE, .kinds = SOLIDS, .choice = solid_materials, .fallback = "springs",
     .doc = "springs along the edges of the tetrahedra, or finite elements"},
    {"material", TW_FIELD_CHOICE, .kinds = "tower", .choice = tower_materials,
     .fallback = "warping",
     .doc = "springs along the girders, or their linear stiffness turned with each node (stiffness "
            "warping)"},
    {"stiffness", TW_FIELD_NUMBER, .kinds = "rope", .unit = "N/m", .range = ABOVE(0),
     .fallback = "1e4", .doc = "of each link"},
    {"stiffness", TW_FIELD_NUMBER, .kinds = SOLIDS, .unit = "N/m", .range = ABOVE(0),
     .doc = "springs: along every edge of the tetrahedra"},
    {"stiffness", TW_FIELD_NUMBER, .kinds = "cloth", .unit = "N/m", .range = ABOVE(0),
     .required = true, .doc = "structural: along the threads"},
    {"stiffness", TW_FIELD_NUMBER, .kinds = "tower", .unit = "N/m", .range = ABOVE(0),
     .required = true, .doc = "of the girders above `below`"},
    {"stiffness_below", TW_FIELD_NUMBER, .kinds = "tower", .unit = "N/m", .range = ABOVE(0),
     .required = true, .doc = "of the girders whose middle is below it"},
    {"below", TW_FIELD_NUMBER, .kinds = "tower", .range = BETWEEN(0, 1), .fallback = "0.4",
     .doc = "share of the height up to which stiffness_below holds"},
    {"diagonal", TW_FIELD_NUMBER, .kinds = SOLIDS, .unit = "N/m", .range = ABOVE(0),
     .doc =
         "springs: besides, from each corner of a tetrahedron to the centre of the face opposite"},
    {"shear", TW_FIELD_NUMBER, .kinds = "cloth", .unit = "N/m", .range = ABOVE(0), .required = true,
     .doc = "along both diagonals of the cells"},
    {"bending", TW_FIELD_NUMBER, .kinds = "cloth", .unit = "N/m", .range = ABOVE(0),
     .required = true, .doc = "from a particle to the second next along a thread"},
    {"hardening", TW_FIELD_NUMBER, .kinds = "rope coil cloth box bar mesh", .range = AT_LEAST(0),
     .doc = "c of springs with the pull k L (e + c e^3) at the strain e; not given: linear"},
    {"youngs_modulus", TW_FIELD_NUMBER, .kinds = SOLIDS, .unit = "Pa", .range = ABOVE(0),
     .doc = "finite elements: E"},
    {"poisson_ratio", TW_FIELD_NUMBER, .kinds = SOLIDS, .range = INSIDE(-1, 0.5),
     .doc = "finite elements: nu; not given: 0.3"},
    {"order", TW_FIELD_INTEGER, .kinds = SOLIDS, .range = BETWEEN(1, 2),
     .doc = "finite elements: 1 (not given), or 2 for ten-node elements, with a particle in the "
            "middle of every edge"},
};
SECTION(tw_schema_bodies, "bodies", fields);
