/* `integrator` and `phi` of a scene as the options of integrator.h. */
#include <stddef.h>
#include <string.h>

#include "scene/scene_internal.h"

typedef enum member_type {
    MEMBER_DOUBLE,
    MEMBER_INT,
    MEMBER_INT64,
    MEMBER_BOOL,
    MEMBER_PAIR
} member_type;

/* Which key is which member. A choice is written as its index, in the order of the enumeration. */
typedef struct member {
    const char *path;
    member_type type;
    size_t offset;
} member;

#define MEMBER(path, type, name)                                                                   \
    {                                                                                              \
        path, type, offsetof(tw_integrator_options, name)                                          \
    }
static const member members[] = {
    MEMBER("integrator.name", MEMBER_INT, scheme),
    MEMBER("integrator.step", MEMBER_DOUBLE, step),
    MEMBER("integrator.rtol", MEMBER_DOUBLE, relative_tolerance),
    MEMBER("integrator.atol", MEMBER_DOUBLE, absolute_tolerance),
    MEMBER("integrator.reference", MEMBER_PAIR, reference),
    MEMBER("integrator.smallest_step", MEMBER_DOUBLE, smallest_step),
    MEMBER("integrator.largest_step", MEMBER_DOUBLE, largest_step),
    MEMBER("integrator.max_steps", MEMBER_INT64, max_steps),
    MEMBER("integrator.controller", MEMBER_INT, controller),
    MEMBER("integrator.energy_gain_bound", MEMBER_DOUBLE, energy_gain_bound),
    MEMBER("integrator.nodes", MEMBER_PAIR, pexprb43.nodes),
    MEMBER("integrator.passes", MEMBER_INT, expmid4.passes),
    MEMBER("integrator.filter_cutoff", MEMBER_DOUBLE, expmid2.filter_cutoff),
    MEMBER("integrator.dissipation", MEMBER_DOUBLE, expmid2.dissipation),
    MEMBER("integrator.corrections", MEMBER_INT, expmid2.corrections),
    MEMBER("integrator.reuse_factor", MEMBER_DOUBLE, newton.reuse_factor),
    MEMBER("integrator.newton_tolerance", MEMBER_DOUBLE, newton.tolerance),
    MEMBER("integrator.newton_iterations", MEMBER_INT, newton.max_iterations),
    MEMBER("integrator.linear_solver", MEMBER_INT, newton.linear_solver),
    MEMBER("integrator.spectral_radius", MEMBER_DOUBLE, generalized_alpha.spectral_radius),
    MEMBER("integrator.filter", MEMBER_INT, gautschi.filter),
    MEMBER("integrator.imex_tangent", MEMBER_BOOL, v_imex.renew_tangent),
    MEMBER("phi.name", MEMBER_INT, phi.engine),
    MEMBER("phi.tolerance", MEMBER_DOUBLE, phi.tolerance),
    MEMBER("phi.norm", MEMBER_INT, phi.norm),
    MEMBER("phi.inner_product", MEMBER_INT, phi.inner_product),
    MEMBER("phi.max_dimension", MEMBER_INT, phi.max_dimension),
    MEMBER("phi.max_products", MEMBER_INT64, phi.max_products),
    MEMBER("phi.pole", MEMBER_DOUBLE, phi.pole),
};
#undef MEMBER
_Static_assert(sizeof(tw_scheme) == sizeof(int), "enumerations are written as int");

static void write_member(const member *m, const tw_node *node, char *options)
{
    void *at = options + m->offset;
    switch (m->type) {
    case MEMBER_DOUBLE:
        *(double *)at = node->number;
        break;
    case MEMBER_INT:
        *(int *)at = (int)node->number;
        break;
    case MEMBER_INT64:
        *(int64_t *)at = (int64_t)node->number;
        break;
    case MEMBER_BOOL:
        *(bool *)at = node->number != 0.0;
        break;
    case MEMBER_PAIR:
        ((double *)at)[0] = node->first->number;
        ((double *)at)[1] = node->last->number;
        break;
    }
}

tw_integrator_options tw_scene_integrator_options(const tw_scene *scene)
{
    tw_integrator_options options = tw_integrator_options_default();

    /* A key that is not in the scene leaves the library's default. */
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const tw_node *node = tw_scene_node(scene, members[i].path);
        if (node) write_member(&members[i], node, (char *)&options);
    }
    return options;
}
