/* What a user should know about a surface that was filled, in words. */
#include <stdbool.h>
#include <string.h>
#include <twang/mesh.h>

#include "base/number.h"

/* A sharp corner is lost within so many cells, and is not told. */
static const double most_gap_in_cells = 2.0;

/* A body that takes more than so many times the vertices asked for is told to be thin. */
static const double most_growth = 2.0;

/* The end of the text, with "; " before it if something stands there already. */
static char *next_place(char *text, size_t size, size_t *room)
{
    size_t used = strlen(text);
    if (used > 0) tw_print(text + used, size - used, "; ");
    used = strlen(text);
    *room = size - used;
    return text + used;
}

static void add_open_edges(const tw_fill_report *r, char *text, size_t size)
{
    size_t room = 0;
    char *place = next_place(text, size, &room);
    tw_print(place, room,
             "the surface is open (%lld edges), and is filled as if it were closed; in a scene "
             "kind: sheet takes it as it is",
             (long long)r->input_open_edges);
}

static void add_lost_parts(const tw_fill_report *r, char *text, size_t size)
{
    size_t room = 0;
    char *place = next_place(text, size, &room);
    bool is_one = r->lost_components == 1;
    tw_print(place, room,
             "%lld separate piece%s, %s%.3g m long, %s too small or thin for %lld vertices and "
             "left out: "
             "give more vertices, or a body of its own",
             (long long)r->lost_components, is_one ? "" : "s", is_one ? "" : "the largest ",
             r->lost_size, is_one ? "is" : "are", (long long)r->wanted_vertices);
}

static void add_crumbs(const tw_fill_report *r, char *text, size_t size)
{
    size_t room = 0;
    char *place = next_place(text, size, &room);
    tw_print(place, room,
             "%lld smaller pieces (%lld tetrahedra) are left out, which are too thin for %lld "
             "vertices",
             (long long)r->dropped_components, (long long)r->dropped_tetrahedra,
             (long long)r->wanted_vertices);
}

static void add_gap(const tw_fill_report *r, char *text, size_t size)
{
    size_t room = 0;
    char *place = next_place(text, size, &room);
    tw_print(place, room,
             "a part that reaches %.3g m outside of the tetrahedra is too thin for %lld vertices",
             r->largest_gap, (long long)r->wanted_vertices);
}

static void add_thinness(const tw_fill_report *r, char *text, size_t size)
{
    size_t room = 0;
    char *place = next_place(text, size, &room);
    tw_print(place, room,
             "it is so thin that it takes %lld vertices instead of %lld; in a scene kind: sheet "
             "takes its surface alone",
             (long long)r->made_vertices, (long long)r->wanted_vertices);
}

const char *tw_fill_report_text(const tw_fill_report *report, char *text, size_t size)
{
    if (!text || size == 0) return text;
    text[0] = '\0';
    if (!report) return text;

    if (report->input_open_edges > 0) add_open_edges(report, text, size);
    if ((double)report->made_vertices > most_growth * (double)report->wanted_vertices)
        add_thinness(report, text, size);
    if (report->lost_components > 0) add_lost_parts(report, text, size);
    if (report->dropped_components > 0) add_crumbs(report, text, size);

    /* A gap beside whole pieces that are left out would say the same again. */
    bool has_lost = report->lost_components + report->dropped_components > 0;
    if (!has_lost && report->largest_gap > most_gap_in_cells * report->cell)
        add_gap(report, text, size);
    return text;
}
