/* The surface of a solid: the faces of its tetrahedra that have no neighbour. */
#include <stdbool.h>

#include "base/allocate.h"
#include "model/display_list.h"

/* The corners of each face, counter-clockwise from outside where the volume is positive. Face k is
 * opposite to corner k. */
static const int faces[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};

/* A face in the bucket of its smallest vertex. */
typedef struct face {
    int64_t middle;  /* of its three vertices */
    int64_t largest; /* of its three vertices */
    int64_t index;   /* 4 * tetrahedron + face */
} face;

static void sort_three(int64_t v[3])
{
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < 2; i++)
            if (v[i] > v[i + 1]) {
                int64_t larger = v[i];
                v[i] = v[i + 1];
                v[i + 1] = larger;
            }
}

/* The vertices of a face in ascending order. */
static void sorted_face(const int64_t *tetrahedra, int64_t index, int64_t v[3])
{
    const int *corner = faces[index % 4];
    for (int k = 0; k < 3; k++) v[k] = tetrahedra[4 * (index / 4) + corner[k]];
    sort_three(v);
}

/* Marks the faces of one bucket that occur once. Buckets are short: a vertex is in few faces. */
static void mark_single(const face *bucket, int64_t count, bool *single)
{
    for (int64_t i = 0; i < count; i++) {
        bool alone = true;
        for (int64_t j = 0; j < count && alone; j++)
            alone = i == j || bucket[i].middle != bucket[j].middle ||
                    bucket[i].largest != bucket[j].largest;
        single[bucket[i].index] = alone;
    }
}

/* Sorts the faces into buckets by their smallest vertex (counting sort), and marks those that occur
 * once. `start` has particle_count + 1 zeros. */
static void find_single(int64_t face_count, const int64_t *tetrahedra, int64_t particle_count,
                        int64_t *start, face *sorted, bool *single)
{
    /* start[p + 1] counts the faces of bucket p, and then becomes its end. */
    int64_t v[3];
    for (int64_t i = 0; i < face_count; i++) {
        sorted_face(tetrahedra, i, v);
        start[v[0] + 1]++;
    }
    for (int64_t p = 0; p < particle_count; p++) start[p + 1] += start[p];

    /* Filling from the back moves start[p + 1] down to the beginning of bucket p. */
    for (int64_t i = face_count - 1; i >= 0; i--) {
        sorted_face(tetrahedra, i, v);
        sorted[--start[v[0] + 1]] = (face){v[1], v[2], i};
    }

    /* A bucket ends where the next one begins. */
    for (int64_t p = 0; p < particle_count; p++) {
        int64_t begin = start[p + 1];
        int64_t end = p + 1 < particle_count ? start[p + 2] : face_count;
        mark_single(sorted + begin, end - begin, single);
    }
}

/* (b - a) x (c - a) . (d - a). */
static double signed_volume(const double *a, const double *b, const double *c, const double *d)
{
    double u[3], v[3], w[3];
    for (int k = 0; k < 3; k++) {
        u[k] = b[k] - a[k];
        v[k] = c[k] - a[k];
        w[k] = d[k] - a[k];
    }

    return (u[1] * v[2] - u[2] * v[1]) * w[0] + (u[2] * v[0] - u[0] * v[2]) * w[1] +
           (u[0] * v[1] - u[1] * v[0]) * w[2];
}

/* The vertices of a face, counter-clockwise from outside. */
static void outward_face(const int64_t *t, const double *positions, int which, int64_t out[3])
{
    /* A negative volume turns all faces around. */
    bool positive = signed_volume(positions + 3 * t[0], positions + 3 * t[1], positions + 3 * t[2],
                                  positions + 3 * t[3]) >= 0.0;

    const int *corner = faces[which];
    out[0] = t[corner[0]];
    out[1] = t[corner[positive ? 1 : 2]];
    out[2] = t[corner[positive ? 2 : 1]];
}

tw_status tw_display_boundary(int64_t count, const int64_t *tetrahedra, int64_t particle_count,
                              const double *positions, int64_t *triangle_count, int64_t **out)
{
    int64_t face_count = 4 * count;
    int64_t kept = 0;
    int64_t *start = tw_allocate_zeroed((size_t)particle_count + 1, sizeof(int64_t));
    face *sorted = TW_NEW_ARRAY(face_count, face);
    bool *single = TW_NEW_ARRAY(face_count, bool);

    *out = NULL;

    /* The faces that occur once are the boundary. */
    if (start && sorted && single) {
        find_single(face_count, tetrahedra, particle_count, start, sorted, single);
        for (int64_t i = 0; i < face_count; i++) kept += single[i];
        *out = TW_NEW_ARRAY(3 * kept, int64_t);
    }
    *triangle_count = *out ? kept : 0;

    /* They keep the order of the tetrahedra. */
    for (int64_t i = 0, next = 0; *out && i < face_count; i++)
        if (single[i])
            outward_face(tetrahedra + 4 * (i / 4), positions, (int)(i % 4), *out + 3 * next++);

    tw_release(start);
    tw_release(sorted);
    tw_release(single);
    if (!*out) return TW_OUT_OF_MEMORY;
    return TW_OK;
}
