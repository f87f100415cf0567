/* The springs of fibres: wide cuboids with a spine.
 *
 * A segment of length l is a cuboid of width a. A round rod of diameter d has A = pi d^2 / 4,
 * I = pi d^4 / 64 and J = 2 I. The springs have its stiffness in
 *     torsion    k_f = G J (l^2 + a^2) / (2 l a^4)       two diagonals on each of the four sides,
 *     bending    k_l = E I / (a^2 l) - G J l / (2 a^4)   four edges along the fibre,
 *     extension  E A / l                                 the spine between the section centres.
 * The diagonals on the two sides away from the neutral axis help the edges in bending, which is the
 * second term of k_l. Edges and diagonals of the sections have k_c = 100 max(k_l, k_f). */
#include <math.h>
#include <twang/forces.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "model/fibre_parts.h"

static const double PI = 3.14159265358979323846;

/* k_l > 0 needs a > l sqrt(G J / (2 E I)) = l sqrt(G / E). The narrower the cuboid, the smaller are
 * its errors by shear and rotary inertia, so the width is just above this limit. */
static const double WIDTH_ABOVE_LIMIT = 1.025;

/* The width is at least this share of l, also when G / E is tiny: k_f grows as 1 / a^4 then. */
static const double SMALLEST_WIDTH = 0.1;

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

double tw_fibre_width(const tw_fibres *fibres)
{
    double limit = sqrt(fibres->shear_modulus / fibres->youngs_modulus);
    return fmax(WIDTH_ABOVE_LIMIT * limit, SMALLEST_WIDTH) * segment_length(fibres);
}

tw_segment_stiffness tw_fibre_segment_stiffness(const tw_fibres *fibres, int64_t segment)
{
    /* A tapered segment is as stiff as its middle. */
    double middle = ((double)segment + 0.5) / (double)fibres->segments;
    double d = tw_fibre_thickness(fibres, middle);
    double area = PI * d * d / 4.0;
    double EI = fibres->youngs_modulus * PI * d * d * d * d / 64.0;
    double GJ = fibres->shear_modulus * PI * d * d * d * d / 32.0;

    /* The cuboid. */
    double l = segment_length(fibres);
    double a = tw_fibre_width(fibres);
    double a4 = a * a * a * a;
    tw_segment_stiffness k = {.diagonal = GJ * (l * l + a * a) / (2.0 * l * a4),
                              .edge = EI / (a * a * l) - GJ * l / (2.0 * a4),
                              .spine = fibres->youngs_modulus * area / l};
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
