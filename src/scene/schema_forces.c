/* Pins, forces and motions: what is done to particles, and to which. */
#include "scene/schema_tables.h"

WORDS(force_kinds, "rayleigh", "dashpots", "wind", "shaking", "load")
WORDS(motion_kinds, "velocity", "oscillation", "rotation", "keyframes")

/* Which particles: by number, or by where they are at t = 0. */
#define SELECTION(of_kinds)                                                                        \
    {"body",                                                                                       \
     TW_FIELD_INTEGER,                                                                             \
     .kinds = (of_kinds),                                                                          \
     .range = AT_LEAST(0),                                                                         \
     .fallback = "0",                                                                              \
     .doc = "index of the body, from 0"},                                                          \
        {"from", TW_FIELD_INTEGER, .kinds = (of_kinds), .range = AT_LEAST(0),                      \
         .doc = "first particle meant, from 0"},                                                   \
        {"to", TW_FIELD_INTEGER, .kinds = (of_kinds), .range = AT_LEAST(0),                        \
         .doc = "last particle meant; not given: the first one alone"},                            \
        {"lowest", TW_FIELD_NUMBER, .kinds = (of_kinds), .range = BETWEEN(0, 1),                   \
         .doc = "instead: particles in this lowest share of the body's height (z)"},               \
        {"highest", TW_FIELD_NUMBER, .kinds = (of_kinds), .range = BETWEEN(0, 1),                  \
         .doc = "instead: particles in this highest share of it"},                                 \
        {"lower",                                                                                  \
         TW_FIELD_NUMBERS,                                                                         \
         .kinds = (of_kinds),                                                                      \
         .length = 3,                                                                              \
         .unit = "m",                                                                              \
         .doc = "instead: particles in a box, this its lower corner"},                             \
    {                                                                                              \
        "upper", TW_FIELD_NUMBERS, .kinds = (of_kinds), .length = 3, .unit = "m",                  \
                                   .doc = "upper corner of the box"                                \
    }

static const tw_schema_field pin_fields[] = {SELECTION(NULL)};
SECTION(tw_schema_pins, "pins", pin_fields);

static const tw_schema_field force_fields[] = {
    {"kind", TW_FIELD_CHOICE, .choice = force_kinds, .required = true, .doc = "what acts"},
    SELECTION("load"),
    {"body", TW_FIELD_INTEGER, .kinds = "dashpots wind", .range = AT_LEAST(0), .fallback = "0",
     .doc = "index of the body it acts on, from 0"},
    {"alpha", TW_FIELD_NUMBER, .kinds = "rayleigh", .unit = "1/s", .range = AT_LEAST(0),
     .fallback = "0", .doc = "mass-proportional; rigid motion is left alone"},
    {"beta", TW_FIELD_NUMBER, .kinds = "rayleigh", .unit = "s", .range = AT_LEAST(0),
     .fallback = "0",
     .doc = "stiffness-proportional: a mode of frequency w is damped by the ratio (alpha / w + "
            "beta w) / 2"},
    {"damping", TW_FIELD_NUMBER, .kinds = "dashpots", .unit = "N s/m", .range = ABOVE(0),
     .required = true, .doc = "of a dashpot along every edge of the body's cells"},
    {"velocity", TW_FIELD_NUMBERS, .kinds = "wind", .length = 3, .unit = "m/s", .required = true,
     .doc = "of the air"},
    {"density", TW_FIELD_NUMBER, .kinds = "wind", .unit = "kg/m^3", .range = ABOVE(0),
     .fallback = "1.2", .doc = "of the air"},
    {"drag", TW_FIELD_NUMBER, .kinds = "wind", .range = AT_LEAST(0), .fallback = "1",
     .doc = "coefficient along the flow"},
    {"lift", TW_FIELD_NUMBER, .kinds = "wind", .range = AT_LEAST(0), .fallback = "1",
     .doc = "coefficient across the flow; equal to drag: a pressure"},
    {"gust", TW_FIELD_NUMBER, .kinds = "wind", .range = AT_LEAST(0), .fallback = "0",
     .doc = "the air moves at velocity (1 + gust sin(2 pi frequency t))"},
    {"frequency", TW_FIELD_NUMBER, .kinds = "wind", .unit = "Hz", .range = AT_LEAST(0),
     .fallback = "0", .doc = "of the gusts"},
    {"acceleration", TW_FIELD_NUMBERS, .kinds = "shaking", .length = 3, .unit = "m/s^2",
     .required = true,
     .doc = "every particle is accelerated by this times sin(2 pi frequency t + phase)"},
    {"frequency", TW_FIELD_NUMBER, .kinds = "shaking", .unit = "Hz", .range = AT_LEAST(0),
     .required = true, .doc = "of the shaking"},
    {"phase", TW_FIELD_NUMBER, .kinds = "shaking", .unit = "rad", .fallback = "0",
     .doc = "of the shaking"},
    {"force", TW_FIELD_NUMBERS, .kinds = "load", .length = 3, .unit = "N", .required = true,
     .doc = "constant, shared equally by the particles meant"},
};
SECTION(tw_schema_forces, "forces", force_fields);

static const tw_schema_field keyframe_fields[] = {
    {"t", TW_FIELD_NUMBER, .unit = "s", .required = true, .doc = "when; later than the one before"},
    {"displacement", TW_FIELD_NUMBERS, .length = 3, .unit = "m", .required = true,
     .doc = "from where the particle began"},
};
static SECTION(keyframe_section, "motions.frames", keyframe_fields);

static const tw_schema_field motion_fields[] = {
    {"kind", TW_FIELD_CHOICE, .choice = motion_kinds, .required = true,
     .doc = "how the particles move"},
    SELECTION(NULL),
    {"velocity", TW_FIELD_NUMBERS, .kinds = "velocity", .length = 3, .unit = "m/s",
     .required = true, .doc = "constant, from the start on"},
    {"amplitude", TW_FIELD_NUMBERS, .kinds = "oscillation", .length = 3, .unit = "m",
     .required = true, .doc = "they go by amplitude (sin(2 pi frequency t + phase) - sin(phase))"},
    {"frequency", TW_FIELD_NUMBER, .kinds = "oscillation", .unit = "Hz", .range = AT_LEAST(0),
     .required = true, .doc = "of the oscillation"},
    {"phase", TW_FIELD_NUMBER, .kinds = "oscillation", .unit = "rad", .fallback = "0",
     .doc = "of the oscillation"},
    {"point", TW_FIELD_NUMBERS, .kinds = "rotation", .length = 3, .unit = "m",
     .fallback = "[0, 0, 0]", .doc = "on the axis"},
    {"axis", TW_FIELD_NUMBERS, .kinds = "rotation", .length = 3, .fallback = "[0, 0, 1]",
     .doc = "direction, of any length but zero"},
    {"rate", TW_FIELD_NUMBER, .kinds = "rotation", .unit = "rad/s", .required = true,
     .doc = "angular velocity"},
    {"frames", TW_FIELD_LIST, .kinds = "keyframes", .section = &keyframe_section, .required = true,
     .doc = "at least two; a smooth curve goes through them, at rest at both ends"},
};
SECTION(tw_schema_motions, "motions", motion_fields);
