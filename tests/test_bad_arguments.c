/* Every public function, called with one bad argument at a time: NULL, absurd numbers, arrays of them, structures with
 * one bad member. A function that returns a status refuses what nobody can mean; no function crashes, loops or returns
 * a NaN. The calls are made from the headers by support/write_public_calls, so that no function is left out. Each runs
 * in a process of its own, which inherits one good object of each type. */
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <twang/twang.h>
#include <unistd.h>

#include "support/run_suite.h"
#include "support/temporary_folder.h"

/* ---- the world that the calls find ---- */

enum { ENTRIES = 200, NO_STATUS = 200, RETURNED_NAN = 201, PARTICLES = 8 };

/* A call that takes longer never ends. */
enum { LONGEST_SECONDS = 60 };

static struct {
    tw_sparse *sparse;
    tw_cholesky *cholesky;
    tw_shifted_cholesky *shifted;
    tw_model *model, *whole_model, *fibre_model;
    const tw_fibre_set *fibre_set;
    tw_simulation *simulation;
    tw_integrator *integrator;
    tw_phi_workspace *workspace, *pair_workspace;
    tw_scene *scene;
    tw_playback *playback;
    tw_mesh mesh, surface, other_mesh;
    tw_embedding embedding, other_embedding;
    tw_parents parents;
    tw_tableau tableau, other_tableau;

    tw_cholesky *out_cholesky;
    tw_shifted_cholesky *out_shifted_cholesky;
    tw_sparse *out_sparse;
    tw_model *out_model;
    tw_simulation *out_simulation;
    tw_integrator *out_integrator;
    tw_phi_workspace *out_phi_workspace;
    tw_playback *out_playback;
    tw_scene *out_scene;
    char *out_char;
    int64_t *out_int64_t, *edges;

    tw_allocator allocator;
    tw_contact_options contact_options;
    tw_display display;
    tw_error error;
    tw_event event;
    tw_export_options export_options;
    tw_export_report export_report;
    tw_fibres fibres;
    tw_plasticity plasticity;
    tw_field field;
    tw_fill_options fill_options;
    tw_fill_report fill_report;
    tw_fluid fluid;
    tw_first_order_problem first_problem;
    tw_second_order_problem second_problem;
    tw_integrator_options integrator_options;
    tw_measurement measurement;
    tw_mesh_quality mesh_quality;
    tw_mesh_repairs mesh_repairs;
    tw_motion motion;
    tw_motor motor;
    tw_obstacle obstacle;
    tw_operator operator;
    tw_second_order second_order;
    tw_phi_limits phi_limits;
    tw_phi_options phi_options;
    tw_phi_request phi_request, pair_request;
    tw_phi_statistics phi_statistics;
    tw_spectral_request spectral_request;
    tw_run_options run_options;
    tw_run_report run_report;
    tw_energy_balance energy_balance;
    tw_scene_key scene_key;
    tw_scene_setting setting;
    tw_solid_material solid_material;
    tw_sqrt_report sqrt_report;
    tw_tableau_report tableau_report;
    tw_user_force user_force;
    tw_wind wind;

    const char *scene_text;
    char *scene_copy;
    char text[ENTRIES];
    unsigned char bytes[4096];
    void *snapshot;
    size_t snapshot_size, size;
    int number;
    int64_t count;
    double doubles[ENTRIES], ones[ENTRIES], quarters[ENTRIES], rising[ENTRIES], nans[ENTRIES],
        results[ENTRIES];
    int64_t indices[ENTRIES], threes[ENTRIES], rising_indices[ENTRIES], large_indices[ENTRIES],
        negative_indices[ENTRIES], results_64[ENTRIES];
} world;

/* NULL ends the list, whatever count is given. */
static const char *const some_names[] = {"name", "named", NULL};

/* A call of a public function: `bad` is the number of its bad argument, -1 for none. */
typedef struct public_call {
    const char *function;
    int (*call)(int bad);
    int bad;
    const char *what;
    bool must_refuse; /* a status other than TW_OK is the only right answer */
    bool has_status;
} public_call;

static tw_status any_step(void *context, tw_integrator *integrator)
{
    (void)context, (void)integrator;
    return TW_OK;
}

static bool any_interrupt(void *context)
{
    (void)context;
    return false;
}

static tw_status any_output(void *context, double t, const double *u)
{
    (void)context, (void)t, (void)u;
    return TW_OK;
}

static void any_log(void *context, tw_log_level level, const char *line)
{
    (void)context, (void)level, (void)line;
}

#include "public_calls.inc"

/* ---- making it ---- */

static void need(tw_status status, const char *what)
{
    if (status == TW_OK) return;
    fprintf(stderr, "the test cannot begin: %s: %s (%s)\n", what, tw_status_name(status),
            world.error.text);
    ck_abort();
}
#define NEED(call) need(call, #call)

static void *allocate_plain(void *context, size_t size, size_t alignment)
{
    (void)context;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void release_plain(void *context, void *block)
{
    (void)context;
    free(block);
}

static tw_status no_field(void *context, double t, const double x[3], double value[3])
{
    (void)context, (void)t, (void)x;
    value[0] = value[1] = value[2] = 0;
    return TW_OK;
}

static tw_status no_force(void *context, double t, const double *x, const double *v, double *force)
{
    (void)context, (void)t, (void)x, (void)v, (void)force;
    return TW_OK;
}

static void no_motion(void *context, double t, const double start[3], double position[3],
                      double velocity[3], double acceleration[3])
{
    (void)context, (void)t;
    for (int i = 0; i < 3; i++) {
        position[i] = start[i];
        velocity[i] = 0;
        acceleration[i] = 0;
    }
}

static tw_status spring_back(void *context, double t, const double *x, const double *v, double *a)
{
    (void)context, (void)t, (void)v;
    a[0] = -x[0];
    a[1] = -x[1];
    return TW_OK;
}

static tw_status decay(void *context, double t, const double *u, double *F)
{
    (void)context, (void)t;
    F[0] = -u[0];
    F[1] = -u[1];
    return TW_OK;
}

static tw_status event_value(void *context, double t, const double *u, double *g)
{
    (void)context, (void)u;
    *g = t - 100;
    return TW_OK;
}

static double exponential(const void *context, double lambda)
{
    (void)context;
    return exp(-lambda);
}

static void make_numbers(void)
{
    /* The first eight triples are the corners of a cube; any four neighbours span a solid. */
    static const double cube[PARTICLES][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1},
                                              {1, 1, 0}, {1, 0, 1}, {0, 1, 1}, {1, 1, 1}};
    for (int i = 0; i < ENTRIES; i++) {
        world.doubles[i] = i < 3 * PARTICLES ? cube[i / 3][i % 3] : 0.5;
        world.ones[i] = 1;
        world.quarters[i] = 0.25;
        world.threes[i] = INT64_C(3) * i;
        world.rising[i] = i;
        world.nans[i] = NAN;
        world.indices[i] = i % PARTICLES;
        world.rising_indices[i] = i;
        world.large_indices[i] = INT64_C(1) << 60;
        world.negative_indices[i] = -1;
    }
}

static tw_model *make_model(void)
{
    tw_model *model = NULL;
    NEED(tw_model_create(&model, &world.error));
    NEED(tw_model_add_particles(model, PARTICLES, world.doubles, NULL, world.ones, NULL,
                                &world.error));
    return model;
}

static void make_models(void)
{
    world.display = (tw_display){.name = "cube",
                                 .count = PARTICLES,
                                 .edge_count = 1,
                                 .edges = world.indices,
                                 .triangle_count = 1,
                                 .triangles = world.indices,
                                 .tetrahedron_count = 1,
                                 .tetrahedra = world.indices};
    static const int64_t ends[1] = {8};
    world.display.surface = (tw_display_surface){.vertex_count = 3,
                                                 .carriers = world.indices,
                                                 .weights = world.quarters,
                                                 .face_count = 1,
                                                 .face_start = world.threes,
                                                 .corners = world.indices,
                                                 .texture_count = 3,
                                                 .texture = world.ones,
                                                 .corner_texture = world.indices,
                                                 .edge_count = 1,
                                                 .edges = world.indices,
                                                 .statement_count = 1,
                                                 .statement_face = world.indices,
                                                 .statement_end = ends,
                                                 .statements = "g pelvis"};
    world.model = make_model();
    world.whole_model = make_model();
    NEED(tw_model_add_springs(world.whole_model, 4, world.indices, world.ones, NULL, &world.error));
    NEED(tw_model_add_display(world.whole_model, &world.display, &world.error));
    tw_model *other = make_model();
    NEED(tw_model_add_springs(other, 4, world.indices, world.ones, NULL, &world.error));
    NEED(tw_model_add_pull(other, 1.0, &world.error));
    NEED(tw_simulation_of_model(other, &world.simulation, &world.error));

    static const double root[3];
    static const double direction[3] = {1, 0, 0};
    world.plasticity = tw_plasticity_default();
    world.fibres = tw_fibres_default();
    world.fibres.count = 1;
    world.fibres.roots = root;
    world.fibres.directions = direction;
    NEED(tw_model_create(&world.fibre_model, &world.error));
    NEED(tw_model_add_fibres(world.fibre_model, &world.fibres, NULL, &world.error));
    world.fibre_set = tw_model_fibre_set(world.fibre_model, 0);

    world.fluid = tw_fluid_default();
    world.motor = (tw_motor){.rotor_last = 2,
                             .stator_first = 3,
                             .stator_last = 5,
                             .axis = {6, 7},
                             .torque = 1,
                             .frequency = 1};

    world.contact_options = tw_contact_options_default();
    world.contact_options.distance = 0.01;
    static const double corners[9] = {9, 9, 9, 10, 9, 9, 9, 10, 9};
    static const int64_t triangle[3] = {0, 1, 2};
    world.obstacle = (tw_obstacle){.kind = TW_OBSTACLE_MESH,
                                   .radius = 1,
                                   .size = 1,
                                   .vertex_count = 3,
                                   .vertices = corners,
                                   .triangle_count = 1,
                                   .triangles = triangle};
    world.field = tw_field_default();
    world.field.value = no_field;
    world.user_force = tw_user_force_default();
    world.user_force.force = no_force;
    world.user_force.pair_count = 1;
    world.user_force.pairs = world.indices;
    world.wind = tw_wind_default();
    world.motion.at = no_motion;
    world.solid_material = tw_solid_material_default();
}

static void make_matrices(void)
{
    static const double *const vectors[2];
    static double *outputs[1];
    static const tw_spectral_function function = {.value = exponential};
    static const double *starts[1];

    NEED(tw_sparse_create(1, 2, world.rising_indices, world.indices, TW_STORE_FULL, &world.sparse,
                          &world.error));
    tw_sparse_values(world.sparse)[0] = 1;
    tw_sparse_values(world.sparse)[1] = 2;
    NEED(tw_cholesky_create(world.sparse, NULL, &world.cholesky, &world.error));
    NEED(tw_cholesky_factor(world.cholesky, 1, NULL, 1));
    NEED(tw_shifted_cholesky_create(world.sparse, NULL, NULL, &world.shifted, &world.error));

    /* Evaluations of phi with this matrix, of first and of second order. */
    world.phi_options = tw_phi_options_default();
    world.phi_options.engine = TW_PHI_DENSE;
    world.phi_limits = tw_phi_limits_default();
    world.phi_limits.size = 2;
    world.phi_limits.options.engine = TW_PHI_DENSE;
    NEED(tw_phi_workspace_create(&world.phi_limits, &world.pair_workspace, &world.error));
    world.phi_limits.second_order = false;
    NEED(tw_phi_workspace_create(&world.phi_limits, &world.workspace, &world.error));
    world.operator= tw_sparse_operator(world.sparse);
    world.second_order = (tw_second_order){.stiffness = world.operator};
    world.second_order.stiffness.symmetry = TW_SYMMETRIC;
    outputs[0] = world.results;
    world.phi_request = (tw_phi_request){.time = 1,
                                         .node_count = 1,
                                         .nodes = world.ones,
                                         .order = 1,
                                         .vectors = vectors,
                                         .outputs = outputs};
    world.pair_request = world.phi_request;
    starts[0] = world.ones;
    world.spectral_request = (tw_spectral_request){.start_count = 1,
                                                   .starts = starts,
                                                   .output_count = 1,
                                                   .outputs = outputs,
                                                   .functions = &function,
                                                   .time = 1};
    NEED(tw_spectral_apply(world.pair_workspace, &world.second_order, &world.spectral_request, NULL,
                           &world.error));
    world.tableau = *tw_tableau_by_name("exprb42");
}

static void make_integrator(void)
{
    world.integrator_options = tw_integrator_options_default();
    world.integrator_options.step = 0.1;
    world.second_problem = tw_second_order_problem_default();
    world.second_problem.space.local_size = 2;
    world.second_problem.acceleration = spring_back;
    world.first_problem = tw_first_order_problem_default();
    world.first_problem.space.local_size = 2;
    world.first_problem.rhs = decay;
    world.event.value = event_value;

    NEED(tw_simulation_integrator(world.simulation, &world.integrator_options, &world.integrator,
                                  &world.error));
    NEED(tw_integrator_step(world.integrator, 0.1, &world.error));
    NEED(tw_integrator_serialise(world.integrator, NULL, 0, &world.snapshot_size));
    world.snapshot = malloc(world.snapshot_size);
    NEED(tw_integrator_serialise(world.integrator, world.snapshot, world.snapshot_size,
                                 &world.size));
}

static void make_meshes(void)
{
    static double corners[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    static int64_t cell[4] = {0, 1, 2, 3};
    static int64_t sides[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 0, 3, 2};
    world.mesh = (tw_mesh){
        .vertex_count = 4, .tetrahedron_count = 1, .vertices = corners, .tetrahedra = cell};
    NEED(tw_mesh_copy(&world.mesh, &world.other_mesh, &world.error));
    world.mesh = world.other_mesh;
    world.other_mesh = (tw_mesh){0};
    tw_mesh shell = {
        .vertex_count = 4, .triangle_count = 4, .vertices = corners, .triangles = sides};
    NEED(tw_mesh_copy(&shell, &world.surface, &world.error));
    world.fill_options = tw_fill_options_default();
    world.fill_options.vertex_count = 30;
    NEED(tw_embedding_create(&world.mesh, 2, world.doubles, &world.embedding, &world.error));
    NEED(tw_mesh_unique_edges(&world.mesh, &world.edges, &world.count, &world.error));
    NEED(tw_mesh_save("solid.vtk", &world.mesh, &world.error));
}

static void make_scene(void)
{
    world.scene_text = "name: tiny\n"
                       "duration: 0.02\n"
                       "fps: 100\n"
                       "integrator: {name: rk4, step: 0.01}\n"
                       "bodies:\n"
                       "  - {kind: rope, count: 2, length: 0.1, mass: 0.1, stiffness: 1}\n";
    FILE *file = fopen("scene.yaml", "w");
    if (!file || fputs(world.scene_text, file) == EOF || fclose(file) != 0) ck_abort();
    world.setting = (tw_scene_setting){.path = "name", .value = "small"};
    NEED(tw_scene_load("scene.yaml", 0, NULL, &world.scene, &world.error));
    NEED(tw_scene_write(world.scene, &world.scene_copy, &world.size, &world.error));

    world.run_options = tw_run_options_default();
    world.run_options.directory = "run";
    NEED(tw_run_scene(world.scene, &world.run_options, NULL, &world.error));
    NEED(tw_playback_open("run", &world.playback, &world.error));
    world.run_options.directory = NULL;
    world.export_options = tw_export_options_default();
    world.allocator = (tw_allocator){.allocate = allocate_plain, .release = release_plain};
}

/* ---- the calls ---- */

/* Sanitizers end a process with an exit code that is no status, and refuse enormous memory as malloc
 * does. */
const char *__asan_default_options(void); /* NOLINT(bugprone-reserved-identifier,cert-dcl37-c) */
const char *__asan_default_options(void)  /* NOLINT(bugprone-reserved-identifier,cert-dcl37-c) */
{
    return "exitcode=99:allocator_may_return_null=1";
}

/* What a child makes of one call, as its exit code. */
static int call_in_child(const public_call *call)
{
    pid_t child = fork();
    if (child < 0) return -1;
    if (child == 0) {
        alarm(LONGEST_SECONDS);
        _exit(call->call(call->bad));
    }

    int state = 0;
    if (waitpid(child, &state, 0) != child) return -1;
    return WIFEXITED(state) ? WEXITSTATUS(state) : 1000 + WTERMSIG(state);
}

/* Why the outcome is wrong; NULL if it is right. */
static const char *judge(const public_call *call, int outcome)
{
    if (outcome == 1000 + SIGALRM) return "does not come to an end";
    if (outcome < 0 || outcome > RETURNED_NAN) return "crashes";
    if (outcome == RETURNED_NAN) return "returns a NaN";
    if (outcome == TW_INTERNAL) return "ends with TW_INTERNAL";
    if (!call->has_status) return outcome == NO_STATUS ? NULL : "crashes";
    if (outcome >= TW_STATUS_COUNT) return "crashes";
    if (call->bad == -1 && outcome != TW_OK) return "is refused";
    if (call->must_refuse && outcome == TW_OK) return "gives TW_OK";
    return NULL;
}

START_TEST(test_bad_arguments)
{
    /* One thread: threads do not survive a fork. */
    tw_set_threads(1);
    test_enter_temporary_folder();
    make_numbers();
    make_models();
    make_matrices();
    make_integrator();
    make_meshes();
    make_scene();

    int failed = 0;
    int count = (int)(sizeof public_calls / sizeof *public_calls);
    for (int i = 0; i < count; i++) {
        const public_call *call = &public_calls[i];
        const char *wrong = judge(call, call_in_child(call));
        if (!wrong) continue;
        failed++;
        fprintf(stderr, "%s, %s: %s\n", call->function, call->what, wrong);
    }
    test_leave_temporary_folder();
    ck_assert_msg(failed == 0, "%d of %d calls ended wrongly", failed, count);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bad arguments");
    TCase *tests = tcase_create("bad arguments");
    tcase_set_timeout(tests, 600);
    tcase_add_test(tests, test_bad_arguments);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
