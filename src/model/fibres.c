/* Adding fibres to a model: checks, particles, springs, pins, display. */
#include "model/fibre_parts.h"

#include <math.h>
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/vector3.h"
#include "linalg/vector.h"
#include "model/model_internal.h"
#include "model/rigid_velocity.h"

static const double PI = 3.14159265358979323846;

/* A segment of a curl turns by at most so much [rad]. Beyond about 1.9 the inner edges of its cuboid
 * would have no length. */
static const double LARGEST_TURNING = 1.0;

tw_fibres tw_fibres_default(void)
{
    return (tw_fibres){.length = 0.3,
                       .segments = 8,
                       .thickness = 9e-5,
                       .youngs_modulus = 3.6e9,
                       .shear_modulus = 1e9,
                       .density = 1320.0};
}

/* ---- sets ---- */

int64_t tw_fibre_set_section(const tw_fibre_set *set, int64_t fibre, int64_t section)
{
    if (!set || fibre < 0 || fibre >= set->count || section < 0 || section > set->segments)
        return -1;

    /* All roots come first. */
    if (section == 0) return set->first + TW_SECTION_CORNERS * fibre;
    int64_t before = set->count + set->segments * fibre + section - 1;
    return set->first + TW_SECTION_CORNERS * before;
}

int tw_model_fibre_set_count(const tw_model *model)
{
    if (!model) return 0;
    return model->fibres.count;
}

const tw_fibre_set *tw_model_fibre_set(const tw_model *model, int index)
{
    if (!model) return NULL;
    if (index < 0 || index >= model->fibres.count) return NULL;
    return &model->fibres.list[index];
}

/* Appends a set. Returns false when memory is out. */
static bool append_set(tw_fibre_list *fibres, const tw_fibre_set *set)
{
    if (fibres->count == fibres->capacity) {
        int capacity = 2 * fibres->capacity + 4;
        tw_fibre_set *larger = TW_NEW_ARRAY(capacity, tw_fibre_set);
        if (!larger) return false;
        if (fibres->count) memcpy(larger, fibres->list, (size_t)fibres->count * sizeof *larger);
        tw_release(fibres->list);
        fibres->list = larger;
        fibres->capacity = capacity;
    }

    fibres->list[fibres->count] = *set;
    fibres->count++;
    return true;
}

/* ---- checks ---- */

static bool is_positive(double value)
{
    return value > 0.0 && isfinite(value);
}

static bool is_not_negative(double value)
{
    return value >= 0.0 && isfinite(value);
}

static tw_status check_material(const tw_fibres *f, tw_error *error)
{
    if (!is_positive(f->length) || !is_positive(f->thickness) || !is_not_negative(f->tip_thickness))
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "the length and thickness of a fibre must be positive");
    if (!is_positive(f->youngs_modulus) || !is_positive(f->shear_modulus) ||
        !is_positive(f->density))
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "the moduli and the density of a fibre must be positive");
    if (f->shear_modulus > f->youngs_modulus)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "the shear modulus of a fibre must be at most its Young's modulus");
    return TW_OK;
}

static tw_status check_curl(const tw_fibres *f, tw_error *error)
{
    if (!is_not_negative(f->curl_radius) || !is_not_negative(f->curl_pitch))
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "the radius and pitch of a curl must not be negative");

    double turning = tw_fibre_turning(f);
    if (turning > LARGEST_TURNING)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "a curl needs a segment per radian: at least %.0f segments instead of %lld",
                       ceil(turning * (double)f->segments), (long long)f->segments);
    return TW_OK;
}

/* Each direction has a length, and each side has a part across it. */
static tw_status check_roots(const tw_fibres *f, tw_error *error)
{
    int64_t entries = 3 * f->count;
    if (!tw_vector_is_finite(entries, f->roots) || !tw_vector_is_finite(entries, f->directions) ||
        (f->sides && !tw_vector_is_finite(entries, f->sides)))
        return tw_fail(error, TW_NOT_FINITE, "a root of a fibre is not finite");

    for (int64_t i = 0; i < f->count; i++) {
        vec3 direction = vec3_at(f->directions, i);
        if (!(vec3_length(direction) > 0.0))
            return tw_fail(error, TW_INVALID_ARGUMENT, "the direction of fibre %lld has length 0",
                           (long long)i);
        if (f->sides && !(vec3_length(vec3_cross(direction, vec3_at(f->sides, i))) > 0.0))
            return tw_fail(error, TW_INVALID_ARGUMENT,
                           "the side of fibre %lld is not across its direction", (long long)i);
    }
    return TW_OK;
}

static tw_status check_fibres(const tw_fibres *f, tw_error *error)
{
    if (f->count < 1 || f->segments < 1 || !f->roots || !f->directions)
        return tw_fail(error, TW_INVALID_ARGUMENT,
                       "fibres need a count, segments, roots and directions");

    /* Four particles per section. */
    if (f->segments >= INT32_MAX || f->count > INT32_MAX / TW_SECTION_CORNERS / (f->segments + 1))
        return tw_fail(error, TW_UNSUPPORTED, "more than 2^31 - 1 particles");
    TW_TRY(check_material(f, error));
    TW_TRY(check_curl(f, error));
    return check_roots(f, error);
}

/* ---- particles ---- */

/* The mass of a segment, a truncated cone: density pi l (d^2 + d e + e^2) / 12. */
static double segment_mass(const tw_fibres *f, int64_t segment)
{
    double share = 1.0 / (double)f->segments;
    double d = tw_fibre_thickness(f, (double)segment * share);
    double e = tw_fibre_thickness(f, (double)(segment + 1) * share);
    return f->density * PI * f->length * share * (d * d + d * e + e * e) / 12.0;
}

/* Half of each segment belongs to each of its two sections, in equal parts to the corners. */
static void fill_masses(const tw_fibres *f, const tw_fibre_set *set, double *masses)
{
    for (int64_t s = 0; s <= f->segments; s++) {
        double mass = 0.0;
        if (s > 0) mass += 0.5 * segment_mass(f, s - 1);
        if (s < f->segments) mass += 0.5 * segment_mass(f, s);

        for (int64_t i = 0; i < f->count; i++) {
            double *corner = masses + tw_fibre_set_section(set, i, s) - set->first;
            for (int c = 0; c < TW_SECTION_CORNERS; c++) corner[c] = mass / TW_SECTION_CORNERS;
        }
    }
}

static tw_status add_particles(tw_model *model, const tw_fibres *f, const tw_fibre_set *set,
                               tw_error *error)
{
    int64_t count = TW_SECTION_CORNERS * (f->segments + 1) * f->count;
    double *positions = TW_NEW_ARRAY(3 * count, double);
    double *velocities = TW_NEW_ARRAY(3 * count, double);
    double *masses = TW_NEW_ARRAY(count, double);
    bool good = positions && velocities && masses;
    tw_status status = good ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);

    if (status == TW_OK) {
        tw_fibre_positions(f, set, positions);
        fill_masses(f, set, masses);
        tw_rigid_velocities(count, positions, masses, f->velocity, f->spin, velocities);
        status = tw_model_add_particles(model, count, positions, velocities, masses, NULL, error);
    }

    tw_release(positions);
    tw_release(velocities);
    tw_release(masses);
    return status;
}

/* ---- looks ---- */

/* The centre lines: a vertex in the middle of each section, fibre by fibre. */
static void list_lines(const tw_fibre_set *set, int64_t *carriers, double *weights, int64_t *edges)
{
    int64_t vertex = 0;
    int64_t edge = 0;
    for (int64_t f = 0; f < set->count; f++)
        for (int64_t s = 0; s <= set->segments; s++, vertex++) {
            int64_t corner = tw_fibre_set_section(set, f, s);
            for (int c = 0; c < TW_SECTION_CORNERS; c++) {
                carriers[TW_SECTION_CORNERS * vertex + c] = corner + c;
                weights[TW_SECTION_CORNERS * vertex + c] = 1.0 / TW_SECTION_CORNERS;
            }
            if (s == 0) continue;

            edges[2 * edge] = vertex - 1;
            edges[2 * edge + 1] = vertex;
            edge++;
        }
}

static tw_status add_display(tw_model *model, const tw_fibres *f, const tw_fibre_set *set,
                             tw_error *error)
{
    int64_t sections = (f->segments + 1) * f->count;
    int64_t *carriers = TW_NEW_ARRAY(TW_SECTION_CORNERS * sections, int64_t);
    double *weights = TW_NEW_ARRAY(TW_SECTION_CORNERS * sections, double);
    int64_t *edges = TW_NEW_ARRAY(2 * f->segments * f->count, int64_t);
    bool good = carriers && weights && edges;
    tw_status status = good ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);

    if (status == TW_OK) {
        list_lines(set, carriers, weights, edges);
        tw_display display = {.name = f->name ? f->name : "fibres",
                              .first = set->first,
                              .count = TW_SECTION_CORNERS * sections,
                              .radius = 0.25 * (set->thickness + set->tip_thickness),
                              .surface = {.vertex_count = sections,
                                          .carriers = carriers,
                                          .weights = weights,
                                          .edge_count = f->segments * f->count,
                                          .edges = edges}};
        status = tw_model_add_display(model, &display, error);
    }

    tw_release(carriers);
    tw_release(weights);
    tw_release(edges);
    return status;
}

/* ---- the fibres ---- */

tw_status tw_model_add_fibres(tw_model *model, const tw_fibres *fibres, int64_t *first,
                              tw_error *error)
{
    if (!model || !fibres) return tw_fail_plain(error, TW_INVALID_ARGUMENT);
    TW_TRY(check_fibres(fibres, error));

    tw_fibre_set set = {.first = tw_model_particle_count(model),
                        .count = fibres->count,
                        .segments = fibres->segments,
                        .thickness = tw_fibre_thickness(fibres, 0.0),
                        .tip_thickness = tw_fibre_thickness(fibres, 1.0)};
    TW_TRY(add_particles(model, fibres, &set, error));
    TW_TRY(tw_fibre_add_springs(model, fibres, &set, error));
    if (!fibres->is_free) {
        int64_t last_root = set.first + TW_SECTION_CORNERS * set.count - 1;
        TW_TRY(tw_model_pin(model, set.first, last_root, error));
    }
    TW_TRY(add_display(model, fibres, &set, error));
    if (!append_set(&model->fibres, &set)) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    if (first) *first = set.first;
    return TW_OK;
}
