/* The coil of docs/scenes.md by velocity Verlet, in one file that shares nothing with Twang: grid 4 x 4 x 500, springs along
 * the edges of Kuhn's tetrahedra, k = 1e6, mass 1, field (0, 0, -0.05), sections 0 to 3 held. T seconds in ceil(T/h)
 * equal steps. Prints a row per particle: x,y,z,vx,vy,vz; and on stderr, ten times per simulated second, the height of
 * the top: the mean of the last cross-section.
 *
 *     cc -O2 -o coil tests/reference/make_coil_reference.c -lm && ./coil 10 1.5e-4 > coil.csv 2> top.txt */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SECTIONS = 500, COUNT = 16 * SECTIONS, HELD = 64 };
static double x[COUNT][3], v[COUNT][3], f[COUNT][3], rest[COUNT * 7];
static int from[COUNT * 7], to[COUNT * 7], springs;

static double stretch(int e, double d[3])
{
    for (int k = 0; k < 3; k++) d[k] = x[to[e]][k] - x[from[e]][k];
    return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

static void build(void)
{
    for (int i = 0; i < COUNT; i++) {
        double s = (i / 16) / 499.0, th = 2 * acos(-1.0) * 6 * s;
        double u = 0.3 * (i % 4 / 3.0 - 0.5), w = 0.3 * (i / 4 % 4 / 3.0 - 0.5);
        x[i][0] = (1 + u) * cos(th), x[i][1] = (1 + u) * sin(th), x[i][2] = 4 * s + w;
    }
    for (int i = 0; i < COUNT; i++)
        for (int da = 0; da < 2; da++)
            for (int db = 0; db < 2; db++)
                for (int dc = 0; dc < 2; dc++) {
                    if (da + db + dc == 0 || i % 4 + da > 3 || i / 4 % 4 + db > 3 ||
                        i / 16 + dc >= SECTIONS)
                        continue;
                    double d[3];
                    from[springs] = i, to[springs] = i + da + 4 * db + 16 * dc;
                    rest[springs] = stretch(springs, d);
                    springs++;
                }
}

static void forces(void)
{
    for (int i = 0; i < COUNT; i++) f[i][0] = f[i][1] = 0, f[i][2] = -0.05;
    for (int e = 0; e < springs; e++) {
        double d[3], l = stretch(e, d), pull = 1e6 * (l - rest[e]) / l;
        for (int k = 0; k < 3; k++) f[from[e]][k] += pull * d[k], f[to[e]][k] -= pull * d[k];
    }
    memset(f, 0, HELD * sizeof *f);
}

static void kick(double h)
{
    for (int i = 0; i < COUNT; i++)
        for (int k = 0; k < 3; k++) v[i][k] += h * f[i][k];
}

static void tell_top(double t)
{
    double sum = 0;
    for (int i = COUNT - 16; i < COUNT; i++) sum += x[i][2];
    fprintf(stderr, "%.4f %.9f\n", t, sum / 16);
}

int main(int count, char **words)
{
    double duration = count > 1 ? atof(words[1]) : 10, step = count > 2 ? atof(words[2]) : 1.5e-4;
    long steps = (long)ceil(duration / step);
    step = duration / (double)steps;
    build();
    forces();
    for (long n = 0; n < steps; n++) {
        kick(step / 2);
        for (int i = 0; i < COUNT; i++)
            for (int k = 0; k < 3; k++) x[i][k] += step * v[i][k];
        forces();
        kick(step / 2);
        if (floor((double)(n + 1) * step * 10) > floor((double)n * step * 10))
            tell_top((double)(n + 1) * step);
    }
    printf("x,y,z,vx,vy,vz\n");
    for (int i = 0; i < COUNT; i++)
        printf("%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n", x[i][0], x[i][1], x[i][2], v[i][0], v[i][1],
               v[i][2]);
    return springs == 40951 ? 0 : 1;
}
