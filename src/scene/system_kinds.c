/* `system` of a scene: equations in place of bodies. A kind is one row of the table `system_kinds`:
 * its fields in the scene file, and the function that makes it. */
#include <twang/model.h>

#include "scene/scene_internal.h"
#include "scene/schema_tables.h"

typedef struct system_kind {
    tw_kind schema;
    tw_status (*make)(const tw_node *node, tw_simulation **out, tw_error *error);
} system_kind;

/* ---- fput ---- */

static const tw_schema_field fput_fields[] = {
    {"m", TW_FIELD_INTEGER, .range = BETWEEN(1, 1000000), .fallback = "3",
     .doc = "number of stiff springs; there are 2 m unknowns"},
    {"omega", TW_FIELD_NUMBER, .unit = "1/s", .range = ABOVE(0), .fallback = "100",
     .doc = "frequency of the stiff springs"},
};

static tw_status make_fput(const tw_node *node, tw_simulation **out, tw_error *error)
{
    int64_t m = tw_node_integer(node, "m");
    double omega = tw_node_number(node, "omega");
    return tw_simulation_fput(m, omega, out, error);
}

/* ---- stiff-line ---- */

static const tw_schema_field stiff_line_fields[] = {
    {"k", TW_FIELD_NUMBER, .unit = "1/s", .range = AT_LEAST(0), .fallback = "1000",
     .doc = "decay rate of y: x' = -x, y' = -k y"},
    {"start", TW_FIELD_NUMBERS, .length = 2, .fallback = "[1, 1]", .doc = "x and y at t = 0"},
};

static tw_status make_stiff_line(const tw_node *node, tw_simulation **out, tw_error *error)
{
    double k = tw_node_number(node, "k");
    double start[2];
    tw_node_numbers(node, "start", 2, start);
    return tw_simulation_stiff_line(k, start, out, error);
}

/* ---- the table ---- */

static const system_kind system_kinds[] = {
    {.schema = {"fput", FIELDS(fput_fields), {NULL}}, .make = make_fput},
    {.schema = {"stiff-line", FIELDS(stiff_line_fields), {NULL}}, .make = make_stiff_line},
};
KINDS_OF(system_kinds)

static const tw_schema_field common_fields[] = {
    {"kind", TW_FIELD_CHOICE, .choice = kind_name, .required = true,
     .doc = "which system of equations"},
};
const tw_section tw_schema_system = {"system", FIELDS(common_fields), kind_row};

tw_status tw_build_system(const tw_node *system, tw_simulation **out, tw_error *error)
{
    return system_kinds[tw_node_integer(system, "kind")].make(system, out, error);
}
