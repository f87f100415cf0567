/* The five regular solids: their vertices are listed, their faces are found as the planes that have all vertices on one
 * side. */
#include <check.h>
#include <math.h>

#include "base/vector3.h"
#include "support/surfaces.h"

enum { MOST_VERTICES = 20, MOST_CORNERS = 5 };

static const double golden = 1.618033988749895;
static const double on_plane = 1e-9; /* vertices are of order 1 */

static int add_cube(vec3 *p, int count)
{
    for (int i = 0; i < 8; i++)
        p[count++] = (vec3){(i & 1) ? 1 : -1, (i & 2) ? 1 : -1, (i & 4) ? 1 : -1};
    return count;
}

/* (0, +-a, +-b) and its cyclic permutations. */
static int add_cyclic(vec3 *p, int count, double a, double b)
{
    for (int i = 0; i < 4; i++) {
        double y = (i & 1) ? a : -a;
        double z = (i & 2) ? b : -b;
        p[count++] = (vec3){0, y, z};
        p[count++] = (vec3){y, z, 0};
        p[count++] = (vec3){z, 0, y};
    }
    return count;
}

static int list_vertices(int faces, vec3 *p)
{
    static const vec3 tetrahedron[4] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
    static const vec3 octahedron[6] = {{1, 0, 0},  {-1, 0, 0}, {0, 1, 0},
                                       {0, -1, 0}, {0, 0, 1},  {0, 0, -1}};
    int count = 0;
    if (faces == 4)
        for (; count < 4; count++) p[count] = tetrahedron[count];
    if (faces == 8)
        for (; count < 6; count++) p[count] = octahedron[count];
    if (faces == 6 || faces == 12) count = add_cube(p, count);
    if (faces == 12) count = add_cyclic(p, count, 1 / golden, golden);
    if (faces == 20) count = add_cyclic(p, count, 1, golden);
    return count;
}

/* The vertices on the plane of three of them, around it in order; 0 if the plane is no face, or was found before with a
 * smaller triple. */
static int find_face(const vec3 *p, int count, const int triple[3], int face[MOST_CORNERS])
{
    vec3 edge = vec3_subtract(p[triple[1]], p[triple[0]]);
    vec3 normal = vec3_cross(edge, vec3_subtract(p[triple[2]], p[triple[0]]));
    if (vec3_dot(normal, p[triple[0]]) < 0) normal = vec3_scale(-1, normal);
    int corners = 0;
    double angles[MOST_CORNERS];
    vec3 across = vec3_scale(1 / vec3_length(normal), vec3_cross(normal, edge));
    for (int i = 0; i < count; i++) {
        double above = vec3_dot(normal, vec3_subtract(p[i], p[triple[0]]));
        if (above > on_plane) return 0;
        if (above < -on_plane) continue;
        if (corners < 3 && i != triple[corners]) return 0;
        face[corners++] = i;
    }

    /* Sort by the angle around the axis through the origin: the centre of the face is on it. */
    for (int i = 0; i < corners; i++)
        angles[i] = atan2(vec3_dot(across, p[face[i]]), vec3_dot(edge, p[face[i]]));
    for (int i = 0; i < corners; i++)
        for (int j = i + 1; j < corners; j++)
            if (angles[j] < angles[i]) {
                double angle = angles[i];
                int corner = face[i];
                angles[i] = angles[j], angles[j] = angle;
                face[i] = face[j], face[j] = corner;
            }
    return corners;
}

double surface_regular(int faces, tw_mesh *out)
{
    vec3 p[MOST_VERTICES];
    int count = list_vertices(faces, p);
    int per_face = faces == 6 ? 4 : faces == 12 ? 5 : 3;
    ck_assert_int_eq(tw_mesh_allocate(out, count, 0, (int64_t)faces * (per_face - 2), 0, NULL),
                     TW_OK);
    for (int i = 0; i < count; i++) {
        out->vertices[3 * i] = p[i].x;
        out->vertices[3 * i + 1] = p[i].y;
        out->vertices[3 * i + 2] = p[i].z;
    }

    int64_t *t = out->triangles;
    for (int i = 0; i < count; i++)
        for (int j = i + 1; j < count; j++)
            for (int k = j + 1; k < count; k++) {
                int face[MOST_CORNERS];
                int corners = find_face(p, count, (const int[3]){i, j, k}, face);
                for (int c = 2; c < corners; c++) {
                    *t++ = face[0];
                    *t++ = face[c - 1];
                    *t++ = face[c];
                }
            }
    ck_assert_int_eq(t - out->triangles, 3 * out->triangle_count);
    return tw_mesh_volume(out);
}
