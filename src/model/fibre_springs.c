/* The springs of fibres: wide cuboids with a spine.
 *
 * A segment of length l is a cuboid of width a. A round rod of diameter d has A = pi d^2 / 4,
 * I = pi d^4 / 64 and J = 2 I. The springs have its stiffness in
 *     torsion    k_f = G J (l^2 + a^2) / (2 l a^4)       two diagonals on each of the four sides,
 *     bending    k_l = E I / (a^2 l) - G J l / (2 a^4)   four edges along the fibre,
 *     extension  k_s = E A / l - S                       the spine between the section centres,
 *                S   = 4 k_l + 8 k_f l^2 / (l^2 + a^2) = 4 E I / (a^2 l) + 2 G J l / a^4.
 * The diagonals on the two sides away from the neutral axis help the edges in bending, which is the
 * second term of k_l. Edges and diagonals resist extension with S, and the spine adds what is
 * missing. Edges and diagonals of the sections have k_c = 100 max(k_l, k_f). */
#include <math.h>
#include <twang/forces.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "model/fibre_parts.h"

static const double PI = 3.14159265358979323846;

/* The width is above its limits by this factor: k_l and k_s are positive then. The narrower the
 * cuboid, the smaller are its errors by shear and rotary inertia. */
static const double WIDTH_ABOVE_LIMIT = 1.025;

/* Sections are stiffer than what joins them, so that they stay squares. Their softness leaves an error
 * in bending that no number of segments removes: 0.4 % at 100, 0.04 % at 1000. But at 1000 Newton's
 * method needs a quarter more iterations (tests/test_supports.c). */
static const double SECTION_STIFFENING = 100.0;

double tw_fibre_thickness(const tw_fibres *fibres, double s)
{
    double tip = fibres->tip_thickness > 0.0 ? fibres->tip_thickness : fibres->thickness;
    return fibres->thickness + s * (tip - fibres->thickness);
}

static double segment_length(const tw_fibres *fibres)
{
    return fibres->length / (double)fibres->segments;
}

/* k_l > 0 needs a^2 > g l^2, where g = G / E. k_s > 0 needs d^2 (a^2 + g l^2) < 4 a^4, hence
 * a^2 > (d^2 + sqrt(d^4 + 16 g d^2 l^2)) / 8. The first limit is the larger one where segments are
 * long, the second one, which tends to d / 2, where they are short. */
double tw_fibre_width(const tw_fibres *fibres)
{
    double l = segment_length(fibres);
    double gl2 = fibres->shear_modulus / fibres->youngs_modulus * l * l;
    double d = fmax(tw_fibre_thickness(fibres, 0.0), tw_fibre_thickness(fibres, 1.0));
    double d2 = d * d;

    double square = fmax(gl2, (d2 + sqrt(d2 * d2 + 16.0 * gl2 * d2)) / 8.0);
    return WIDTH_ABOVE_LIMIT * sqrt(square);
}

/* A tapered segment is as compliant as the mean over its length. Between the diameters d and e the
 * mean of 1 / d^2 is 1 / (d e), the mean of 1 / d^4 is (d^2 + d e + e^2) / (3 d^3 e^3). */
tw_segment_stiffness tw_fibre_segment_stiffness(const tw_fibres *fibres, int64_t segment)
{
    double share = 1.0 / (double)fibres->segments;
    double d = tw_fibre_thickness(fibres, (double)segment * share);
    double e = tw_fibre_thickness(fibres, (double)(segment + 1) * share);
    double fourth = 3.0 * d * d * d * e * e * e / (d * d + d * e + e * e);
    double EA = fibres->youngs_modulus * PI * d * e / 4.0;
    double EI = fibres->youngs_modulus * PI * fourth / 64.0;
    double GJ = fibres->shear_modulus * PI * fourth / 32.0;

    /* The cuboid. */
    double l = segment_length(fibres);
    double a = tw_fibre_width(fibres);
    double a2 = a * a;
    double extension = 4.0 * EI / (a2 * l) + 2.0 * GJ * l / (a2 * a2);
    tw_segment_stiffness k = {.diagonal = GJ * (l * l + a2) / (2.0 * l * a2 * a2),
                              .edge = EI / (a2 * l) - GJ * l / (2.0 * a2 * a2),
                              .spine = EA / l - extension};
    k.section = SECTION_STIFFENING * fmax(k.edge, k.diagonal);
    return k;
}

/* ---- lists of springs ---- */

typedef struct spring_lists {
    int64_t count;     /* of springs between two particles */
    int64_t *ends;     /* two each */
    double *stiffness; /* of each */
    int64_t spines;    /* of springs between two sections */
    int64_t *corners;  /* eight each */
    double *spine;     /* stiffness of each */
} spring_lists;

static void add_spring(spring_lists *lists, int64_t from, int64_t to, double stiffness)
{
    lists->ends[2 * lists->count] = from;
    lists->ends[2 * lists->count + 1] = to;
    lists->stiffness[lists->count] = stiffness;
    lists->count++;
}

/* Edges and diagonals of the square whose corners are `first` to `first` + 3. */
static void add_section(spring_lists *lists, int64_t first, double stiffness)
{
    for (int c = 0; c < TW_SECTION_CORNERS; c++)
        add_spring(lists, first + c, first + (c + 1) % TW_SECTION_CORNERS, stiffness);

    add_spring(lists, first, first + 2, stiffness);
    add_spring(lists, first + 1, first + 3, stiffness);
}

/* What joins two sections: edges, diagonals of the sides, and the spine. */
static void add_segment(spring_lists *lists, int64_t from, int64_t to,
                        const tw_segment_stiffness *k)
{
    for (int c = 0; c < TW_SECTION_CORNERS; c++) {
        int next = (c + 1) % TW_SECTION_CORNERS;
        add_spring(lists, from + c, to + c, k->edge);
        add_spring(lists, from + c, to + next, k->diagonal);
        add_spring(lists, from + next, to + c, k->diagonal);
    }

    int64_t *corners = lists->corners + 2 * TW_SECTION_CORNERS * lists->spines;
    for (int c = 0; c < TW_SECTION_CORNERS; c++) {
        corners[c] = from + c;
        corners[TW_SECTION_CORNERS + c] = to + c;
    }
    lists->spine[lists->spines] = k->spine;
    lists->spines++;
}

static void list_fibre(spring_lists *lists, const tw_fibres *fibres, const tw_fibre_set *set,
                       int64_t fibre)
{
    for (int64_t s = 0; s <= fibres->segments; s++) {
        /* A section is as stiff as the segment behind it, the last one as the one before it. */
        int64_t segment = s < fibres->segments ? s : s - 1;
        tw_segment_stiffness k = tw_fibre_segment_stiffness(fibres, segment);
        int64_t here = tw_fibre_set_section(set, fibre, s);

        bool is_held = s == 0 && !fibres->is_free;
        if (!is_held) add_section(lists, here, k.section);
        if (s < fibres->segments)
            add_segment(lists, here, tw_fibre_set_section(set, fibre, s + 1), &k);
    }
}

static void release_lists(spring_lists *lists)
{
    tw_release(lists->ends);
    tw_release(lists->stiffness);
    tw_release(lists->corners);
    tw_release(lists->spine);
}

static bool allocate_lists(spring_lists *lists, const tw_fibres *fibres)
{
    int64_t per_fibre =
        TW_SECTION_SPRINGS * (fibres->segments + 1) + TW_SEGMENT_SPRINGS * fibres->segments;
    int64_t springs = per_fibre * fibres->count;
    int64_t spines = fibres->segments * fibres->count;

    *lists = (spring_lists){.ends = TW_NEW_ARRAY(2 * springs, int64_t),
                            .stiffness = TW_NEW_ARRAY(springs, double),
                            .corners = TW_NEW_ARRAY(2 * TW_SECTION_CORNERS * spines, int64_t),
                            .spine = TW_NEW_ARRAY(spines, double)};
    return lists->ends && lists->stiffness && lists->corners && lists->spine;
}

tw_status tw_fibre_add_springs(tw_model *model, const tw_fibres *fibres, const tw_fibre_set *set,
                               tw_error *error)
{
    spring_lists lists;
    bool good = allocate_lists(&lists, fibres);
    tw_status status = good ? TW_OK : tw_fail_plain(error, TW_OUT_OF_MEMORY);

    if (status == TW_OK) {
        for (int64_t f = 0; f < fibres->count; f++) list_fibre(&lists, fibres, set, f);
        status = tw_model_add_springs(model, lists.count, lists.ends, lists.stiffness, NULL, error);
    }
    if (status == TW_OK)
        status = tw_model_add_section_springs(model, lists.spines, lists.corners, lists.spine, NULL,
                                              error);

    release_lists(&lists);
    return status;
}
