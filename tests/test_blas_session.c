/* labels: threads */
/* The library is a guest: it leaves the threads of the host's OpenBLAS as they were. */
#include <cblas.h>
#include <pthread.h>
#include <string.h>
#include <twang/twang.h>

#include "linalg/blas_session.h"
#include "support/run_suite.h"

enum { HOST_THREADS = 2 };

/* Uses the Cholesky factor and phi-functions. */
static void simulate(tw_scheme scheme)
{
    static const char text[] =
        "name: rope\nduration: 1\nintegrator: {name: rk4, step: 0.01}\n"
        "bodies: [{kind: rope}]\npins: [{from: 0}]\ngravity: [0, 0, -9.81]\n";
    tw_error error = {0};
    tw_scene *scene = NULL;
    tw_simulation *simulation = NULL;
    tw_integrator *integrator = NULL;
    tw_integrator_options options = tw_integrator_options_default();
    options.scheme = scheme;
    options.step = 1e-3;

    ck_assert_int_eq(tw_scene_parse("t", text, strlen(text), 0, NULL, &scene, &error), TW_OK);
    ck_assert_int_eq(tw_scene_build(scene, &simulation, &error), TW_OK);
    ck_assert_int_eq(tw_simulation_integrator(simulation, &options, &integrator, &error), TW_OK);
    ck_assert_msg(tw_integrator_advance(integrator, 0.01, &error) == TW_OK, "%s", error.text);
    tw_integrator_free(integrator);
    tw_simulation_free(simulation);
    tw_scene_free(scene);
}

START_TEST(threads_are_put_back)
{
    openblas_set_num_threads(HOST_THREADS);
    simulate(TW_SCHEME_EXPRB42);
    ck_assert_int_eq(openblas_get_num_threads(), HOST_THREADS);
    simulate(TW_SCHEME_BDF2);
    ck_assert_int_eq(openblas_get_num_threads(), HOST_THREADS);
}
END_TEST

/* Inside it is one thread, also where sessions nest. */
START_TEST(sessions_nest)
{
    openblas_set_num_threads(HOST_THREADS);
    ck_assert_int_eq(tw_blas_enter(), TW_OK);
    ck_assert_int_eq(tw_blas_enter(), TW_OK);
    tw_blas_leave();
    ck_assert_int_eq(openblas_get_num_threads(), 1);
    tw_blas_leave();
    ck_assert_int_eq(openblas_get_num_threads(), HOST_THREADS);
}
END_TEST

static void *many_sessions(void *context)
{
    /* The context is the answer if something is wrong. */
    for (int i = 0; i < 20000; i++) {
        if (tw_blas_enter() != TW_OK) return context;
        int threads = openblas_get_num_threads();
        tw_blas_leave();
        if (threads != 1) return context;
    }
    return NULL;
}

START_TEST(sessions_overlap)
{
    openblas_set_num_threads(HOST_THREADS);
    pthread_t other;
    void *failed = NULL;
    char failed_mark[1];
    ck_assert_int_eq(pthread_create(&other, NULL, many_sessions, failed_mark), 0);
    ck_assert_ptr_null(many_sessions(failed_mark));
    ck_assert_int_eq(pthread_join(other, &failed), 0);
    ck_assert_ptr_null(failed);
    ck_assert_int_eq(openblas_get_num_threads(), HOST_THREADS);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("blas session");
    TCase *tests = tcase_create("threads");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, threads_are_put_back);
    tcase_add_test(tests, sessions_nest);
    tcase_add_test(tests, sessions_overlap);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
