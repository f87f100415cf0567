/* The rest shape of fibres: where the corners of their sections are. The centre line is straight,
 * an arc, or a helix. Sections are squares across it, carried along without twist. */
#include <math.h>

#include "base/parallel_for.h"
#include "base/vector3.h"
#include "model/fibre_parts.h"

static const double PI = 3.14159265358979323846;

enum { FIBRE_BLOCK = 64 }; /* fibres per block of work */

/* Where a fibre begins: unit vectors along it, to the side of its curl, and across both. */
typedef struct root_frame {
    vec3 origin;
    vec3 along;
    vec3 side;
    vec3 across;
} root_frame;

/* A point of the centre line and the unit tangent there. */
typedef struct line_point {
    vec3 position;
    vec3 tangent;
} line_point;

static vec3 normalised(vec3 a)
{
    return vec3_scale(1.0 / vec3_length(a), a);
}

/* The axis that makes the largest angle with a unit vector. */
static vec3 farthest_axis(vec3 a)
{
    double x = fabs(a.x);
    double y = fabs(a.y);
    double z = fabs(a.z);
    if (x <= y && x <= z) return (vec3){1.0, 0.0, 0.0};
    if (y <= z) return (vec3){0.0, 1.0, 0.0};
    return (vec3){0.0, 0.0, 1.0};
}

static root_frame frame_of(const tw_fibres *fibres, int64_t fibre)
{
    root_frame frame = {.origin = vec3_at(fibres->roots, fibre)};
    frame.along = normalised(vec3_at(fibres->directions, fibre));

    /* The part of the wanted side that is across the fibre; tw_model_add_fibres has checked that
     * there is one. */
    vec3 wish = farthest_axis(frame.along);
    if (fibres->sides) wish = normalised(vec3_at(fibres->sides, fibre));
    frame.side = normalised(vec3_add_scaled(wish, -vec3_dot(wish, frame.along), frame.along));
    frame.across = vec3_cross(frame.along, frame.side);
    return frame;
}

/* origin + a along + s side + c across */
static vec3 combine(const root_frame *frame, double a, double s, double c)
{
    vec3 sum = vec3_scale(a, frame->along);
    sum = vec3_add_scaled(sum, s, frame->side);
    return vec3_add_scaled(sum, c, frame->across);
}

/* Straight: x(s) = s along. */
static line_point straight_at(const root_frame *frame, double s)
{
    return (line_point){combine(frame, s, 0.0, 0.0), frame->along};
}

/* Arc of radius r: x(s) = r sin(s/r) along + r (1 - cos(s/r)) side. */
static line_point arc_at(const root_frame *frame, double r, double s)
{
    double angle = s / r;
    vec3 position = combine(frame, r * sin(angle), r * (1.0 - cos(angle)), 0.0);
    vec3 tangent = combine(frame, cos(angle), sin(angle), 0.0);
    return (line_point){position, tangent};
}

/* Helix of radius r and pitch p, with c = p / (2 pi), q = sqrt(r^2 + c^2) and the angle s / q:
 * x(s) = c angle along + r (1 - cos angle) side + r sin angle across. */
static line_point helix_at(const root_frame *frame, double r, double pitch, double s)
{
    double c = pitch / (2.0 * PI);
    double q = hypot(r, c);
    double angle = s / q;
    vec3 position = combine(frame, c * angle, r * (1.0 - cos(angle)), r * sin(angle));
    vec3 tangent = combine(frame, c / q, r / q * sin(angle), r / q * cos(angle));
    return (line_point){position, tangent};
}

/* The point at the distance s from the root along the fibre, relative to the root. */
static line_point line_at(const tw_fibres *fibres, const root_frame *frame, double s)
{
    if (fibres->curl_radius == 0.0) return straight_at(frame, s);
    if (fibres->curl_pitch == 0.0) return arc_at(frame, fibres->curl_radius, s);
    return helix_at(frame, fibres->curl_radius, fibres->curl_pitch, s);
}

double tw_fibre_turning(const tw_fibres *fibres)
{
    if (fibres->curl_radius == 0.0) return 0.0;

    /* The curvature of a helix is r / (r^2 + c^2); an arc has c = 0. */
    double r = fibres->curl_radius;
    double c = fibres->curl_pitch / (2.0 * PI);
    double curvature = r / (r * r + c * c);
    return curvature * fibres->length / (double)fibres->segments;
}

/* Turns a vector across the tangent `from` by the smallest rotation that takes `from` to `to`:
 * a - (a . to) / (1 + from . to) (from + to). */
static vec3 carry(vec3 a, vec3 from, vec3 to)
{
    double share = vec3_dot(a, to) / (1.0 + vec3_dot(from, to));
    vec3 carried = vec3_add_scaled(a, -share, vec3_add(from, to));

    /* Rounding must not add up along the fibre. */
    carried = vec3_add_scaled(carried, -vec3_dot(carried, to), to);
    return normalised(carried);
}

/* The four corners of a section, counter-clockwise seen from the tip. */
static void place_section(vec3 centre, vec3 side, vec3 across, double width, double *corners)
{
    static const double sides[TW_SECTION_CORNERS] = {-0.5, 0.5, 0.5, -0.5};
    static const double acrosses[TW_SECTION_CORNERS] = {-0.5, -0.5, 0.5, 0.5};
    for (int c = 0; c < TW_SECTION_CORNERS; c++) {
        vec3 corner = vec3_add_scaled(centre, width * sides[c], side);
        vec3_store(corners, c, vec3_add_scaled(corner, width * acrosses[c], across));
    }
}

typedef struct placing {
    const tw_fibres *fibres;
    const tw_fibre_set *set;
    double *positions;
} placing;

static void place_fibre(const placing *p, int64_t fibre)
{
    const tw_fibres *fibres = p->fibres;
    root_frame frame = frame_of(fibres, fibre);
    double step = fibres->length / (double)fibres->segments;
    double width = tw_fibre_width(fibres);

    /* A helix does not begin along its axis: the first side is the chosen one, carried there. */
    vec3 tangent = line_at(fibres, &frame, 0.0).tangent;
    vec3 side = carry(frame.side, frame.along, tangent);

    for (int64_t s = 0; s <= fibres->segments; s++) {
        line_point at = line_at(fibres, &frame, (double)s * step);
        side = carry(side, tangent, at.tangent);
        tangent = at.tangent;

        vec3 centre = vec3_add(frame.origin, at.position);
        vec3 across = vec3_cross(tangent, side);
        int64_t particle = tw_fibre_set_section(p->set, fibre, s) - p->set->first;
        place_section(centre, side, across, width, p->positions + 3 * particle);
    }
}

static void place_block(void *context, int64_t begin, int64_t end, int64_t block)
{
    (void)block;
    for (int64_t fibre = begin; fibre < end; fibre++) place_fibre(context, fibre);
}

void tw_fibre_positions(const tw_fibres *fibres, const tw_fibre_set *set, double *positions)
{
    placing p = {fibres, set, positions};
    tw_parallel_for(fibres->count, FIBRE_BLOCK, place_block, &p);
}
