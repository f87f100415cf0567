/* SLEPc's MFN solver on the operators that `bench_phi --export FOLDER` wrote: exp and phi_1, beside ours.
 *
 *   peer_slepc FOLDER CASE [TOLERANCE [ERROR]]
 *
 * Prints lines of bench_phi's table. With ERROR the loosest of the tolerances 1e-1, 1e-2, ... is taken that reaches it.
 * Products are counted by a shell around the matrix. Error as in bench_phi: relative, worst over both halves of a
 * second-order vector. */
#include <math.h>
#include <petsctime.h>
#include <slepcmfn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct counted {
    Mat matrix;
    long products;
} counted;

static PetscErrorCode multiply(Mat shell, Vec x, Vec y)
{
    counted *c = NULL;
    PetscCall(MatShellGetContext(shell, &c));
    c->products++;
    PetscCall(MatMult(c->matrix, x, y));
    return 0;
}

static PetscErrorCode load(const char *folder, const char *name, const char *what,
                           PetscBool is_matrix, void *object)
{
    char path[1024];
    PetscViewer viewer = NULL;
    snprintf(path, sizeof path, "%s/%s.%s", folder, name, what);
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_SELF, path, FILE_MODE_READ, &viewer));
    if (is_matrix)
        PetscCall(MatLoad(*(Mat *)object, viewer));
    else
        PetscCall(VecLoad(*(Vec *)object, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
    return 0;
}

/* Where the second half of a vector begins; its length for a first-order one. */
static PetscInt read_split(const char *folder, const char *name, PetscInt length)
{
    char path[1024];
    long split = 0;
    snprintf(path, sizeof path, "%s/%s.split", folder, name);
    FILE *file = fopen(path, "r");
    if (!file) return length;
    if (fscanf(file, "%ld", &split) != 1 || split <= 0) split = (long)length;
    fclose(file);
    return (PetscInt)split;
}

/* Errors of the parts [0, split) and [split, n). */
static PetscErrorCode errors(Vec w, Vec exact, Vec given, PetscInt split, double result[2])
{
    const PetscScalar *a = NULL, *b = NULL, *v = NULL;
    PetscInt n = 0;
    PetscCall(VecGetSize(w, &n));
    PetscCall(VecGetArrayRead(w, &a));
    PetscCall(VecGetArrayRead(exact, &b));
    PetscCall(VecGetArrayRead(given, &v));
    double difference[2] = {0}, size[2] = {0}, start[2] = {0};
    for (PetscInt i = 0; i < n; i++) {
        int part = i >= split;
        difference[part] += (double)((a[i] - b[i]) * (a[i] - b[i]));
        size[part] += (double)(b[i] * b[i]);
        start[part] += (double)(v[i] * v[i]);
    }
    for (int part = 0; part < 2; part++)
        result[part] =
            split == n && part == 1 ? 0 : sqrt(difference[part] / fmax(size[part], start[part]));
    PetscCall(VecRestoreArrayRead(w, &a));
    PetscCall(VecRestoreArrayRead(exact, &b));
    PetscCall(VecRestoreArrayRead(given, &v));
    return 0;
}

/* What a run needs. */
typedef struct peer_job {
    const char *folder, *name, *what;
    counted counted;
    Mat shell;
    Vec given, exact, w;
    PetscInt split;
} peer_job;

static PetscErrorCode solve(peer_job *job, PetscBool phi1, double tolerance, double result[2],
                            double *seconds, PetscInt *iterations, PetscInt *dimension,
                            PetscBool *converged)
{
    MFN mfn = NULL;
    FN function = NULL;
    MFNConvergedReason reason = MFN_CONVERGED_ITERATING;
    PetscCall(MFNCreate(PETSC_COMM_SELF, &mfn));
    PetscCall(MFNSetOperator(mfn, job->shell));
    PetscCall(MFNGetFN(mfn, &function));
    PetscCall(FNSetType(function, phi1 ? FNPHI : FNEXP));
    if (phi1) PetscCall(FNPhiSetIndex(function, 1));
    PetscCall(MFNSetTolerances(mfn, tolerance, 10000));
    PetscCall(MFNSetFromOptions(mfn));
    job->counted.products = 0;
    PetscLogDouble before = 0, after = 0;
    PetscCall(PetscTime(&before));
    PetscCall(MFNSolve(mfn, job->given, job->w));
    PetscCall(PetscTime(&after));
    *seconds = after - before;
    PetscCall(MFNGetConvergedReason(mfn, &reason));
    *converged = reason > 0 ? PETSC_TRUE : PETSC_FALSE;
    PetscCall(MFNGetIterationNumber(mfn, iterations));
    PetscCall(MFNGetDimensions(mfn, dimension));
    PetscCall(MFNDestroy(&mfn));
    PetscCall(errors(job->w, job->exact, job->given, job->split, result));
    return 0;
}

static PetscErrorCode run(peer_job *job, PetscBool phi1, double tolerance, double wanted)
{
    double result[2] = {0}, seconds = 0;
    PetscInt iterations = 0, dimension = 0;
    PetscBool converged = PETSC_FALSE;
    double tol = wanted > 0 ? 1e-1 : tolerance;
    for (;; tol /= 10) {
        PetscCall(solve(job, phi1, tol, result, &seconds, &iterations, &dimension, &converged));
        if (wanted <= 0 || !converged || fmax(result[0], result[1]) <= wanted || tol < 1e-14) break;
    }
    printf("%-12s %-5s %-17s %7.0e %-20s %8ld %7d %7d %8ld %9ld %9.1e %9.1e %9.4f %9s\n", job->name,
           job->what, "SLEPc MFN", tol, converged ? "OK" : "NOT_CONVERGED", job->counted.products,
           0, 0, (long)iterations, (long)dimension, fmax(result[0], result[1]), result[0], seconds,
           "-");
    return 0;
}

int main(int count, char **arguments)
{
    if (count < 3) {
        fprintf(stderr, "usage: peer_slepc FOLDER CASE [TOLERANCE [ERROR]]\n");
        return 2;
    }
    double tolerance = count > 3 ? strtod(arguments[3], NULL) : 1e-6;
    double wanted = count > 4 ? strtod(arguments[4], NULL) : 0;
    int own = 1;
    PetscCall(SlepcInitialize(&own, &arguments, NULL, NULL));
    peer_job job = {.folder = arguments[1], .name = arguments[2]};
    PetscInt n = 0;
    PetscCall(MatCreate(PETSC_COMM_SELF, &job.counted.matrix));
    PetscCall(MatSetType(job.counted.matrix, MATSEQAIJ));
    PetscCall(load(job.folder, job.name, "A", PETSC_TRUE, &job.counted.matrix));
    PetscCall(MatGetSize(job.counted.matrix, &n, NULL));
    PetscCall(MatCreateShell(PETSC_COMM_SELF, n, n, n, n, &job.counted, &job.shell));
    PetscCall(MatShellSetOperation(job.shell, MATOP_MULT, (void (*)(void))multiply));
    PetscCall(VecCreateSeq(PETSC_COMM_SELF, n, &job.given));
    PetscCall(VecDuplicate(job.given, &job.exact));
    PetscCall(VecDuplicate(job.given, &job.w));
    PetscCall(load(job.folder, job.name, "b", PETSC_FALSE, &job.given));
    job.split = read_split(job.folder, job.name, n);
    static const char *const functions[] = {"exp", "phi1"};
    for (int f = 0; f < 2; f++) {
        job.what = functions[f];
        PetscCall(load(job.folder, job.name, job.what, PETSC_FALSE, &job.exact));
        PetscCall(run(&job, f == 1 ? PETSC_TRUE : PETSC_FALSE, tolerance, wanted));
    }
    PetscCall(VecDestroy(&job.given));
    PetscCall(VecDestroy(&job.exact));
    PetscCall(VecDestroy(&job.w));
    PetscCall(MatDestroy(&job.shell));
    PetscCall(MatDestroy(&job.counted.matrix));
    PetscCall(SlepcFinalize());
    return 0;
}
