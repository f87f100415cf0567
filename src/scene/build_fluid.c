/* `fluid` of a scene, and motors, which make things swim in it. */
#include <twang/fluid.h>

#include "base/fail.h"
#include "scene/scene_internal.h"
#include "scene/schema_tables.h"

/* ---- fluid ---- */

WORDS(fluid_kinds, "stokes")

static const tw_schema_field fluid_fields[] = {
    {"kind", TW_FIELD_CHOICE, .choice = fluid_kinds, .fallback = "stokes",
     .doc = "a viscous fluid without inertia, at rest far away: particles move with it, and the "
            "run is of the first order (docs/fluid.md)"},
    {"viscosity", TW_FIELD_NUMBER, .unit = "Pa s", .range = ABOVE(0), .fallback = "1e-3",
     .doc = "of the fluid; that of water"},
    {"radius", TW_FIELD_NUMBER, .unit = "m", .range = ABOVE(0), .automatic = true,
     .fallback = "auto",
     .doc =
         "of the blob through which a particle pushes the fluid; auto: fibres as round rods, other "
         "particles as a surface"},
    {"inertia", TW_FIELD_BOOL, .fallback = "false",
     .doc =
         "particles keep their masses, and the run is of the second order: for comparison, up to "
         "400 particles"},
};
SECTION(tw_schema_fluid, "fluid", fluid_fields);

tw_status tw_build_fluid(const tw_build *build, tw_error *error)
{
    const tw_node *node = tw_scene_node(build->scene, "fluid");
    if (!node) return TW_OK;

    /* `auto` is read as the radius 0, which means the same to the model. */
    tw_fluid fluid = tw_fluid_default();
    fluid.viscosity = tw_node_number(node, "viscosity");
    fluid.radius = tw_node_number(node, "radius");
    fluid.inertia = tw_node_number(node, "inertia") != 0.0;

    return tw_model_set_fluid(build->model, &fluid, error);
}

/* ---- motors ---- */

static const tw_schema_field motor_fields[] = {
    {"body", TW_FIELD_INTEGER, .range = AT_LEAST(0), .required = true,
     .doc = "index of the body that is turned; of a fibre its first two sections"},
    {"stator", TW_FIELD_INTEGER, .range = AT_LEAST(0), .required = true,
     .doc = "index of the body that the motor is in, which feels the opposite torque"},
    {"torque", TW_FIELD_NUMBER, .unit = "N m", .required = true,
     .doc = "about the axis, counter-clockwise seen against it"},
    {"axis", TW_FIELD_INTEGERS, .length = 2, .range = AT_LEAST(0),
     .doc =
         "two particles of the stator, from one to the other; not given: its first and its last, "
         "the poles of a cell"},
    {"bearing", TW_FIELD_NUMBER, .unit = "N/m", .range = AT_LEAST(0), .fallback = "0",
     .doc =
         "of springs between what is turned and the axis, which hold it but let it turn; 0: none"},
    {"frequency", TW_FIELD_NUMBER, .unit = "Hz", .range = AT_LEAST(0), .fallback = "0",
     .doc = "the torque is torque cos(2 pi frequency t + phase)"},
    {"phase", TW_FIELD_NUMBER, .unit = "rad", .fallback = "0", .doc = "of the torque"},
};
const tw_field_group tw_motor_fields = FIELDS(motor_fields);

/* The body that a key names; NULL after an error. */
static const tw_body *find_body(const tw_entry *entry, const char *key, tw_error *error)
{
    const tw_node *index = tw_node_find(entry->node, key);
    if (index->number < entry->build->body_count) return &entry->build->bodies[(int)index->number];

    tw_fail_at(error, index->mark, "%s.%s is %s, but there are only %d bodies", entry->path, key,
               index->text, entry->build->body_count);
    return NULL;
}

/* The two particles of the axis, in the model. */
static tw_status find_axis(const tw_entry *entry, const tw_body *stator, int64_t axis[2],
                           tw_error *error)
{
    /* Not given: from the first particle of the stator to its last. */
    axis[0] = stator->first;
    axis[1] = stator->first + stator->count - 1;
    const tw_node *node = tw_node_find(entry->node, "axis");
    if (!node) return TW_OK;

    double given[2];
    tw_node_numbers(entry->node, "axis", 2, given);

    /* The scene counts the particles of the stator, the model those of all bodies. */
    for (int k = 0; k < 2; k++) {
        if (given[k] >= (double)stator->count || given[0] == given[1])
            return tw_fail_at(error, node->mark,
                              "%s.axis must name two different particles of the stator, which has "
                              "%lld",
                              entry->path, (long long)stator->count);
        axis[k] = stator->first + (int64_t)given[k];
    }
    return TW_OK;
}

tw_status tw_add_motor(const tw_entry *entry, tw_error *error)
{
    const tw_body *rotor = find_body(entry, "body", error);
    if (!rotor) return TW_BAD_INPUT;
    const tw_body *stator = find_body(entry, "stator", error);
    if (!stator) return TW_BAD_INPUT;

    /* A motor sits between two bodies, and turns one fibre at most. */
    if (rotor == stator)
        return tw_fail_at(error, tw_node_find(entry->node, "stator")->mark,
                          "%s.stator is the body that is turned, name another one", entry->path);
    if (rotor->fibres.count > 1)
        return tw_fail_at(error, tw_node_find(entry->node, "body")->mark,
                          "%s.body has %lld fibres, a motor turns one", entry->path,
                          (long long)rotor->fibres.count);

    /* Two sections of four particles each begin a fibre. */
    enum { FIBRE_ROTOR = 8 };
    int64_t turned = rotor->fibres.count == 1 ? FIBRE_ROTOR : rotor->count;

    tw_motor motor = tw_motor_default();
    motor.rotor_first = rotor->first;
    motor.rotor_last = rotor->first + turned - 1;
    motor.stator_first = stator->first;
    motor.stator_last = stator->first + stator->count - 1;
    TW_TRY(find_axis(entry, stator, motor.axis, error));

    motor.torque = tw_node_number(entry->node, "torque");
    motor.bearing = tw_node_number(entry->node, "bearing");
    motor.frequency = tw_node_number(entry->node, "frequency");
    motor.phase = tw_node_number(entry->node, "phase");

    return tw_model_add_motor(entry->build->model, &motor, error);
}
