/* Energy exchange in the Fermi-Pasta-Ulam-Tsingou chain, by steps of exprb42 on the phi-functions alone.
 * usage: fput_energy [FILE.csv] */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <twang/twang.h>

enum { M = 3, N = 2 * M, STEPS_PER_ROW = 10 }; /* x_0,1..M slow, then x_1,1..M fast */
static const double omega = 100, h = 0.01, duration = 100;

/* Elongation of nonlinear spring l = 0..M; U = sum_l q_l^4 / 4. */
static double elongation(int l, const double *x)
{
    return (l < M ? x[l] - x[M + l] : 0) - (l > 0 ? x[l - 1] + x[M + l - 1] : 0);
}

/* out = (A + sum_l w_l c_l c_l^T) in: the tangent K if w_l = 3 q_l^2, the force -a(x) if w_l = q_l^2 and in = x. */
static tw_status apply(void *weights, int count, const double *in, double *out)
{
    for (; count > 0; count--, in += N, out += N) {
        for (int i = 0; i < N; i++) out[i] = (i < M ? 1 : omega * omega) * in[i];
        for (int l = 0; l <= M; l++) {
            double tension = ((double *)weights)[l] * elongation(l, in);
            if (l < M) out[l] += tension, out[M + l] -= tension;
            if (l > 0) out[l - 1] -= tension, out[M + l - 1] -= tension;
        }
    }
    return TW_OK;
}

static void acceleration(const double *x, double *a, double w[M + 1])
{
    for (int l = 0; l <= M; l++) w[l] = elongation(l, x) * elongation(l, x);
    apply(w, 1, x, a);
    for (int i = 0; i < N; i++) a[i] = -a[i];
}

/* u_{n+1} = u_n + h phi_1(hJ) F + 32/9 h phi_3(hJ) D2,  U2 = u_n + 3/4 h phi_1(3/4 hJ) F,  D2 = (0, d2). */
static tw_status step(tw_phi_workspace *workspace, double u[2 * N], tw_error *error)
{
    double w[M + 1], w2[M + 1], F[2 * N], stage[2 * N], end[2 * N], D2[2 * N] = {0}, more[2 * N];
    memcpy(F, u + N, N * sizeof *F);
    acceleration(u, F + N, w);
    for (int l = 0; l <= M; l++) w[l] *= 3;
    tw_second_order J = {
        .stiffness = {{.local_size = N}, apply, .context = w, .symmetry = TW_SYMMETRIC}};
    tw_phi_request first = {
        h, 2, (double[]){0.75, 1}, 1, (const double *[]){NULL, F}, (double *[]){stage, end}, {0}};
    tw_status status = tw_phi_evaluate_second_order(workspace, &J, &first, NULL, error);
    if (status) return status;
    for (int i = 0; i < 2 * N; i++) stage[i] *= 0.75 * h;
    apply(w, 1, stage, more); /* d2 = a(x2) - a(x) + A (x2 - x) */
    for (int i = 0; i < N; i++) stage[i] += u[i];
    acceleration(stage, D2 + N, w2);
    for (int i = 0; i < N; i++) D2[N + i] += more[i] - F[N + i];
    tw_phi_request second = {
        h, 1, (double[]){1}, 3, (const double *[]){NULL, NULL, NULL, D2}, (double *[]){more}, {0}};
    status = tw_phi_evaluate_second_order(workspace, &J, &second, NULL, error);
    for (int i = 0; i < 2 * N && !status; i++) u[i] += h * (end[i] + 32.0 / 9 * more[i]);
    return status;
}

/* Energies I_1..I_M of the stiff oscillators, their sum I at [M]; returns the total H. */
static double energies(const double *u, double I[M + 1])
{
    double H = I[M] = 0;
    for (int i = 0; i < M; i++) {
        I[i] = 0.5 * (pow(u[N + M + i], 2) + pow(omega * u[M + i], 2));
        I[M] += I[i];
        H += I[i] + 0.5 * (pow(u[N + i], 2) + pow(u[i], 2));
    }
    for (int l = 0; l <= M; l++) H += pow(elongation(l, u), 4) / 4;
    return H;
}

static int run(tw_phi_workspace *workspace, FILE *csv)
{
    tw_error error = {0};
    double u[2 * N] = {[0] = 1, [M] = 1 / omega, [N] = 1, [N + M] = 1}, I[M + 1],
                 H0 = energies(u, I);
    long steps = lround(duration / h);
    printf("     t              H    (H-H0)/H0      I1      I2      I3       I\n");
    if (csv) fprintf(csv, "t,H,I1,I2,I3,I\n");
    for (long n = 0;; n++) {
        double t = (double)n * h, H = energies(u, I);
        if (n % (steps / 10) == 0)
            printf("%6.1f  %.11f  %11.3e  %.4f  %.4f  %.4f  %.4f\n", t, H, (H - H0) / H0, I[0],
                   I[1], I[2], I[M]);
        if (csv && n % STEPS_PER_ROW == 0)
            fprintf(csv, "%.17g,%.17g,%.17g,%.17g,%.17g,%.17g\n", t, H, I[0], I[1], I[2], I[M]);
        if (n == steps) return 0;
        if (step(workspace, u, &error)) break;
    }
    fprintf(stderr, "fput_energy: %s\n", error.text);
    return 1;
}

int main(int argc, char **argv)
{
    tw_error error = {0};
    tw_phi_limits limits = tw_phi_limits_default();
    limits.size = N;
    limits.options.tolerance = 1e-12;
    limits.options.engine = TW_PHI_DENSE; /* six unknowns: no Krylov space pays */
    tw_phi_workspace *workspace;
    if (tw_phi_workspace_create(&limits, &workspace, &error))
        return fprintf(stderr, "fput_energy: %s\n", error.text), 1;
    FILE *csv = argc > 1 ? fopen(argv[1], "w") : NULL;
    if (argc > 1 && !csv) perror(argv[1]);
    int failed = argc > 1 && !csv ? 1 : run(workspace, csv);
    if (csv && fclose(csv)) failed = 1;
    tw_phi_workspace_free(workspace);
    return failed;
}
