/* Vectors of three floats, by value. */
#ifndef PICTURE_FLOAT3_H
#define PICTURE_FLOAT3_H

#include <math.h>

/* fminf and fmaxf treat NaN in a special way, which would double the time of a picture. */
static inline float least(float a, float b)
{
    return a < b ? a : b;
}

static inline float greatest(float a, float b)
{
    return a > b ? a : b;
}

typedef struct vector3 {
    float x, y, z;
} vector3;

static inline vector3 vec(float x, float y, float z)
{
    return (vector3){x, y, z};
}

static inline vector3 add(vector3 a, vector3 b)
{
    return vec(a.x + b.x, a.y + b.y, a.z + b.z);
}

static inline vector3 subtract(vector3 a, vector3 b)
{
    return vec(a.x - b.x, a.y - b.y, a.z - b.z);
}

static inline vector3 scale(vector3 a, float s)
{
    return vec(a.x * s, a.y * s, a.z * s);
}

/* Product of the components. */
static inline vector3 times(vector3 a, vector3 b)
{
    return vec(a.x * b.x, a.y * b.y, a.z * b.z);
}

static inline float dot(vector3 a, vector3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline vector3 cross(vector3 a, vector3 b)
{
    return vec(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline float length(vector3 a)
{
    return sqrtf(dot(a, a));
}

/* a / |a|; the z direction if a is 0. */
static inline vector3 normalised(vector3 a)
{
    float l = length(a);
    return l > 0.0F ? scale(a, 1.0F / l) : vec(0, 0, 1);
}

/* (1 - share) a + share b. */
static inline vector3 mixed(vector3 a, vector3 b, float share)
{
    return add(scale(a, 1.0F - share), scale(b, share));
}

/* The smaller of each component. */
static inline vector3 lower(vector3 a, vector3 b)
{
    return vec(least(a.x, b.x), least(a.y, b.y), least(a.z, b.z));
}

/* The larger of each component. */
static inline vector3 upper(vector3 a, vector3 b)
{
    return vec(greatest(a.x, b.x), greatest(a.y, b.y), greatest(a.z, b.z));
}

/* Two directions that make a right-handed frame with the unit vector n. */
static inline void frame_of(vector3 n, vector3 *u, vector3 *v)
{
    vector3 other = fabsf(n.z) < 0.9F ? vec(0, 0, 1) : vec(1, 0, 0);
    *u = normalised(cross(other, n));
    *v = cross(n, *u);
}

#endif
