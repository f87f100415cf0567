/* Continuous detection by conservative advancement (Li, Kaufman and Jiang 2021, section 4.2,
 * "additive CCD"): at the distance D the vertices can move by D - limit in sum before the distance
 * can be `limit`. It needs the distance alone, and so it serves every pair and every thickness. */
#include "contact/approach.h"

#include <math.h>
#include <string.h>

#include "base/vector3.h"

/* An advance stops this share short of the moment at which the distance could be `limit`. */
static const double ADVANCE = 0.9;

/* More advances than this mean that the pair slides along at the distance `limit`. */
enum { ADVANCES = 1000 };

double tw_pair_reach(tw_pair_kind kind, const double x[4][3], const double y[4][3])
{
    int used = tw_pair_vertex_count(kind);
    double mean[3] = {0.0, 0.0, 0.0};
    for (int i = 0; i < used; i++)
        for (int k = 0; k < 3; k++) mean[k] += (y[i][k] - x[i][k]) / used;

    double largest[2] = {0.0, 0.0};
    for (int i = 0; i < used; i++) {
        double square = 0.0;
        for (int k = 0; k < 3; k++) {
            double way = y[i][k] - x[i][k] - mean[k];
            square += way * way;
        }
        int side = i < tw_pair_first_count(kind) ? 0 : 1;
        largest[side] = fmax(largest[side], sqrt(square));
    }
    return largest[0] + largest[1];
}

bool tw_pair_comes_near(tw_pair_kind kind, const double x[4][3], const double y[4][3], double limit,
                        double slack)
{
    double reach = tw_pair_reach(kind, x, y);
    double done = 0.0; /* share of the way */
    for (int i = 0; i < ADVANCES; i++) {
        /* The vertices at this share of the way. */
        double at[4][3];
        tw_gap gap;
        for (int j = 0; j < TW_PAIR_SIZE; j++)
            at[j / 3][j % 3] = (1.0 - done) * x[j / 3][j % 3] + done * y[j / 3][j % 3];
        if (!tw_gap_find(kind, at, &gap) || gap.distance <= limit + slack) return true;

        /* D(s) >= D - reach (s - s_0). */
        double left = reach * (1.0 - done);
        if (gap.distance - left > limit) return false;
        done += ADVANCE * (gap.distance - limit) / reach;
        if (!(done < 1.0)) return false;
    }
    return true;
}
