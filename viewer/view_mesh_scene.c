/* A scene for a mesh without one: every piece of it stands on its lowest part and sways. */
#include <math.h>

#include "view.h"
#include "view_live.h"

/* About so many particles; so many pieces are held. */
enum { VERTICES = 1000, MOST_PIECES = 64 };

static const double EXTENT = 1.5;       /* the longest side [m] */
static const double HELD_SHARE = 0.05;  /* of the height of a piece */
static const double ROOM_SHARE = 0.001; /* so much larger than its piece is a box around it */

/* The body as the scene makes it, but not as large: what is no solid is filled. */
static tw_status load_body(const char *path, tw_mesh *body, tw_error *error)
{
    tw_mesh_repairs repairs;
    tw_mesh mesh = {0};
    tw_status status = tw_mesh_load(path, &mesh, &repairs, error);
    if (status != TW_OK || mesh.tetrahedron_count > 0) {
        *body = mesh;
        return status;
    }

    tw_fill_options options = tw_fill_options_default();
    options.vertex_count = VERTICES;
    status = tw_mesh_fill(&mesh, &options, body, NULL, error);
    tw_mesh_free(&mesh);
    return status;
}

/* Holds the lowest part of a piece whose box is given in the scene. */
static void write_pin(const mesh_box *piece, view_text *text)
{
    double height = piece->upper[2] - piece->lower[2];
    double top = piece->lower[2] + HELD_SHARE * height;
    double room = ROOM_SHARE * EXTENT;
    view_text_add(text, "  - {body: 0, lower: [%.9g, %.9g, %.9g], upper: [%.9g, %.9g, %.9g]}\n",
                  piece->lower[0] - room, piece->lower[1] - room, piece->lower[2] - room,
                  piece->upper[0] + room, piece->upper[1] + room, top);
}

/* Holds every piece of a body of several; false: it has one, or cannot be made. */
static bool write_pins(const tw_mesh *body, view_text *text)
{
    mesh_box pieces[MOST_PIECES];
    int64_t count = 0;
    tw_error error = {0};
    if (find_mesh_pieces(body, MOST_PIECES, pieces, &count, &error) != TW_OK) return false;
    if (count < 2) return false;

    /* The scene makes the longest side of the body EXTENT long. */
    mesh_box whole = {0};
    tw_mesh_bounds(body, whole.lower, whole.upper);
    double side = 0.0;
    for (int k = 0; k < 3; k++) side = fmax(side, whole.upper[k] - whole.lower[k]);
    double factor = side > 0.0 ? EXTENT / side : 1.0;

    for (int64_t i = 0; i < count && i < MOST_PIECES; i++) {
        for (int k = 0; k < 3; k++) {
            pieces[i].lower[k] *= factor;
            pieces[i].upper[k] *= factor;
        }
        write_pin(&pieces[i], text);
    }
    return true;
}

void view_mesh_scene_write(const char *path, view_text *text)
{
    char name[64];
    view_name_of_file(path, sizeof name, name);

    /* Texts of JSON are texts of YAML, too. */
    view_text_add(text, "name: \"%s\"\n", name);
    view_text_add(text, "duration: 10\n"
                        "gravity: [0, 0, -9.81]\n"
                        "integrator: {name: expmid2, step: 0.02, dissipation: 0.1}\n"
                        "bodies:\n"
                        "  - {kind: mesh, file: ");
    view_text_string(text, path);
    view_text_add(text,
                  ", vertices: %d, extent: %g, density: 1000, "
                  "material: neo-hookean, youngs_modulus: 2e5}\n"
                  "pins:\n",
                  VERTICES, EXTENT);

    /* What is wrong with a mesh is said when its scene is built. */
    tw_mesh body = {0};
    tw_error error = {0};
    bool is_held = load_body(path, &body, &error) == TW_OK && write_pins(&body, text);
    if (!is_held) view_text_add(text, "  - {body: 0, lowest: %g}\n", HELD_SHARE);
    tw_mesh_free(&body);
}
