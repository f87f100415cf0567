/* SUNDIALS CVODE (BDF, variable order and step) behind our interface: the rival everyone asks about. Compiled in where
 * it was found (TW_WITH_CVODE). It chooses its own steps; Newton's systems are solved densely up to DENSE_MAX unknowns
 * and by GMRES with our Jacobian products beyond. Its history is its own: a restored run starts it anew at order one
 * (not bitwise). */
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
#include "linalg/vector.h"

enum { DENSE_MAX = 200, MAX_STEPS = 1000000 };

typedef struct cvode_memory {
    SUNContext context;
    void *solver;
    N_Vector u;
    SUNMatrix matrix;
    SUNLinearSolver linear;
    bool running;     /* the solver is at (t, u) of the integrator */
    tw_status status; /* of the last callback that failed */
} cvode_memory;

static int status_to_cvode(cvode_memory *memory, tw_status status)
{
    if (status == TW_OK) return 0;
    memory->status = status;
    return tw_status_is_rejection(status) ? 1 : -1;
}

static int rhs(sunrealtype t, N_Vector u, N_Vector F, void *context)
{
    tw_integrator *integrator = context;
    return status_to_cvode(
        integrator->memory,
        tw_system_rhs(&integrator->system, t, N_VGetArrayPointer(u), N_VGetArrayPointer(F)));
}

/* GMRES linearises once per set-up, where CVODE asks for it. */
static int jacobian_setup(sunrealtype t, N_Vector u, N_Vector F, void *context)
{
    tw_integrator *integrator = context;
    return status_to_cvode(
        integrator->memory,
        tw_system_linearise(&integrator->system, t, N_VGetArrayPointer(u), N_VGetArrayPointer(F)));
}

static int jacobian_times(N_Vector in, N_Vector out, sunrealtype t, N_Vector u, N_Vector F,
                          void *context, N_Vector work)
{
    (void)t, (void)u, (void)F, (void)work;
    tw_integrator *integrator = context;
    return status_to_cvode(
        integrator->memory,
        tw_system_jacobian(&integrator->system, N_VGetArrayPointer(in), N_VGetArrayPointer(out)));
}

static void ignore_error(int code, const char *module, const char *function, char *text, void *data)
{
    (void)code, (void)module, (void)function, (void)text, (void)data; /* the library never prints */
}

static bool create_linear_solver(tw_integrator *integrator, cvode_memory *memory)
{
    if (integrator->system.size <= DENSE_MAX) {
        memory->matrix =
            SUNDenseMatrix(integrator->system.size, integrator->system.size, memory->context);
        memory->linear =
            memory->matrix ? SUNLinSol_Dense(memory->u, memory->matrix, memory->context) : NULL;
        return memory->linear &&
               CVodeSetLinearSolver(memory->solver, memory->linear, memory->matrix) == CVLS_SUCCESS;
    }
    memory->linear = SUNLinSol_SPGMR(memory->u, SUN_PREC_NONE, 30, memory->context);
    return memory->linear &&
           CVodeSetLinearSolver(memory->solver, memory->linear, NULL) == CVLS_SUCCESS &&
           CVodeSetJacTimes(memory->solver, jacobian_setup, jacobian_times) == CVLS_SUCCESS;
}

static bool create_solver(tw_integrator *integrator, cvode_memory *memory)
{
    double rtol = integrator->options.relative_tolerance;
    if (rtol == 0) rtol = 1e-6;
    if (SUNContext_Create(NULL, &memory->context) != 0) return false;
    memory->u = N_VNew_Serial(integrator->system.size, memory->context);
    memory->solver = CVodeCreate(CV_BDF, memory->context);
    if (!memory->u || !memory->solver) return false;
    N_VConst(0.0, memory->u);
    return CVodeSetErrHandlerFn(memory->solver, ignore_error, NULL) == CV_SUCCESS &&
           CVodeInit(memory->solver, rhs, 0.0, memory->u) == CV_SUCCESS &&
           CVodeSStolerances(memory->solver, rtol, integrator->options.absolute_tolerance) ==
               CV_SUCCESS &&
           CVodeSetUserData(memory->solver, integrator) == CV_SUCCESS &&
           CVodeSetMaxNumSteps(memory->solver, MAX_STEPS) == CV_SUCCESS &&
           create_linear_solver(integrator, memory);
}

static tw_status cvode_reserve(tw_integrator *integrator, tw_error *error)
{
    cvode_memory *memory = integrator->memory = TW_NEW(cvode_memory);
    if (!memory) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    return create_solver(integrator, memory)
               ? TW_OK
               : tw_fail(error, TW_OUT_OF_MEMORY, "CVODE could not be set up");
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
    ((cvode_memory *)integrator->memory)->running = false;
}

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
    double reached = integrator->t;
    memory->status = TW_OK;
    if (!start_solver(integrator, memory))
        return tw_fail(error, TW_INTERNAL, "CVODE could not be started");
    if (CVodeSetStopTime(memory->solver, integrator->t + h) != CV_SUCCESS)
        return tw_fail(error, TW_INTERNAL, "CVODE refused the stop time");
    int flag = CVode(memory->solver, integrator->t + h, memory->u, &reached, CV_ONE_STEP);
    if (flag < 0) {
        memory->running = false;
        tw_status status = memory->status != TW_OK ? memory->status : TW_NOT_CONVERGED;
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
