/* The table of the scene file. The sections system, bodies, pins, forces and motions stand beside
 * the functions that build them (schema_tables.h names the files). */
#include <twang/integrator.h>

#include "scene/schema_tables.h"

/* In the order of the enumerations in integrator.h and phi.h. */
WORDS(controllers, "pi", "cost")
WORDS(linear_solvers, "cholesky", "pcg", "auto")
WORDS(filters, "gautschi", "hochbruck-lubich")
WORDS(inner_products, "scaled", "energy", "euclidean")
WORDS(phi_norms, "state", "displacement")
WORDS(frame_formats, "none", "csv", "vtu", "ply", "obj", "pc2")

static const char *scheme_names(int index)
{
    if (index < 0 || index >= TW_SCHEME_COUNT) return NULL;
    return tw_scheme_name((tw_scheme)index);
}

static const char *engine_names(int index)
{
    if (index < 0 || index >= TW_PHI_ENGINE_COUNT) return NULL;
    return tw_phi_engine_name((tw_phi_engine)index);
}

static const tw_schema_field integrator_fields[] = {
    {"name", TW_FIELD_CHOICE, .choice = scheme_names, .fallback = "exprb42",
     .doc = "the scheme, as `twang list integrators` names it"},
    {"step", TW_FIELD_NUMBER, .unit = "s", .range = ABOVE(0),
     .doc = "fixed step, made a little shorter if the duration is no multiple of it; with rtol the "
            "first step to try"},
    {"chosen", TW_FIELD_TEXT,
     .doc = "why `--integrator auto` chose name and step; run.json repeats it"},
    {"rtol", TW_FIELD_NUMBER, .range = INSIDE(0, 1),
     .doc = "relative tolerance of the local error: given, the step adapts itself"},
    {"atol", TW_FIELD_NUMBER, .range = AT_LEAST(0), .fallback = "1e-12",
     .doc = "absolute tolerance added to it, in the units of the state"},
    {"reference", TW_FIELD_NUMBERS, .length = 2, .range = AT_LEAST(0), .fallback = "[0, 0]",
     .doc = "magnitudes of x and v that rtol refers to; 0: their own root mean square"},
    {"smallest_step", TW_FIELD_NUMBER, .unit = "s", .range = ABOVE(0),
     .doc = "an adaptive run that needs a smaller step ends as failed; not given: 16 rounding "
            "errors of t"},
    {"largest_step", TW_FIELD_NUMBER, .unit = "s", .range = AT_LEAST(0), .fallback = "0",
     .doc = "adaptive steps never grow beyond it; 0: no limit"},
    {"max_steps", TW_FIELD_INTEGER, .range = AT_LEAST(1), .fallback = "1000000000",
     .doc = "accepted and rejected steps after which a run ends as failed"},
    {"controller", TW_FIELD_CHOICE, .choice = controllers, .fallback = "pi",
     .doc = "how adaptive steps are chosen: from the error alone, or also from the cost per unit "
            "time"},
    {"energy_gain_bound", TW_FIELD_NUMBER, .range = AT_LEAST(0), .fallback = "0.5",
     .doc = "share of the energy scale by which total energy may rise before a step is called "
            "untrusted; 0: no guard"},
    {"nodes", TW_FIELD_NUMBERS, .length = 2, .fallback = "[0.3333333333333333, 0.75]",
     .doc = "(c2, c3) of pexprb43, distinct and not zero"},
    {"passes", TW_FIELD_INTEGER, .range = BETWEEN(1, 10), .fallback = "2",
     .doc = "passes of expmid4"},
    {"filter_cutoff", TW_FIELD_NUMBER, .range = ABOVE(0), .fallback = "2.2",
     .doc = "beta of expmid2: modes with h omega well below it are integrated exactly"},
    {"dissipation", TW_FIELD_NUMBER, .range = BETWEEN(0, 1), .fallback = "0",
     .doc = "mu of expmid2: share of the unresolved vibrations that settles in a step; 0: linear "
            "problems are reversible"},
    {"corrections", TW_FIELD_INTEGER, .range = BETWEEN(0, 10), .fallback = "1",
     .doc = "expmid2: how often the stage is put on the half step of the step's own flow; 0 loses "
            "rotation and energy in long runs"},
    {"reuse_factor", TW_FIELD_NUMBER, .range = AT_LEAST(0), .fallback = "0",
     .doc = "a factorisation is kept while the tangent changed relatively by less; 0: a new one "
            "each step"},
    {"newton_tolerance", TW_FIELD_NUMBER, .range = INSIDE(0, 1), .fallback = "1e-10",
     .doc = "implicit schemes: relative size of the last Newton correction"},
    {"newton_iterations", TW_FIELD_INTEGER, .range = BETWEEN(1, 1000), .fallback = "25",
     .doc = "implicit schemes: most Newton steps"},
    {"linear_solver", TW_FIELD_CHOICE, .choice = linear_solvers, .fallback = "auto",
     .doc = "implicit schemes: sparse direct, conjugate gradients, or (expmid2) what costs less"},
    {"spectral_radius", TW_FIELD_NUMBER, .range = BETWEEN(0, 1), .fallback = "0.8",
     .doc = "rho_infinity of generalized-alpha"},
    {"filter", TW_FIELD_CHOICE, .choice = filters, .fallback = "gautschi",
     .doc = "filter of gautschi"},
    {"imex_tangent", TW_FIELD_BOOL, .fallback = "false",
     .doc =
         "v-imex: the fast part is the tangent at each step's start instead of the constant part"},
};
static SECTION(integrator_section, "integrator", integrator_fields);

static const tw_schema_field phi_fields[] = {
    {"name", TW_FIELD_CHOICE, .choice = engine_names, .fallback = "auto",
     .doc = "the engine, as `twang list phi` names it"},
    {"tolerance", TW_FIELD_NUMBER, .range = BELOW(1e-15, 1), .fallback = "1e-8",
     .doc = "relative, in the mass norm, for the position and the velocity part each by itself; "
            "expmid2 with auto takes 1e-5 where less is asked"},
    {"norm", TW_FIELD_CHOICE, .choice = phi_norms, .fallback = "state",
     .doc = "displacement: the tolerance is for displacements, and velocities count as the "
            "displacements they make: for "
            "bodies whose unresolved modes hold the velocity"},
    {"inner_product", TW_FIELD_CHOICE, .choice = inner_products, .fallback = "scaled",
     .doc = "in which the Arnoldi engines orthogonalise"},
    {"max_dimension", TW_FIELD_INTEGER, .range = BETWEEN(0, 1024), .fallback = "0",
     .doc = "largest Krylov dimension or polynomial degree; 0: the engine's own"},
    {"max_products", TW_FIELD_INTEGER, .range = AT_LEAST(1), .fallback = "1000000",
     .doc = "products with the stiffness after which one evaluation is given up"},
    {"pole", TW_FIELD_NUMBER, .range = AT_LEAST(0), .fallback = "0",
     .doc = "sigma of shift-invert's gamma = (sigma h)^2; 0: chosen"},
};
static SECTION(phi_section, "phi", phi_fields);

const char *tw_up_axes(int index)
{
    static const char *const axes[] = {"z", "y"};
    return index >= 0 && index < COUNT_OF(axes) ? axes[index] : NULL;
}

static const tw_schema_field output_fields[] = {
    {"frames", TW_FIELD_CHOICES, .choice = frame_formats, .fallback = "csv",
     .doc = "format of the frames (docs/output.md); a list writes several: [vtu, pc2]"},
    {"up", TW_FIELD_CHOICE, .choice = tw_up_axes, .fallback = "z",
     .doc = "the axis that points up in obj, ply and pc2 frames; y: (x, y, z) is written as "
            "(x, z, -y), which importers with y up expect"},
    {"telemetry_every", TW_FIELD_INTEGER, .range = AT_LEAST(0),
     .doc = "a row in telemetry.csv every so many steps; 0: none. Without it every step, or every "
            "32nd of an explicit scheme on more than 1,000 unknowns without damping or power from "
            "outside"},
    {"checkpoint_every", TW_FIELD_NUMBER, .unit = "s", .range = AT_LEAST(0),
     .doc =
         "seconds of computing between checkpoints; 0: after every step. Without it 2, or 50 times "
         "as long as writing one takes"},
};
static SECTION(output_section, "output", output_fields);

static const tw_schema_field expected_row_fields[] = {
    {"row", TW_FIELD_INTEGER, .range = AT_LEAST(0), .required = true,
     .doc = "row of final.csv, from 0"},
    {"position", TW_FIELD_NUMBERS, .length = 3, .unit = "m", .doc = "x, y, z it must have"},
    {"value", TW_FIELD_NUMBER, .doc = "q it must have, for a system"},
    {"tolerance", TW_FIELD_NUMBER, .range = AT_LEAST(0), .required = true,
     .doc = "largest difference allowed"},
};
static SECTION(expected_row_section, "tests.final", expected_row_fields);

static const tw_schema_field tests_fields[] = {
    {"energy_start", TW_FIELD_NUMBER, .unit = "J", .doc = "energy at t = 0, to 12 digits"},
    {"energy_drift_max", TW_FIELD_NUMBER, .range = AT_LEAST(0),
     .doc = "largest allowed energy error, relative to the energy converted"},
    {"displacement_min", TW_FIELD_NUMBER, .unit = "m", .range = AT_LEAST(0),
     .doc = "some particle must end at least so far from where it began"},
    {"duration", TW_FIELD_NUMBER, .unit = "s", .range = ABOVE(0),
     .doc = "make test simulates only so long, and final is what holds then; not given: all of it"},
    {"steps_max", TW_FIELD_INTEGER, .range = AT_LEAST(1), .doc = "largest allowed number of steps"},
    {"final", TW_FIELD_LIST, .section = &expected_row_section,
     .doc = "rows of final.csv and what they must be"},
};
static SECTION(tests_section, "tests", tests_fields);

static const tw_schema_field scene_fields[] = {
    {"name", TW_FIELD_NAME, .required = true,
     .doc = "what the run is called: its directory is runs/NAME-N"},
    {"duration", TW_FIELD_NUMBER, .unit = "s", .range = ABOVE(0), .required = true,
     .doc = "simulated time"},
    {"fps", TW_FIELD_NUMBER, .unit = "1/s", .range = AT_LEAST(0), .fallback = "30",
     .doc = "frames per simulated second, whatever the step; 0: none"},
    {"gravity", TW_FIELD_NUMBERS, .length = 3, .unit = "m/s^2",
     .doc = "acceleration of every particle of every body"},
    {"integrator", TW_FIELD_MAP, .section = &integrator_section, .required = true,
     .doc = "how time is integrated"},
    {"phi", TW_FIELD_MAP, .section = &phi_section, .fallback = "{}",
     .doc = "how phi-functions are evaluated"},
    {"output", TW_FIELD_MAP, .section = &output_section, .fallback = "{}",
     .doc = "what a run writes"},
    {"system", TW_FIELD_MAP, .section = &tw_schema_system,
     .doc = "a system of equations, instead of bodies"},
    {"bodies", TW_FIELD_LIST, .section = &tw_schema_bodies, .doc = "what is simulated"},
    {"pins", TW_FIELD_LIST, .section = &tw_schema_pins,
     .doc = "particles that are held where they are"},
    {"forces", TW_FIELD_LIST, .section = &tw_schema_forces,
     .doc = "what acts besides gravity and elasticity"},
    {"motions", TW_FIELD_LIST, .section = &tw_schema_motions,
     .doc = "particles that go where they are told; of two for a particle the later holds, and "
            "before a pin"},
    {"obstacles", TW_FIELD_LIST, .section = &tw_schema_obstacles,
     .doc = "what bodies touch and do not move; they need contact"},
    {"contact", TW_FIELD_MAP, .section = &tw_schema_contact,
     .doc = "how bodies and obstacles push each other away; not given: they do not"},
    {"fluid", TW_FIELD_MAP, .section = &tw_schema_fluid,
     .doc = "a viscous fluid around all bodies, in which nothing has inertia; not given: none"},
    {"tests", TW_FIELD_MAP, .section = &tests_section,
     .doc = "values a run must reproduce, used by make test"},
};
SECTION(tw_schema_scene, "scene", scene_fields);
