/* Light and colour: one ray per sample to the sun and one to the sky, from what the camera sees. */
#include "shading.h"

#include <stdint.h>

static const float pi = 3.14159265F;

/* Linear colours of bodies in turn. */
static const vector3 palette[] = {
    {0.78F, 0.22F, 0.07F}, {0.04F, 0.20F, 0.45F}, {0.80F, 0.45F, 0.06F}, {0.06F, 0.32F, 0.18F},
    {0.35F, 0.10F, 0.36F}, {0.45F, 0.42F, 0.36F}, {0.02F, 0.33F, 0.36F}, {0.55F, 0.04F, 0.12F}};
enum { COLOURS = sizeof palette / sizeof *palette };

static vector3 colour_of(const studio *s, int body)
{
    return palette[(s->first_colour + body) % COLOURS];
}

/* ---- chance ---- */

/* A hash of 32 bits. */
static uint32_t scramble(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

/* A number in [0, 1) from the upper 24 bits. */
static float share(uint32_t x)
{
    return (float)(x >> 8) * 0x1p-24F;
}

/* Point `index` of the R2 sequence (Roberts 2018), shifted at random. The points are evenly
 * spread over the samples of a pixel. The two factors are 2^32 / g and 2^32 / g^2 with g^3 = g +
 * 1. */
static void spread(uint32_t shift, int index, float *u, float *v)
{
    uint32_t x = scramble(shift) + (uint32_t)index * 3242174889u;
    uint32_t y = scramble(shift + 1) + (uint32_t)index * 2447445414u;
    *u = share(x);
    *v = share(y);
}

/* ---- light ---- */

/* The light of the sky: warm at the horizon, bluer above. */
static vector3 sky(vector3 direction)
{
    return mixed(vec(1.05F, 1.03F, 1.0F), vec(0.80F, 0.90F, 1.10F), greatest(direction.z, 0.0F));
}

static const vector3 ground_light = {0.42F, 0.41F, 0.40F};
static const float sun_light = 1.05F;
static const float sky_light = 0.62F;
static const vector3 sun_colour = {1.0F, 0.96F, 0.90F};
static const float sun_radius = 0.055F; /* of the disc at distance 1: six degrees across */
static const float body_light = 0.35F;  /* share of its colour that a body throws on others */

/* A point that is lit, and the two normals there. */
typedef struct lit_point {
    vector3 at;
    vector3 normal; /* smooth */
    vector3 face;   /* of the flat triangle */
} lit_point;

/* The point from which light is looked for. The real surface is smooth: it bulges out of its
 * flat triangles, the more the two normals differ. A ray that begins on the triangle would meet
 * the neighbouring triangles, and paint the folds of cloth with triangles of shadow. */
static vector3 offset(const studio *s, const lit_point *p)
{
    float cosine = least(dot(p->normal, p->face), 1.0F);
    float bulge = 0.01F * sqrtf(1.0F - cosine * cosine);
    return add(p->at, add(scale(p->face, 2e-4F * s->size), scale(p->normal, bulge * s->size)));
}

/* Sends one ray towards a random point (u, v) of the sun's disc: 1 if it arrives, else 0. */
static float sun_seen(const studio *s, const lit_point *p, float u, float v)
{
    vector3 x, y;
    frame_of(s->sun, &x, &y);

    /* The square root makes the points even over the disc. */
    float radius = sun_radius * sqrtf(u);
    float angle = 2.0F * pi * v;
    vector3 to = normalised(
        add(s->sun, add(scale(x, radius * cosf(angle)), scale(y, radius * sinf(angle)))));

    /* The sun may be below the horizon of the surface. */
    if (dot(to, p->normal) <= 0.0F) return 0.0F;
    ray r = {offset(s, p), to, INFINITY};
    return ray_tree_any(s->tree, &r, NULL) ? 0.0F : 1.0F;
}

/* Sends one ray into the half space of the normal, with a density proportional to the cosine.
 * Returns the light of the sky, or what a body or the ground gives back. */
static vector3 sky_seen(const studio *s, const lit_point *p, float u, float v)
{
    vector3 x, y;
    frame_of(p->normal, &x, &y);
    float radius = sqrtf(u);
    float angle = 2.0F * pi * v;
    vector3 to = add(scale(p->normal, sqrtf(greatest(1.0F - u, 0.0F))),
                     add(scale(x, radius * cosf(angle)), scale(y, radius * sinf(angle))));

    /* The ray ends at a body, at the ground, or in the sky. */
    ray r = {offset(s, p), to, INFINITY};
    int body = 0;
    if (ray_tree_any(s->tree, &r, &body)) return scale(colour_of(s, body), body_light);
    return to.z < 0.0F && p->at.z > s->ground ? ground_light : sky(to);
}

/* ---- what is seen ---- */

static vector3 shade_body(const studio *s, const ray *r, const hit *h, uint32_t seed, int sample)
{
    float u[4];
    spread(seed + 2, sample, &u[0], &u[1]);
    spread(seed + 4, sample, &u[2], &u[3]);

    /* Diffuse light of the sun and of the sky. */
    lit_point p = {add(r->origin, scale(r->direction, h->t)), h->normal, h->face};
    float cosine = greatest(dot(h->normal, s->sun), 0.0F);
    float sun = cosine > 0.0F ? sun_seen(s, &p, u[0], u[1]) : 0.0F;
    vector3 light = add(scale(sun_colour, sun_light * sun * cosine),
                        scale(sky_seen(s, &p, u[2], u[3]), sky_light));
    vector3 colour = h->stained ? scale(h->stain, 0.8F) : colour_of(s, h->body);

    /* A little gloss, and more at grazing angles (Schlick 1994). */
    vector3 half = normalised(subtract(s->sun, r->direction));
    float grazing = 1.0F + dot(h->normal, r->direction);
    float fresnel = 0.04F + 0.96F * powf(greatest(grazing, 0.0F), 5.0F);
    float gloss = 0.35F * sun * powf(greatest(dot(half, h->normal), 0.0F), 50.0F);
    return add(times(colour, light),
               vec(gloss + 0.12F * fresnel, gloss + 0.12F * fresnel, gloss + 0.13F * fresnel));
}

/* The background is paper, which is darker below. */
static vector3 paper(float height)
{
    return mixed(vec(0.80F, 0.82F, 0.85F), vec(0.97F, 0.975F, 0.985F), height);
}

/* The ground is the paper, darker where light is missing: so the shadow lies on it
 * without a border of the ground. */
static vector3 shade_ground(const studio *s, const ray *r, vector3 background, uint32_t seed,
                            int sample)
{
    float distance = (s->ground - r->origin.z) / r->direction.z;
    if (!(distance > 0.0F) || distance > 40.0F * s->size) return background;

    float u[4];
    spread(seed + 2, sample, &u[0], &u[1]);
    spread(seed + 4, sample, &u[2], &u[3]);
    vector3 up = vec(0, 0, 1);
    lit_point p = {add(r->origin, scale(r->direction, distance)), up, up};

    /* Light at this point as a share of the light without any body. */
    float full = sun_light * s->sun.z;
    float sun = full * sun_seen(s, &p, u[0], u[1]);
    vector3 seen = sky_seen(s, &p, u[2], u[3]);
    float lit = (sun + sky_light * seen.y) / (full + sky_light);
    return scale(background, 0.12F + 0.88F * least(lit, 1.0F));
}

static vector3 radiance(const studio *s, const ray *r, float height, uint32_t seed, int sample)
{
    hit h;
    if (ray_tree_first(s->tree, r, &h)) return shade_body(s, r, &h, seed, sample);
    return shade_ground(s, r, paper(height), seed, sample);
}

/* ---- camera ---- */

/* A camera at the origin that looks in this direction. */
static camera camera_towards(float azimuth, float elevation, float aspect)
{
    float a = azimuth * pi / 180.0F;
    float e = elevation * pi / 180.0F;
    camera c = {.forward = vec(-cosf(a) * cosf(e), -sinf(a) * cosf(e), -sinf(e)),
                .half_height = 0.22F};

    c.right = normalised(cross(c.forward, vec(0, 0, 1)));
    c.up = cross(c.right, c.forward);
    c.half_width = c.half_height * aspect;
    return c;
}

/* The distance from the target at which all points are on the picture, but at least `nearest`. */
static float distance_to(const camera *c, int64_t count, const vector3 *points, vector3 target,
                         float margin, float nearest)
{
    float distance = nearest;
    for (int64_t i = 0; i < count; i++) {
        vector3 d = subtract(points[i], target);

        /* A point at depth z is on the picture if |x| <= half_width (z +
         * distance), and so for y. */
        float x = dot(d, c->right);
        float y = dot(d, c->up);
        float z = dot(d, c->forward);
        distance = greatest(
            distance, greatest(fabsf(x) / c->half_width, fabsf(y) / c->half_height) * margin - z);
    }

    return distance;
}

/* The target moved so that the points are in the middle of the picture. */
static vector3 centred(const camera *c, int64_t count, const vector3 *points, vector3 target,
                       float distance)
{
    float left = INFINITY;
    float right = -INFINITY;
    float bottom = INFINITY;
    float top = -INFINITY;

    for (int64_t i = 0; i < count; i++) {
        vector3 d = subtract(points[i], target);

        /* Coordinates on the picture at distance 1. */
        float z = dot(d, c->forward) + distance;
        float x = dot(d, c->right) / z;
        float y = dot(d, c->up) / z;
        left = least(left, x);
        right = greatest(right, x);
        bottom = least(bottom, y);
        top = greatest(top, y);
    }

    /* The middle of the points on the picture becomes the target. */
    return add(target, add(scale(c->right, 0.5F * (left + right) * distance),
                           scale(c->up, 0.5F * (bottom + top) * distance)));
}

camera camera_around(int64_t count, const vector3 *points, float azimuth, float elevation,
                     float aspect, float margin)
{
    camera c = camera_towards(azimuth, elevation, aspect);

    /* Begin at the middle of the box around the points. */
    vector3 low = points[0];
    vector3 high = points[0];
    for (int64_t i = 0; i < count; i++) {
        low = lower(low, points[i]);
        high = upper(high, points[i]);
    }

    vector3 target = scale(add(low, high), 0.5F);
    float size = length(subtract(high, low));

    /* Distance and target depend on each other; a few passes are enough. */
    float distance = 0.0F;
    for (int pass = 0; pass < 4; pass++) {
        distance = distance_to(&c, count, points, target, margin, 0.3F * size);
        target = centred(&c, count, points, target, distance);
    }

    /* Leave a little room below, for the shadow and the time. */
    target = subtract(target, scale(c.up, 0.05F * c.half_height * distance));
    c.eye = subtract(target, scale(c.forward, distance));
    return c;
}

/* ---- picture ---- */

/* From linear light to a byte of sRGB. */
static unsigned char to_srgb(float x)
{
    x = least(greatest(x, 0.0F), 1.0F);
    float y = x <= 0.0031308F ? 12.92F * x : 1.055F * powf(x, 1.0F / 2.4F) - 0.055F;
    return (unsigned char)(255.0F * y + 0.5F);
}

/* Bends light above 0.8 towards 1, which it never reaches. */
static float shoulder(float x)
{
    return x <= 0.8F ? x : 1.0F - 0.2F * expf(-(x - 0.8F) / 0.2F);
}

/* The mean over the samples of a pixel. */
static vector3 pixel(const studio *s, const camera *c, int column, int row, int width, int height,
                     int samples)
{
    uint32_t seed = scramble((uint32_t)(row * 65537 + column) * 8u);
    vector3 sum = vec(0, 0, 0);

    for (int i = 0; i < samples; i++) {
        /* A place in the pixel, as coordinates from -1 to 1 over the picture. */
        float u, v;
        spread(seed, i, &u, &v);
        float x = 2.0F * ((float)column + u) / (float)width - 1.0F;
        float y = 1.0F - 2.0F * ((float)row + v) / (float)height;

        vector3 to = add(c->forward,
                         add(scale(c->right, x * c->half_width), scale(c->up, y * c->half_height)));
        ray r = {c->eye, normalised(to), INFINITY};
        vector3 l = radiance(s, &r, 0.5F + 0.5F * y, seed, i);
        sum = add(sum, vec(shoulder(l.x), shoulder(l.y), shoulder(l.z)));
    }

    return scale(sum, 1.0F / (float)samples);
}

void studio_take(const studio *s, const camera *c, int width, int height, int samples,
                 unsigned char *pixels, int row_bytes)
{
#pragma omp parallel for schedule(dynamic, 4)
    for (int row = 0; row < height; row++)
        for (int column = 0; column < width; column++) {
            vector3 l = pixel(s, c, column, row, width, height, samples);
            unsigned char *out = pixels + (int64_t)row * row_bytes + 3 * (int64_t)column;
            out[0] = to_srgb(l.x);
            out[1] = to_srgb(l.y);
            out[2] = to_srgb(l.z);
        }
}
