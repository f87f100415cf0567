#include "reaction_diffusion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* D lap u at cell (i, j), a mirror at every edge. */
static double diffuse(const reaction_diffusion *r, const double *u, int i, int j)
{
    int n = r->cells;
    int left = i > 0 ? i - 1 : i;
    int right = i + 1 < n ? i + 1 : i;
    int below = j > 0 ? j - 1 : j;
    int above = j + 1 < n ? j + 1 : j;
    double sum = u[j * n + left] + u[j * n + right] + u[below * n + i] + u[above * n + i];
    return r->diffusion * n * n * (sum - 4 * u[j * n + i]);
}

/* F(u), or J in with J taken at `point` if that is given. */
static void evaluate(const reaction_diffusion *r, const double *point, const double *u, double *out)
{
    int n = r->cells;
    int half = n * n; /* where v begins */
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            int k = j * n + i;
            out[k] = diffuse(r, u, i, j);

            /* One species. */
            if (r->kind == ALLEN_CAHN) {
                out[k] += point ? (1 - 3 * point[k] * point[k]) * u[k] : u[k] - u[k] * u[k] * u[k];
                continue;
            }

            /* Two species; u^2 v, or its derivative. */
            double growth = u[k] * u[k] * u[half + k];
            if (point)
                growth = 2 * point[k] * point[half + k] * u[k] + point[k] * point[k] * u[half + k];
            out[k] += (point ? 0 : 1) + growth - 4.4 * u[k];
            out[half + k] = diffuse(r, u + half, i, j) + 3.4 * u[k] - growth;
        }
}

static tw_status rhs(void *context, double t, const double *u, double *F)
{
    (void)t;
    evaluate(context, NULL, u, F);
    return TW_OK;
}

static tw_status linearise(void *context, double t, const double *u)
{
    (void)t;
    reaction_diffusion *r = context;
    memcpy(r->point, u, sizeof(double) * (size_t)r->size);
    return TW_OK;
}

static tw_status multiply(void *context, int count, const double *in, double *out)
{
    reaction_diffusion *r = context;
    r->products += count;
    for (int c = 0; c < count; c++) evaluate(r, r->point, in + c * r->size, out + c * r->size);
    return TW_OK;
}

static void fill_start(reaction_diffusion *r)
{
    int n = r->cells;
    for (int k = 0; k < n * n; k++) {
        double x = (k % n + 0.5) / n;
        int row = k / n;
        double y = (row + 0.5) / n;
        if (r->kind == ALLEN_CAHN) {
            r->state[k] = 0.4 + 0.1 * (x + y) + 0.1 * sin(10 * x) * sin(20 * y);
        } else {
            r->state[k] = 22 * y * pow(1 - y, 1.5);
            r->state[n * n + k] = 27 * x * pow(1 - x, 1.5);
        }
    }
}

reaction_diffusion *reaction_diffusion_new(reaction_kind kind, int cells, double diffusion)
{
    reaction_diffusion *r = calloc(1, sizeof *r);
    int species = kind == ALLEN_CAHN ? 1 : 2;
    r->kind = kind;
    r->cells = cells;
    r->diffusion = diffusion;
    r->size = (int64_t)species * cells * cells;
    r->state = malloc(sizeof(double) * (size_t)r->size);
    r->point = malloc(sizeof(double) * (size_t)r->size);
    fill_start(r);

    r->problem = tw_first_order_problem_default();
    r->problem.space.local_size = r->size;
    r->problem.context = r;
    r->problem.rhs = rhs;
    r->problem.linearise = linearise;
    r->problem.jacobian_product = multiply;
    return r;
}

void reaction_diffusion_free(reaction_diffusion *r)
{
    free(r->state);
    free(r->point);
    free(r);
}
