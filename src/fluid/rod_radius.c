/* The mean mobility of a long rod of radius b and length 2 L, per force on a unit of its length, is
 *     1/(8 pi mu) (8/3) ln(2 L/b),
 * the mean of [2 ln(2 L/b) + 1] across (twice) and [4 ln(2 L/b) - 2] along it. The mean over the three
 * directions of the kernel of one point is [4/sqrt(s) + 2 eps^2/s^(3/2)]/3. The sum over the points
 * of all sections within L must be the same. */
#include "fluid/rod_radius.h"

#include <math.h>

/* Sections on each side, at least and at most; bits of the radius. */
enum { SECTIONS = 64, MOST_SECTIONS = 100000, HALVINGS = 50 };

/* The row reaches so many thicknesses to each side: then it is long. */
static const double REACH = 20.0;

/* Three times the mean kernel of a row of points at the distance `aside`, times the spacing. */
static double row_sum(int sections, double spacing, double aside, double eps)
{
    double sum = 0.0;
    for (int k = -sections; k <= sections; k++) {
        double along = k * spacing;
        double inverse = 1.0 / sqrt(along * along + aside * aside + eps * eps);
        sum += 4.0 * inverse + 2.0 * eps * eps * inverse * inverse * inverse;
    }
    return spacing * sum;
}

double tw_rod_radius(double spacing, double width, double thickness)
{
    const double smallest = 0.1;
    const double largest = 100.0;
    double wish = fmin(ceil(REACH * thickness / spacing), MOST_SECTIONS);
    int sections = wish > SECTIONS ? (int)wish : SECTIONS;
    double reach = (sections + 0.5) * spacing;
    double wanted = 8.0 * log(4.0 * reach / thickness);

    /* The sum falls with eps. The four points of a section: one itself, two at the distance of a side,
     * one at that of a diagonal. */
    double low = smallest * spacing;
    double high = largest * fmax(spacing, thickness);
    for (int i = 0; i < HALVINGS; i++) {
        double eps = sqrt(low * high);
        double sum = row_sum(sections, spacing, 0.0, eps) +
                     2.0 * row_sum(sections, spacing, width, eps) +
                     row_sum(sections, spacing, sqrt(2.0) * width, eps);
        if (0.25 * sum > wanted)
            low = eps;
        else
            high = eps;
    }
    return low;
}
