#include "mesh/stencil.h"

#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/dihedral.h"

/* A vertex of the result: a node of the lattice, or node_count plus the number of a cut. */
typedef int64_t key;

typedef struct stuffing {
    const tw_bcc *lattice;
    tw_builder built; /* tetrahedra of keys */
    bool failed;
} stuffing;

/* A tetrahedron of the lattice: corners 0 and 1 are joined by a long edge, so are 2 and 3; all others are short. */
typedef struct lattice_cell {
    int64_t node[4];
    int64_t cut[4][4]; /* keys of the cuts between them, -1 where there is none */
} lattice_cell;

static bool is_long(int a, int b)
{
    return (a ^ b) == 1;
}

static vec3 position_of(const stuffing *s, key k)
{
    int64_t nodes = s->lattice->node_count;
    return k < nodes ? tw_bcc_position(s->lattice, k) : s->lattice->cuts[k - nodes];
}

/* Turned to positive volume. */
static void add_tetrahedron(stuffing *s, key a, key b, key c, key d)
{
    double volume = vec3_six_volumes(position_of(s, a), position_of(s, b), position_of(s, c),
                                     position_of(s, d));
    const int64_t corners[4] = {a, b, volume > 0.0 ? c : d, volume > 0.0 ? d : c};
    if (tw_builder_tetrahedron(&s->built, corners) != TW_OK) s->failed = true;
}

static double square_length(const stuffing *s, key a, key b)
{
    vec3 d = vec3_subtract(position_of(s, a), position_of(s, b));
    return vec3_dot(d, d);
}

/* The quadrilateral left of a face with corners i, j inside and m outside: whether its diagonal runs from i to the cut
 * of (j, m), rather than from j to the cut of (i, m). Both tetrahedra at the face must say the same, so this looks at
 * the face alone. If one of the two cut edges is long, the diagonal ends at its cut: then no tip without m has a cycle.
 * Else the shorter diagonal is taken. */
static bool diagonal_from(const stuffing *s, const lattice_cell *t, int i, int j, int m)
{
    if (is_long(i, m)) return false;
    if (is_long(j, m)) return true;
    double from_i = square_length(s, t->node[i], t->cut[j][m]),
           from_j = square_length(s, t->node[j], t->cut[i][m]);
    return from_i < from_j || (from_i == from_j && t->node[i] < t->node[j]);
}

/* A prism between triangles a and b. before[i][j] says that the diagonal of the side i, j runs from a_i to b_j; without
 * a cycle in it this is an order of the three, and the prism falls into three tetrahedra along it. */
static bool prism_order(bool before[3][3], int order[3])
{
    bool found[3] = {false, false, false};
    for (int i = 0; i < 3; i++) {
        int wins = 0;
        for (int j = 0; j < 3; j++) wins += j != i && before[i][j];
        order[2 - wins] = i;
        found[2 - wins] = true;
    }
    return found[0] && found[1] && found[2];
}

static void set_side(bool before[3][3], int i, int j, bool from_i)
{
    before[i][j] = from_i;
    before[j][i] = !from_i;
}

static void prism_tetrahedra(const key a[3], const key b[3], const int order[3], key out[3][4])
{
    int x = order[0], y = order[1], z = order[2];
    const key parts[3][4] = {
        {a[x], a[y], a[z], b[z]}, {a[x], a[y], b[y], b[z]}, {a[x], b[x], b[y], b[z]}};
    for (int i = 0; i < 12; i++) out[i / 4][i % 4] = parts[i / 4][i % 4];
}

static double smallest_angle(const stuffing *s, key parts[3][4])
{
    double smallest = INFINITY, largest = 0.0;
    for (int i = 0; i < 3; i++) {
        vec3 p[4];
        for (int k = 0; k < 4; k++) p[k] = position_of(s, parts[i][k]);
        tw_dihedral_range(p, &smallest, &largest);
    }
    return smallest;
}

static void add_prism(stuffing *s, key parts[3][4])
{
    for (int i = 0; i < 3; i++)
        add_tetrahedron(s, parts[i][0], parts[i][1], parts[i][2], parts[i][3]);
}

/* Three corners inside: the lattice tetrahedron without its tip m. */
static void cut_tip(stuffing *s, const lattice_cell *t, const int p[3], int m)
{
    bool before[3][3] = {{false}};
    int order[3] = {0, 1, 2};
    key a[3], b[3], parts[3][4];
    for (int i = 0; i < 3; i++) {
        a[i] = t->node[p[i]];
        b[i] = t->cut[p[i]][m];
        for (int j = 0; j < i; j++) set_side(before, i, j, diagonal_from(s, t, p[i], p[j], m));
    }
    prism_order(before, order);
    prism_tetrahedra(a, b, order, parts);
    add_prism(s, parts);
}

/* Two corners inside, two outside: a wedge. Its side between the four cuts belongs to the new surface and to no other
 * tetrahedron, so that its diagonal is free: the better one is taken. */
static void cut_wedge(stuffing *s, const lattice_cell *t, const int p[2], const int m[2])
{
    const key a[3] = {t->node[p[0]], t->cut[p[0]][m[0]], t->cut[p[0]][m[1]]};
    const key b[3] = {t->node[p[1]], t->cut[p[1]][m[0]], t->cut[p[1]][m[1]]};
    bool before[3][3] = {{false}};
    double best = -1.0;
    key parts[2][3][4] = {0};
    int chosen = 0;
    set_side(before, 0, 1, diagonal_from(s, t, p[0], p[1], m[0]));
    set_side(before, 0, 2, diagonal_from(s, t, p[0], p[1], m[1]));
    for (int way = 0; way < 2; way++) {
        int order[3];
        set_side(before, 1, 2, way == 0);
        if (!prism_order(before, order)) continue;
        prism_tetrahedra(a, b, order, parts[way]);
        double angle = smallest_angle(s, parts[way]);
        if (angle > best) {
            best = angle;
            chosen = way;
        }
    }
    add_prism(s, parts[chosen]);
}

/* Two corners inside, one outside, one on the surface: a pyramid over the quadrilateral. */
static void cut_pyramid(stuffing *s, const lattice_cell *t, const int p[2], int m, int apex)
{
    key top = t->node[apex], cut0 = t->cut[p[0]][m], cut1 = t->cut[p[1]][m];
    key node0 = t->node[p[0]], node1 = t->node[p[1]];
    bool from_first = diagonal_from(s, t, p[0], p[1], m);
    add_tetrahedron(s, top, node0, node1, from_first ? cut1 : cut0);
    add_tetrahedron(s, top, from_first ? node0 : node1, cut1, cut0);
}

/* One corner inside: it, and for each other one the corner itself if it is on the surface, else the cut towards it. */
static void keep_corner(stuffing *s, const lattice_cell *t, int p)
{
    key corner[3];
    int count = 0;
    for (int k = 0; k < 4; k++)
        if (k != p) corner[count++] = t->cut[p][k] >= 0 ? t->cut[p][k] : t->node[k];
    add_tetrahedron(s, t->node[p], corner[0], corner[1], corner[2]);
}

static void cut_cell(stuffing *s, const lattice_cell *t)
{
    int inside[4], outside[4], on[4], in_count = 0, out_count = 0, on_count = 0;
    for (int k = 0; k < 4; k++) {
        signed char sign = s->lattice->signs[t->node[k]];
        if (sign > 0)
            inside[in_count++] = k;
        else if (sign < 0)
            outside[out_count++] = k;
        else
            on[on_count++] = k;
    }
    if (in_count == 0) return;
    if (out_count == 0)
        add_tetrahedron(s, t->node[0], t->node[1], t->node[2], t->node[3]);
    else if (in_count == 1)
        keep_corner(s, t, inside[0]);
    else if (in_count == 3)
        cut_tip(s, t, inside, outside[0]);
    else if (out_count == 2)
        cut_wedge(s, t, inside, outside);
    else
        cut_pyramid(s, t, inside, outside[0], on[0]);
}

static void set_cut(const tw_bcc *l, lattice_cell *t, int a, int b, int64_t owner, int edge)
{
    int64_t cut = -1;
    if (l->signs[t->node[a]] * l->signs[t->node[b]] < 0) cut = tw_bcc_cut(l, owner, edge);
    t->cut[a][b] = t->cut[b][a] = cut >= 0 ? l->node_count + cut : -1;
}

/* The four tetrahedra around the edge from the centre of a cube to that of the next one along `axis`: with each edge of
 * the face between them. */
static void cut_cells_of_face(stuffing *s, const int64_t cube[3], int axis)
{
    const tw_bcc *l = s->lattice;
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    int64_t next[3] = {cube[0], cube[1], cube[2]};
    next[axis]++;
    int64_t first = tw_bcc_centre(l, cube[0], cube[1], cube[2]);
    int64_t second = tw_bcc_centre(l, next[0], next[1], next[2]);
    static const int sides[4][3] = {
        {0, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}}; /* corner u, v; 1: the edge runs along v */
    for (int side = 0; side < 4; side++) {
        const int along = sides[side][2] ? v : u;
        int64_t c[3] = {next[0], next[1], next[2]}, d[3];
        c[u] += sides[side][0];
        c[v] += sides[side][1];
        for (int k = 0; k < 3; k++) d[k] = c[k] + (k == along);
        lattice_cell t = {.node = {first, second, tw_bcc_corner(l, c[0], c[1], c[2]),
                                   tw_bcc_corner(l, d[0], d[1], d[2])}};
        set_cut(l, &t, 0, 1, first, axis);
        set_cut(l, &t, 2, 3, t.node[2], along);
        for (int centre = 0; centre < 2; centre++)
            for (int corner = 2; corner < 4; corner++) {
                const int64_t *from = centre ? next : cube, *to = corner == 2 ? c : d;
                int octant =
                    (int)((to[0] - from[0]) + 2 * (to[1] - from[1]) + 4 * (to[2] - from[2]));
                set_cut(l, &t, centre, corner, t.node[centre], TW_BCC_SHORT + octant);
            }
        cut_cell(s, &t);
    }
}

static void cut_all_cells(stuffing *s)
{
    const int64_t *cubes = s->lattice->cubes;
    for (int64_t k = 0; k < cubes[2]; k++)
        for (int64_t j = 0; j < cubes[1]; j++)
            for (int64_t i = 0; i < cubes[0]; i++)
                for (int axis = 0; axis < 3; axis++) {
                    const int64_t cube[3] = {i, j, k};
                    if (cube[axis] + 1 < cubes[axis]) cut_cells_of_face(s, cube, axis);
                }
}

/* Vertices for the keys in use, in their order. */
static tw_status number_vertices(stuffing *s, tw_mesh *out, tw_error *error)
{
    int64_t keys = s->lattice->node_count + s->lattice->cut_count, count = 0;
    int64_t cells = s->built.mesh.tetrahedron_count,
            *number = tw_allocate_zeroed((size_t)keys, sizeof *number);
    if (!number) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    for (int64_t i = 0; i < 4 * cells; i++) number[s->built.mesh.tetrahedra[i]] = 1;
    for (int64_t k = 0; k < keys; k++) count += number[k];
    tw_status status = tw_mesh_allocate(out, count, 0, 0, cells, error);
    if (status == TW_OK) {
        count = 0;
        for (int64_t k = 0; k < keys; k++) {
            if (!number[k]) continue;
            vec3_store(out->vertices, count, position_of(s, k));
            number[k] = count++;
        }
        for (int64_t i = 0; i < 4 * cells; i++)
            out->tetrahedra[i] = number[s->built.mesh.tetrahedra[i]];
    }
    tw_release(number);
    return status;
}

tw_status tw_bcc_cut_tetrahedra(const tw_bcc *lattice, tw_mesh *out, tw_error *error)
{
    stuffing s = {.lattice = lattice};
    *out = (tw_mesh){0};
    cut_all_cells(&s);
    tw_status status =
        s.failed ? tw_fail_plain(error, TW_OUT_OF_MEMORY) : number_vertices(&s, out, error);
    tw_builder_free(&s.built);
    return status;
}
