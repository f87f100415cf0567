/* Rules between the keys of a body: mass or density; what each material needs, and what it has no use for. */
#include <string.h>

#include "scene/scene_internal.h"

static tw_status check_mass(const tw_node *body, const char *path, tw_error *error)
{
    const tw_node *mass = tw_node_find(body, "mass"), *density = tw_node_find(body, "density");
    if (mass && density)
        return tw_fail_at(error, density->key_mark,
                          "both %s.mass and %s.density are given, keep one of them", path, path);
    if (!mass && !density)
        return tw_fail_at(error, body->mark,
                          "%s has no mass, give mass (of a particle, in kg) or density", path);
    const tw_node *inertia = tw_node_find(body, "inertia");
    if (inertia && strcmp(inertia->text, "consistent") == 0 && !density)
        return tw_fail_at(error, inertia->mark,
                          "%s.inertia is consistent, which needs density in place of mass", path);
    return TW_OK;
}

/* None of these keys has a default: the copy of a scene that a run keeps has all defaults written out, and must be
 * right as well. */
static tw_status check_material(const tw_node *body, const char *path, tw_error *error)
{
    static const char *const of_springs[] = {"stiffness", "diagonal", "hardening"};
    static const char *const of_elements[] = {"youngs_modulus", "poisson_ratio", "order"};
    const tw_node *material = tw_node_find(body, "material");
    bool springs = material->number == TW_MATERIAL_SPRINGS;
    const char *const *refused = springs ? of_elements : of_springs;
    for (int i = 0; i < 3; i++) {
        const tw_node *node = tw_node_find(body, refused[i]);
        if (node)
            return tw_fail_at(error, node->key_mark,
                              "%s.%s does not apply to material %s, only to %s", path, refused[i],
                              material->text, springs ? "finite elements" : "springs");
    }
    const char *needed = springs ? "stiffness" : "youngs_modulus";
    if (!tw_node_find(body, needed))
        return tw_fail_at(error, body->mark, "key %s.%s is missing, material %s needs it %s", path,
                          needed, material->text, springs ? "[N/m]" : "[Pa]");
    return TW_OK;
}

tw_status tw_scene_check_body(const tw_node *body, const char *path, tw_error *error)
{
    const char *kind = tw_node_text(body, "kind");
    tw_status status = check_mass(body, path, error);
    bool is_solid = tw_node_find(body, "material") && strcmp(kind, "tower") != 0;
    return status == TW_OK && is_solid ? check_material(body, path, error) : status;
}
