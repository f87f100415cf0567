#include "phi/taylor/term_noise.h"

#include <float.h>
#include <math.h>
#include <string.h>

void tw_term_noise_start(tw_term_noise *noise, bool pair, const double size[2])
{
    *noise = (tw_term_noise){.pair = pair};
    for (int b = 0; b < 2; b++) {
        noise->size[0][b] = size[b];
        noise->noise[0][b] = DBL_EPSILON * size[b];
    }
}

/* Rounding in block b of y_{j+1}: the share of it in each part is handed on, as far as y_{j+1} is made of that part,
 * and making it adds an ulp of all that went in. A term that should vanish is rounding altogether, and is seen as such.
 */
static double next_noise(const tw_term_noise *n, tw_term_weights weights, int b, double size)
{
    double handed_on = 0, made = size;
    for (int s = 0; s < 2; s++) {
        bool nothing = n->pair && b == 0 && s == 0;
        double weight = (nothing ? 0 : weights.applied[b]) + (s == b ? weights.kept : 0);
        double part = weight * n->size[0][s], older = s == b ? weights.previous * n->size[1][s] : 0;
        made += part + older;
        if (n->size[0][s] > 0)
            handed_on = fmax(handed_on, n->noise[0][s] / n->size[0][s] * fmin(part, size));
        if (n->size[1][s] > 0)
            handed_on = fmax(handed_on, n->noise[1][s] / n->size[1][s] * fmin(older, size));
    }
    return fmin(hypot(handed_on, DBL_EPSILON * made), size);
}

void tw_term_noise_next(tw_term_noise *noise, tw_term_weights weights, const double size[2])
{
    double next[2];
    for (int b = 0; b < 2; b++) next[b] = next_noise(noise, weights, b, size[b]);
    memcpy(noise->size[1], noise->size[0], sizeof noise->size[0]);
    memcpy(noise->noise[1], noise->noise[0], sizeof noise->noise[0]);
    memcpy(noise->size[0], size, sizeof noise->size[0]);
    memcpy(noise->noise[0], next, sizeof next);
}
