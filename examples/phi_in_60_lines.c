/* Your own matrix by callback, and the action of its phi-functions: heat in a rod that is warmed from within.
 *
 *     u' = A u + b,  u(0) = u0   has the solution   u(t) = exp(tA) u0 + t phi_1(tA) b.
 *
 * A is never stored. One call gives the solution at several times, each to the tolerance asked for. */
#include <stdio.h>
#include <twang/twang.h>

enum { N = 200, TIMES = 3 };

/* out = A in: the second difference on N inner points of [0, 1], u = 0 at both ends. */
static tw_status diffuse(void *context, int count, const double *in, double *out)
{
    double scale = *(const double *)context * (N + 1.0) * (N + 1.0);
    for (int column = 0; column < count; column++, in += N, out += N)
        for (int i = 0; i < N; i++)
            out[i] = scale * ((i > 0 ? in[i - 1] : 0) - 2 * in[i] + (i + 1 < N ? in[i + 1] : 0));
    return TW_OK;
}

int main(void)
{
    double conductivity = 1, t = 1, nodes[TIMES] = {0.01, 0.1, 1}; /* solutions at nodes[i] * t */
    tw_operator A = {.space = {.local_size = N},
                     .apply = diffuse,
                     .context = &conductivity,
                     .symmetry = TW_SYMMETRIC};

    tw_error error = {0};
    tw_phi_workspace *workspace;
    tw_phi_limits limits = tw_phi_limits_default();
    limits.size = N;
    limits.second_order = false;
    limits.options.tolerance = 1e-10;
    if (tw_phi_workspace_create(&limits, &workspace, &error)) goto failed;

    /* w_i = phi_0(c_i t A) v_0 + phi_1(c_i t A) v_1 with v_0 = 0 and v_1 = b; u = c_i t w_i. */
    double b[N], u[TIMES][N];
    for (int i = 0; i < N; i++) b[i] = 1;
    const double *vectors[] = {NULL, b};
    double *outputs[TIMES] = {u[0], u[1], u[2]};
    tw_phi_request request = {.time = t,
                              .node_count = TIMES,
                              .nodes = nodes,
                              .order = 1,
                              .vectors = vectors,
                              .outputs = outputs};
    tw_phi_statistics statistics;
    if (tw_phi_evaluate(workspace, &A, &request, &statistics, &error)) goto failed;

    printf("%s: %lld products\n", tw_phi_engine_name(statistics.engine),
           (long long)statistics.products);
    for (int i = 0; i < TIMES; i++)
        printf("t = %-5g middle of the rod: %.10f\n", nodes[i] * t, nodes[i] * t * u[i][N / 2]);
    printf("steady state, x (1 - x)/2:  %.10f\n", 0.5 * (N + 2) / (2 * N + 2) * N / (2 * N + 2));
    tw_phi_workspace_free(workspace);
    return 0;
failed:
    fprintf(stderr, "%s\n", error.text);
    return 1;
}
