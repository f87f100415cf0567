/* Vectors of three numbers, for geometry. A vector is passed by value. */
#ifndef TW_BASE_VECTOR3_H
#define TW_BASE_VECTOR3_H

#include <math.h>
#include <stdint.h>

typedef struct vec3 {
    double x, y, z;
} vec3;

static inline vec3 vec3_at(const double *vertices, int64_t index)
{
    const double *p = vertices + 3 * index;
    return (vec3){p[0], p[1], p[2]};
}

static inline void vec3_store(double *vertices, int64_t index, vec3 a)
{
    double *p = vertices + 3 * index;
    p[0] = a.x;
    p[1] = a.y;
    p[2] = a.z;
}

static inline vec3 vec3_add(vec3 a, vec3 b)
{
    return (vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline vec3 vec3_subtract(vec3 a, vec3 b)
{
    return (vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline vec3 vec3_scale(double s, vec3 a)
{
    return (vec3){s * a.x, s * a.y, s * a.z};
}

/* a + s b */
static inline vec3 vec3_add_scaled(vec3 a, double s, vec3 b)
{
    return (vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static inline double vec3_dot(vec3 a, vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline vec3 vec3_cross(vec3 a, vec3 b)
{
    return (vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline double vec3_length(vec3 a)
{
    return sqrt(vec3_dot(a, a));
}

/* Six times the signed volume of the tetrahedron: (b - a) . ((c - a) x (d - a)). */
static inline double vec3_six_volumes(vec3 a, vec3 b, vec3 c, vec3 d)
{
    return vec3_dot(vec3_subtract(b, a), vec3_cross(vec3_subtract(c, a), vec3_subtract(d, a)));
}

/* The same for three numbers in an array. */
static inline double tw_dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* out = a x b; out overlaps neither. */
static inline void tw_cross3(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

#endif
