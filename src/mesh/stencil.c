/* What remains of the lattice's tetrahedra inside the surface (Labelle and Shewchuk 2007). Each
 * tetrahedron is kept, dropped, or cut by one of four stencils, by how many of its corners are
 * inside, outside and on the surface. */
#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/mesh_internal.h"

/* A vertex of the result: the number of a node, or node_count plus the number of a cut. */
typedef int64_t key;

typedef struct stuffing {
    const tw_bcc *lattice;
    tw_builder built; /* tetrahedra of keys */
    bool failed;      /* memory ran out */
} stuffing;

/* A tetrahedron of the lattice. Corners 0 and 1 are joined by a long edge, so are 2 and 3;
 * all other edges are short. */
typedef struct lattice_cell {
    int64_t node[4];
    int64_t cut[4][4]; /* keys of the cuts between the corners, -1 where there is none */
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

/* Adds the tetrahedron, with two corners swapped if its volume is negative. */
static void add_tetrahedron(stuffing *s, key a, key b, key c, key d)
{
    double volume = vec3_six_volumes(position_of(s, a), position_of(s, b), position_of(s, c),
                                     position_of(s, d));

    /* Swapping two corners changes the sign of the volume. */
    int64_t corners[4] = {a, b, c, d};
    if (!(volume > 0.0)) {
        corners[2] = d;
        corners[3] = c;
    }

    if (tw_builder_tetrahedron(&s->built, corners) != TW_OK) s->failed = true;
}

/* ---- diagonals ---- */

static double square_length(const stuffing *s, key a, key b)
{
    vec3 d = vec3_subtract(position_of(s, a), position_of(s, b));
    return vec3_dot(d, d);
}

/* A face with corners i, j inside and m outside leaves a quadrilateral. Says whether its
 * diagonal runs from i to the cut of (j, m), rather than from j to the cut of (i, m). Both
 * tetrahedra at the face must choose the same diagonal, so the choice depends on the face alone.
 * If one of the two cut edges is long, the diagonal ends at its cut: then the sides of a
 * tetrahedron without its tip m have no cycle. Else the shorter diagonal is taken. */
static bool diagonal_from(const stuffing *s, const lattice_cell *t, int i, int j, int m)
{
    if (is_long(i, m)) return false;
    if (is_long(j, m)) return true;
    double from_i = square_length(s, t->node[i], t->cut[j][m]);
    double from_j = square_length(s, t->node[j], t->cut[i][m]);
    return from_i < from_j || (from_i == from_j && t->node[i] < t->node[j]);
}

/* ---- prisms ---- */

/* A prism between the triangles a and b. before[i][j] says that the diagonal of the side i, j
 * runs from a_i to b_j. If this relation has no cycle it is an order of the three, and the prism
 * falls into three tetrahedra along it. Returns false for a cycle. */
static bool prism_order(bool before[3][3], int order[3])
{
    bool found[3] = {false, false, false};

    /* The vertex that wins twice comes first. In a cycle each wins once. */
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
    int x = order[0];
    int y = order[1];
    int z = order[2];
    const key parts[3][4] = {
        {a[x], a[y], a[z], b[z]}, {a[x], a[y], b[y], b[z]}, {a[x], b[x], b[y], b[z]}};
    for (int i = 0; i < 12; i++) out[i / 4][i % 4] = parts[i / 4][i % 4];
}

static double smallest_angle(const stuffing *s, key parts[3][4])
{
    double smallest = INFINITY;
    double largest = 0.0;

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

/* ---- the four stencils ---- */

/* Three corners p inside: the lattice tetrahedron without its tip m is a prism. */
static void cut_tip(stuffing *s, const lattice_cell *t, const int p[3], int m)
{
    /* Triangle a are the corners inside, triangle b the cuts towards the tip. */
    bool before[3][3] = {{false}};
    key a[3];
    key b[3];
    for (int i = 0; i < 3; i++) {
        a[i] = t->node[p[i]];
        b[i] = t->cut[p[i]][m];
        for (int j = 0; j < i; j++) set_side(before, i, j, diagonal_from(s, t, p[i], p[j], m));
    }

    int order[3] = {0, 1, 2};
    key parts[3][4];
    prism_order(before, order);
    prism_tetrahedra(a, b, order, parts);
    add_prism(s, parts);
}

/* Two corners p inside, two corners m outside: a wedge, which is a prism between two triangles.
 * Its side between the four cuts belongs to the new surface and to no other tetrahedron, so that
 * its diagonal is free: the one with the larger smallest angle is taken. */
static void cut_wedge(stuffing *s, const lattice_cell *t, const int p[2], const int m[2])
{
    const key a[3] = {t->node[p[0]], t->cut[p[0]][m[0]], t->cut[p[0]][m[1]]};
    const key b[3] = {t->node[p[1]], t->cut[p[1]][m[0]], t->cut[p[1]][m[1]]};
    bool before[3][3] = {{false}};

    set_side(before, 0, 1, diagonal_from(s, t, p[0], p[1], m[0]));
    set_side(before, 0, 2, diagonal_from(s, t, p[0], p[1], m[1]));

    /* Try both diagonals of the free side. */
    double best = -1.0;
    int chosen = 0;
    key parts[2][3][4] = {0};
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

/* Two corners p inside, one corner m outside, one (the apex) on the surface: a
 * pyramid over a quadrilateral. */
static void cut_pyramid(stuffing *s, const lattice_cell *t, const int p[2], int m, int apex)
{
    key top = t->node[apex];
    key node0 = t->node[p[0]];
    key node1 = t->node[p[1]];
    key cut0 = t->cut[p[0]][m];
    key cut1 = t->cut[p[1]][m];

    /* The diagonal of the quadrilateral splits the pyramid into two tetrahedra. */
    if (diagonal_from(s, t, p[0], p[1], m)) {
        add_tetrahedron(s, top, node0, node1, cut1);
        add_tetrahedron(s, top, node0, cut1, cut0);
    } else {
        add_tetrahedron(s, top, node0, node1, cut0);
        add_tetrahedron(s, top, node1, cut1, cut0);
    }
}

/* One corner p inside. The other three corners of the tetrahedron that remains are the cuts
 * towards the corners outside, and the corners on the surface themselves. */
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
    /* Sort the corners by their signs. */
    int inside[4];
    int outside[4];
    int on[4];
    int in_count = 0;
    int out_count = 0;
    int on_count = 0;
    for (int k = 0; k < 4; k++) {
        signed char sign = s->lattice->signs[t->node[k]];
        if (sign > 0)
            inside[in_count++] = k;
        else if (sign < 0)
            outside[out_count++] = k;
        else
            on[on_count++] = k;
    }

    /* Choose the stencil. */
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

/* ---- all tetrahedra of the lattice ---- */

/* Looks up the cut between the corners a and b, which is on the given edge of its owner. */
static void set_cut(const tw_bcc *l, lattice_cell *t, int a, int b, int64_t owner, int edge)
{
    int64_t found = -1;
    if (l->signs[t->node[a]] * l->signs[t->node[b]] < 0) {
        int64_t cut = tw_bcc_cut(l, owner, edge);
        if (cut >= 0) found = l->node_count + cut;
    }

    t->cut[a][b] = found;
    t->cut[b][a] = found;
}

/* The octant of the cube `from` that its corner `to` is in. */
static int octant_of(const int64_t from[3], const int64_t to[3])
{
    return (int)((to[0] - from[0]) + 2 * (to[1] - from[1]) + 4 * (to[2] - from[2]));
}

/* Cuts the tetrahedron between the centres of the cubes `cube` and `next`, which follow each
 * other along `axis`, and the corners c and c + 1 along `along`. */
static void cut_cell_at(stuffing *s, const int64_t cube[3], int axis, const int64_t c[3], int along)
{
    const tw_bcc *l = s->lattice;
    int64_t next[3] = {cube[0], cube[1], cube[2]};
    int64_t d[3] = {c[0], c[1], c[2]};

    next[axis]++;
    d[along]++;
    lattice_cell t = {.node = {tw_bcc_centre(l, cube[0], cube[1], cube[2]),
                               tw_bcc_centre(l, next[0], next[1], next[2]),
                               tw_bcc_corner(l, c[0], c[1], c[2]),
                               tw_bcc_corner(l, d[0], d[1], d[2])}};

    /* Two long edges, then four short ones. */
    set_cut(l, &t, 0, 1, t.node[0], axis);
    set_cut(l, &t, 2, 3, t.node[2], along);
    set_cut(l, &t, 0, 2, t.node[0], TW_BCC_SHORT + octant_of(cube, c));
    set_cut(l, &t, 0, 3, t.node[0], TW_BCC_SHORT + octant_of(cube, d));
    set_cut(l, &t, 1, 2, t.node[1], TW_BCC_SHORT + octant_of(next, c));
    set_cut(l, &t, 1, 3, t.node[1], TW_BCC_SHORT + octant_of(next, d));
    cut_cell(s, &t);
}

/* Cuts the four tetrahedra around the edge from the centre of a cube to that of the next one
 * along `axis`. Each has one edge of the face between the two cubes. */
static void cut_cells_of_face(stuffing *s, const int64_t cube[3], int axis)
{
    const int u = (axis + 1) % 3;
    const int v = (axis + 2) % 3;

    /* Per edge of the face: steps along u and v to its first corner, and
     * whether it runs along v. */
    static const int sides[4][3] = {{0, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 0, 1}};
    for (int side = 0; side < 4; side++) {
        int64_t c[3] = {cube[0], cube[1], cube[2]};
        c[axis]++;
        c[u] += sides[side][0];
        c[v] += sides[side][1];
        cut_cell_at(s, cube, axis, c, sides[side][2] ? v : u);
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

/* Makes vertices for the keys in use, in their order. */
static tw_status number_vertices(stuffing *s, tw_mesh *out, tw_error *error)
{
    int64_t keys = s->lattice->node_count + s->lattice->cut_count;
    int64_t cells = s->built.mesh.tetrahedron_count;
    int64_t *number = tw_allocate_zeroed((size_t)keys, sizeof *number);
    if (!number) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* Mark and count the keys in use. */
    int64_t count = 0;
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

    tw_status status = TW_OK;

    /* From keys to numbers of vertices. */
    if (s.failed)
        status = tw_fail_plain(error, TW_OUT_OF_MEMORY);
    else
        status = number_vertices(&s, out, error);
    tw_builder_free(&s.built);
    return status;
}
