/* What a user should know about a surface that was filled, in words. */
#include <stdarg.h>
#include <stdbool.h>
#include <string.h>
#include <twang/mesh.h>

#include "base/number.h"

/* A sharp corner is lost within so many cells, and is not told. */
static const double most_gap_in_cells = 2.0;

/* A body that takes more than so many times the vertices asked for is told to be thin. */
static const double most_growth = 2.0;

/* Adds a sentence, with "; " before it if something stands there already. */
__attribute__((format(printf, 3, 4))) static void add(char *text, size_t size, const char *format,
                                                      ...)
{
    size_t used = strlen(text);
    if (used > 0) tw_print(text + used, size - used, "; ");
    used = strlen(text);

    va_list values;
    va_start(values, format);
    tw_format(text + used, size - used, format, values);
    va_end(values);
}

static void add_lost_parts(const tw_fill_report *r, char *text, size_t size)
{
    bool is_one = r->lost_components == 1;
    add(text, size,
        "%lld separate piece%s, %s%.3g m long, %s too small or thin for %lld vertices and left "
        "out: give more vertices, or a body of its own",
        (long long)r->lost_components, is_one ? "" : "s", is_one ? "" : "the largest ",
        r->lost_size, is_one ? "is" : "are", (long long)r->wanted_vertices);
}

const char *tw_fill_report_text(const tw_fill_report *report, char *text, size_t size)
{
    if (!text || size == 0) return text;
    text[0] = '\0';
    if (!report) return text;
    long long wanted = report->wanted_vertices;

    if (report->input_open_edges > 0)
        add(text, size,
            "the surface is open (%lld edges), and is filled as if it were closed; in a scene "
            "kind: sheet takes it as it is",
            (long long)report->input_open_edges);
    if ((double)report->made_vertices > most_growth * (double)wanted)
        add(text, size,
            "it is so thin that it takes %lld vertices instead of %lld; in a scene kind: sheet "
            "takes its surface alone",
            (long long)report->made_vertices, wanted);

    if (report->lost_components > 0) add_lost_parts(report, text, size);
    if (report->dropped_components > 0)
        add(text, size,
            "%lld smaller pieces (%lld tetrahedra) are left out, which are too thin for %lld "
            "vertices",
            (long long)report->dropped_components, (long long)report->dropped_tetrahedra, wanted);

    /* A gap beside whole pieces that are left out would say the same again. */
    bool has_lost = report->lost_components + report->dropped_components > 0;
    if (!has_lost && report->largest_gap > most_gap_in_cells * report->cell)
        add(text, size,
            "a part that reaches %.3g m outside of the tetrahedra is too thin for %lld vertices",
            report->largest_gap, wanted);
    return text;
}
