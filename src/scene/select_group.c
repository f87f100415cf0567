/* Selects what carries a group of an OBJ file. The lines `g NAME...` and `o NAME` stand between the
 * faces and hold for those that follow. */
#include <string.h>

#include "base/allocate.h"
#include "base/fail.h"
#include "mesh/bodies.h"
#include "scene/scene_internal.h"

enum { CARRIERS = 4 }; /* of an embedded vertex */

/* A statement of the file: its bytes, and the face it stands before. */
typedef struct statement {
    const char *text;
    int64_t length;
    int64_t face; /* -1: before the vertices */
} statement;

static statement statement_at(const tw_mesh_faces *faces, int64_t index)
{
    int64_t begin = index > 0 ? faces->statement_end[index - 1] : 0;
    return (statement){.text = faces->statements + begin,
                       .length = faces->statement_end[index] - begin,
                       .face = faces->statement_face[index]};
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The next word of a statement from *at on: where it begins, and its length; 0 at the end. */
static int64_t next_word(const statement *s, int64_t *at, const char **word)
{
    while (*at < s->length && is_blank(s->text[*at])) ++*at;
    int64_t begin = *at;
    while (*at < s->length && !is_blank(s->text[*at])) ++*at;
    *word = s->text + begin;
    return *at - begin;
}

/* The keyword of a line that names groups ('g') or an object ('o'); 0 for others. */
static char naming_keyword(const statement *s)
{
    bool is_short = s->length == 1 || (s->length > 1 && is_blank(s->text[1]));
    if (is_short && (s->text[0] == 'g' || s->text[0] == 'o')) return s->text[0];
    return 0;
}

/* Whether the line names `name` among its groups, or as its object, whose name may hold blanks. */
static bool names(const statement *s, const char *name)
{
    int64_t at = 1;
    const char *word = NULL;
    int64_t wanted = (int64_t)strlen(name);
    if (s->text[0] == 'o') {
        while (at < s->length && is_blank(s->text[at])) at++;
        return s->length - at == wanted && memcmp(s->text + at, name, (size_t)wanted) == 0;
    }

    for (int64_t length = next_word(s, &at, &word); length > 0; length = next_word(s, &at, &word))
        if (length == wanted && memcmp(word, name, (size_t)wanted) == 0) return true;
    return false;
}

/* ---- which triangles ---- */

/* How many triangles were cut from a face. */
static int64_t triangles_of_face(const tw_mesh_faces *faces, int64_t f)
{
    return faces->count ? faces->start[f + 1] - faces->start[f] - 2 : 1;
}

/* Marks the triangles of the group in `chosen`, one byte per triangle of the file. Returns how many
 * there are. */
static int64_t choose_triangles(const tw_mesh *surface, const char *name, char *chosen)
{
    const tw_mesh_faces *faces = &surface->faces;
    int64_t face_count = faces->count ? faces->count : surface->triangle_count;
    int64_t found = 0;
    int64_t triangle = 0; /* first one of the face */
    int64_t next = 0;     /* statement that has not been seen yet */
    bool in_group = false;
    bool in_object = false;

    for (int64_t f = 0; f < face_count; f++) {
        /* Statements up to this face: the last one of each keyword holds. */
        for (; next < faces->statement_count && faces->statement_face[next] <= f; next++) {
            statement s = statement_at(faces, next);
            char keyword = naming_keyword(&s);
            if (keyword == 'g') in_group = names(&s, name);
            if (keyword == 'o') in_object = names(&s, name);
        }

        int64_t count = triangles_of_face(faces, f);
        bool is_in = in_group || in_object;
        for (int64_t i = 0; is_in && i < count; i++) chosen[triangle + i] = 1;
        found += is_in ? count : 0;
        triangle += count;
    }
    return found;
}

/* Marks the particles of a sheet that are corners of chosen triangles. */
static void choose_corners(const tw_body *body, const char *chosen, char *particles)
{
    const tw_mesh *surface = &body->surface;
    for (int64_t i = 0; i < 3 * surface->triangle_count; i++)
        if (chosen[i / 3]) particles[body->embedding.corners[CARRIERS * surface->triangles[i]]] = 1;
}

/* Marks the particles that stand for the chosen triangles. */
static tw_status choose_particles(const tw_body *body, const char *chosen, char *particles,
                                  tw_error *error)
{
    if (body->mesh.tetrahedron_count)
        return tw_vertices_near_triangles(&body->mesh, &body->surface, chosen, particles, error);
    choose_corners(body, chosen, particles);
    return TW_OK;
}

/* ---- errors ---- */

/* Lists the names of groups and objects, as they stand in the file. */
static void list_names(const tw_body *body, char *text, int64_t size)
{
    const tw_mesh_faces *faces = &body->surface.faces;
    int64_t used = 0;
    text[0] = '\0';
    for (int64_t i = 0; i < faces->statement_count; i++) {
        statement s = statement_at(faces, i);
        int64_t length = s.length - 2;
        if (!naming_keyword(&s) || length <= 0 || used + length + 3 > size) continue;

        if (used > 0) {
            memcpy(text + used, ", ", 2);
            used += 2;
        }
        memcpy(text + used, s.text + 2, (size_t)length);
        used += length;
        text[used] = '\0';
    }
}

static tw_status refuse(const tw_entry *entry, const tw_body *body, tw_error *error)
{
    enum { LIST_SIZE = 200 };
    const tw_node *group = tw_node_find(entry->node, "group");
    char list[LIST_SIZE];
    list_names(body, list, LIST_SIZE);

    if (list[0] == '\0')
        return tw_fail_at(
            error, group->mark,
            "%s.group is '%.60s', but %s has no groups: they come from lines 'g NAME' "
            "or 'o NAME' of an OBJ file",
            entry->path, group->text, body->path);
    return tw_fail_at(error, group->mark,
                      "%s.group is '%.60s', which %s does not have; its file has: %s", entry->path,
                      group->text, body->path, list);
}

/* ---- the selection ---- */

/* Visits the particles that are marked, neighbouring ones as one range. */
static tw_status visit_chosen(const tw_body *body, const char *chosen, tw_range_visit *visit,
                              void *context, tw_error *error)
{
    for (int64_t i = 0; i < body->count; i++) {
        if (!chosen[i]) continue;

        int64_t begin = i;
        while (i + 1 < body->count && chosen[i + 1]) i++;
        TW_TRY(visit(context, body->first + begin, body->first + i, error));
    }
    return TW_OK;
}

tw_status tw_select_group(const tw_entry *entry, const tw_body *body, tw_range_visit *visit,
                          void *context, tw_error *error)
{
    const char *name = tw_node_text(entry->node, "group");
    char *triangles = tw_allocate_zeroed((size_t)body->surface.triangle_count, 1);
    char *particles = tw_allocate_zeroed((size_t)body->count, 1);
    tw_status status = TW_OUT_OF_MEMORY;
    if (triangles && particles) {
        int64_t found = choose_triangles(&body->surface, name, triangles);
        status = found > 0 ? choose_particles(body, triangles, particles, error)
                           : refuse(entry, body, error);
        if (status == TW_OK) status = visit_chosen(body, particles, visit, context, error);
    } else {
        tw_fail_plain(error, status);
    }

    tw_release(triangles);
    tw_release(particles);
    return status;
}
