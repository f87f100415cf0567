/* SUNDIALS CVODE (BDF, variable order and step) behind our interface, for comparisons. Compiled in
 * where it was found (TW_WITH_CVODE). It chooses its own steps. Newton's linear systems are solved
 * densely up to DENSE_MAX unknowns, and by GMRES with our products with J beyond. Its history is
 * its own: a restored run starts CVODE anew at order one, so it is not bitwise the same. */
#include "integrators/integrator_internal.h"

#ifdef TW_WITH_CVODE
#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sundials/sundials_types.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_spgmr.h>
#include <sunmatrix/sunmatrix_dense.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "base/log_line.h"
#include "linalg/vector.h"

enum {
    DENSE_MAX = 200,      /* unknowns up to which a dense factor is small */
    GMRES_DIMENSION = 30, /* most Krylov vectors of a solve */
    MAX_STEPS = 1000000   /* of CVODE in one call; our own max_steps is the one that counts */
};

/* Where the user asks for fixed steps, which CVODE cannot make. */
static const double default_tolerance = 1e-6;

typedef struct cvode_memory {
    SUNContext context;
    void *solver;
    N_Vector u;
    SUNMatrix matrix;
    SUNLinearSolver linear;
    bool running;     /* the solver is at (t, u) of the integrator */
    tw_status status; /* of the last callback that failed */
} cvode_memory;

/* CVODE's callbacks return 0 for success, 1 for "try a smaller step" and -1 for failure. */
static int status_to_cvode(cvode_memory *memory, tw_status status)
{
    if (status == TW_OK) return 0;
    memory->status = status;
    return tw_status_is_rejection(status) ? 1 : -1;
}

static int rhs(sunrealtype t, N_Vector u, N_Vector F, void *context)
{
    tw_integrator *integrator = context;
    tw_status status =
        tw_system_rhs(&integrator->system, t, N_VGetArrayPointer(u), N_VGetArrayPointer(F));
    return status_to_cvode(integrator->memory, status);
}

/* Called by CVODE once per set-up of GMRES. */
static int jacobian_setup(sunrealtype t, N_Vector u, N_Vector F, void *context)
{
    tw_integrator *integrator = context;
    tw_status status =
        tw_system_linearise(&integrator->system, t, N_VGetArrayPointer(u), N_VGetArrayPointer(F));
    return status_to_cvode(integrator->memory, status);
}

static int jacobian_times(N_Vector in, N_Vector out, sunrealtype t, N_Vector u, N_Vector F,
                          void *context, N_Vector work)
{
    (void)t, (void)u, (void)F, (void)work;
    tw_integrator *integrator = context;
    tw_status status =
        tw_system_jacobian(&integrator->system, N_VGetArrayPointer(in), N_VGetArrayPointer(out));
    return status_to_cvode(integrator->memory, status);
}

/* The library never prints. */
static void ignore_error(int code, const char *module, const char *function, char *text, void *data)
{
    (void)code, (void)module, (void)function, (void)text, (void)data;
}

static bool create_dense_solver(tw_integrator *integrator, cvode_memory *memory)
{
    int64_t size = integrator->system.size;
    memory->matrix = SUNDenseMatrix(size, size, memory->context);
    if (!memory->matrix) return false;

    memory->linear = SUNLinSol_Dense(memory->u, memory->matrix, memory->context);
    if (!memory->linear) return false;

    return CVodeSetLinearSolver(memory->solver, memory->linear, memory->matrix) == CVLS_SUCCESS;
}

static bool create_linear_solver(tw_integrator *integrator, cvode_memory *memory)
{
    if (integrator->system.size <= DENSE_MAX) return create_dense_solver(integrator, memory);

    /* Larger systems use GMRES with our products. */
    memory->linear = SUNLinSol_SPGMR(memory->u, SUN_PREC_NONE, GMRES_DIMENSION, memory->context);
    if (!memory->linear) return false;

    return CVodeSetLinearSolver(memory->solver, memory->linear, NULL) == CVLS_SUCCESS &&
           CVodeSetJacTimes(memory->solver, jacobian_setup, jacobian_times) == CVLS_SUCCESS;
}

static bool create_solver(tw_integrator *integrator, cvode_memory *memory)
{
    double rtol = integrator->options.relative_tolerance;
    double atol = integrator->options.absolute_tolerance;

    /* Create the objects of SUNDIALS. */
    if (SUNContext_Create(NULL, &memory->context) != 0) return false;
    memory->u = N_VNew_Serial(integrator->system.size, memory->context);
    memory->solver = CVodeCreate(CV_BDF, memory->context);
    if (!memory->u || !memory->solver) return false;

    /* CVODE wants a state now; the true one comes with start_solver. */
    N_VConst(0.0, memory->u);
    return CVodeSetErrHandlerFn(memory->solver, ignore_error, NULL) == CV_SUCCESS &&
           CVodeInit(memory->solver, rhs, 0.0, memory->u) == CV_SUCCESS &&
           CVodeSStolerances(memory->solver, rtol, atol) == CV_SUCCESS &&
           CVodeSetUserData(memory->solver, integrator) == CV_SUCCESS &&
           CVodeSetMaxNumSteps(memory->solver, MAX_STEPS) == CV_SUCCESS &&
           create_linear_solver(integrator, memory);
}

static tw_status cvode_reserve(tw_integrator *integrator, tw_error *error)
{
    cvode_memory *memory = TW_NEW(cvode_memory);
    integrator->memory = memory;
    if (!memory) return tw_fail_plain(error, TW_OUT_OF_MEMORY);

    /* A step that is given has no effect, and that must be said. */
    tw_integrator_options *options = &integrator->options;
    if (options->relative_tolerance == 0) {
        options->relative_tolerance = default_tolerance;
        if (options->step > 0)
            tw_log_line(TW_LOG_WARNING,
                        "cvode chooses its own steps, and not %g s: give rtol (--rtol R), which is "
                        "%g now",
                        options->step, default_tolerance);
    }
    if (create_solver(integrator, memory)) return TW_OK;
    return tw_fail(error, TW_OUT_OF_MEMORY, "CVODE could not be set up");
}

static void cvode_release(tw_integrator *integrator)
{
    cvode_memory *memory = integrator->memory;
    if (!memory) return;
    if (memory->solver) CVodeFree(&memory->solver);
    if (memory->linear) SUNLinSolFree(memory->linear);
    if (memory->matrix) SUNMatDestroy(memory->matrix);
    if (memory->u) N_VDestroy(memory->u);
    if (memory->context) SUNContext_Free(&memory->context);
    tw_release(memory);
    integrator->memory = NULL;
}

static void cvode_reset(tw_integrator *integrator)
{
    cvode_memory *memory = integrator->memory;
    memory->running = false;
}

/* Hands (t, u) over to CVODE, unless it is there already. */
static bool start_solver(tw_integrator *integrator, cvode_memory *memory)
{
    if (memory->running) return true;
    tw_vector_copy(integrator->system.size, integrator->u, N_VGetArrayPointer(memory->u));
    memory->running = CVodeReInit(memory->solver, integrator->t, memory->u) == CV_SUCCESS;
    return memory->running;
}

/* One of CVODE's own steps, at most h long. */
static tw_status cvode_attempt(tw_integrator *integrator, double h, tw_error *error)
{
    cvode_memory *memory = integrator->memory;
    memory->status = TW_OK;
    if (!start_solver(integrator, memory))
        return tw_fail(error, TW_INTERNAL, "CVODE could not be started");

    /* CVODE must not step beyond the limit. */
    if (CVodeSetStopTime(memory->solver, integrator->t + h) != CV_SUCCESS)
        return tw_fail(error, TW_INTERNAL, "CVODE refused the stop time");

    /* CVODE takes one step of its own choice. */
    double reached = integrator->t;
    int flag = CVode(memory->solver, integrator->t + h, memory->u, &reached, CV_ONE_STEP);
    if (flag < 0) {
        /* A callback that failed says more than CVODE's flag. */
        tw_status status = memory->status;
        if (status == TW_OK) status = TW_NOT_CONVERGED;
        memory->running = false;
        return tw_fail(error, status, "CVODE gave up (its flag %d)", flag);
    }

    tw_vector_copy(integrator->system.size, N_VGetArrayPointer(memory->u), integrator->u_new);
    integrator->own_step = reached - integrator->t;
    return TW_OK;
}

/* CVODE's own interpolant. */
static tw_status cvode_interpolate(tw_integrator *integrator, double theta, double *u)
{
    cvode_memory *memory = integrator->memory;
    double t = integrator->t_old + theta * integrator->step_taken;

    if (CVodeGetDky(memory->solver, t, 0, memory->u) != CV_SUCCESS) return TW_NOT_CONVERGED;
    tw_vector_copy(integrator->system.size, N_VGetArrayPointer(memory->u), u);
    return TW_OK;
}

const tw_scheme_table tw_scheme_cvode = {.reserve = cvode_reserve,
                                         .release = cvode_release,
                                         .reset = cvode_reset,
                                         .attempt = cvode_attempt,
                                         .interpolate = cvode_interpolate,
                                         .own_steps = true};
#else
const tw_scheme_table tw_scheme_cvode = {0};
#endif
