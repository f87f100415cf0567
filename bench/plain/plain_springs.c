#include "plain_springs.h"

#include <math.h>
#include <string.h>

void plain_acceleration(const plain_system *s, const double *x, double *a)
{
    memset(a, 0, 3 * (size_t)s->particles * sizeof *a);

    /* Each spring pulls at both of its ends with k (l - L). */
    for (long e = 0; e < s->springs; e++) {
        const double *p = x + 3 * (long)s->ends[2 * e];
        const double *q = x + 3 * (long)s->ends[2 * e + 1];
        double dx = q[0] - p[0];
        double dy = q[1] - p[1];
        double dz = q[2] - p[2];
        double l = sqrt(dx * dx + dy * dy + dz * dz);
        double pull = s->stiffness[e] * (l - s->rest_length[e]) / l;

        double *ap = a + 3 * (long)s->ends[2 * e];
        double *aq = a + 3 * (long)s->ends[2 * e + 1];
        ap[0] += pull * dx;
        ap[1] += pull * dy;
        ap[2] += pull * dz;
        aq[0] -= pull * dx;
        aq[1] -= pull * dy;
        aq[2] -= pull * dz;
    }

    for (long i = 0; i < s->particles; i++)
        for (int k = 0; k < 3; k++)
            a[3 * i + k] = s->mass[i] > 0 ? a[3 * i + k] / s->mass[i] + s->gravity[k] : 0.0;
}

void plain_verlet(plain_system *s, long steps, double h)
{
    long n = 3 * s->particles;
    for (long step = 0; step < steps; step++) {
        for (long i = 0; i < n; i++) {
            s->v[i] += 0.5 * h * s->a[i];
            s->x[i] += h * s->v[i];
        }
        plain_acceleration(s, s->x, s->a);
        for (long i = 0; i < n; i++) s->v[i] += 0.5 * h * s->a[i];
    }
}

void plain_rk4(plain_system *s, long steps, double h, double *work)
{
    static const double node[4] = {0, 0.5, 0.5, 1};
    static const double weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    long n = 3 * s->particles;
    double *x = work;          /* of the stage */
    double *v = work + n;      /* of the stage, and slope of x */
    double *a = work + 2 * n;  /* slope of v */
    double *dx = work + 3 * n; /* weighted sums of the slopes */
    double *dv = work + 4 * n;

    for (long step = 0; step < steps; step++) {
        memset(dx, 0, 2 * (size_t)n * sizeof *dx);
        for (int stage = 0; stage < 4; stage++) {
            for (long i = 0; i < n; i++) {
                double slope_x = stage > 0 ? v[i] : 0;
                double slope_v = stage > 0 ? a[i] : 0;
                x[i] = s->x[i] + node[stage] * h * slope_x;
                v[i] = s->v[i] + node[stage] * h * slope_v;
            }
            plain_acceleration(s, x, a);
            for (long i = 0; i < n; i++) {
                dx[i] += weight[stage] * v[i];
                dv[i] += weight[stage] * a[i];
            }
        }
        for (long i = 0; i < n; i++) {
            s->x[i] += h * dx[i];
            s->v[i] += h * dv[i];
        }
    }
}
