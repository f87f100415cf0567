/* telemetry.csv of a finished run, as the numbers of the page. */
#define _POSIX_C_SOURCE 200809L
#include "view_series.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

FILE *view_open_file(const char *path)
{
    struct stat about = {0};
    int descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool is_file = descriptor >= 0 && fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
    FILE *file = is_file ? fdopen(descriptor, "rb") : NULL;
    if (!file && descriptor >= 0) close(descriptor);
    return file;
}

char *view_read_file(const char *directory, const char *name)
{
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/%s", directory, name);
    if (length < 0 || (size_t)length >= sizeof path) return NULL;
    FILE *file = view_open_file(path);
    if (!file) return NULL;

    char *text = NULL;
    bool good = fseek(file, 0, SEEK_END) == 0;
    long size = good ? ftell(file) : -1;
    good = size >= 0 && fseek(file, 0, SEEK_SET) == 0;
    if (good) text = malloc((size_t)size + 1);
    if (text) text[fread(text, 1, (size_t)size, file)] = '\0';
    fclose(file);
    return text;
}

/* The columns of the file, and where their numbers go. */
typedef struct column {
    const char *name;
    int number;    /* of the page; -1: the time */
    bool is_added; /* squares of three columns, or sums of two, make one number */
} column;

enum { TIME = -1, MAX_COLUMNS = 64 };

static const column known[] = {
    {"t", TIME, false},
    {"step", VIEW_STEPS, false},
    {"step_size", VIEW_STEP, false},
    {"kinetic", VIEW_KINETIC, false},
    {"potential", VIEW_POTENTIAL, false},
    {"total", VIEW_TOTAL, false},
    {"damping_work", VIEW_DAMPING_WORK, false},
    {"outside_work", VIEW_OUTSIDE_WORK, false},
    {"contact_work", VIEW_CONTACT_WORK, true},
    {"friction_work", VIEW_CONTACT_WORK, true},
    {"plastic_work", VIEW_PLASTIC_WORK, false},
    {"momentum_x", VIEW_MOMENTUM, true},
    {"momentum_y", VIEW_MOMENTUM, true},
    {"momentum_z", VIEW_MOMENTUM, true},
    {"angular_momentum_x", VIEW_ANGULAR_MOMENTUM, true},
    {"angular_momentum_y", VIEW_ANGULAR_MOMENTUM, true},
    {"angular_momentum_z", VIEW_ANGULAR_MOMENTUM, true},
    {"error_estimate", VIEW_ERROR_ESTIMATE, false},
    {"krylov_dimension", VIEW_KRYLOV_DIMENSION, false},
    {"newton_iterations", VIEW_NEWTON_ITERATIONS, false},
    {"contacts", VIEW_CONTACTS, false},
};

/* Finds the columns of the header line; returns how many there are. */
static int read_header(const char *line, const column *columns[MAX_COLUMNS])
{
    int count = 0;
    while (*line && *line != '\n' && count < MAX_COLUMNS) {
        size_t length = strcspn(line, ",\n");
        columns[count] = NULL;
        for (size_t k = 0; k < sizeof known / sizeof *known; k++)
            if (strlen(known[k].name) == length && strncmp(known[k].name, line, length) == 0)
                columns[count] = &known[k];
        count++;
        line += length;
        if (*line == ',') line++;
    }
    return count;
}

static void take_number(const column *c, double value, view_series_row *row)
{
    if (c->number == TIME) {
        row->t = value;
        return;
    }
    bool is_vector = c->number == VIEW_MOMENTUM || c->number == VIEW_ANGULAR_MOMENTUM;
    double *number = &row->numbers[c->number];
    if (is_vector)
        *number = hypot(*number, value);
    else if (c->is_added)
        *number += value;
    else
        *number = value;
}

/* Reads a line of `count` finite numbers; false if it is no such line. */
static bool read_row(const char *line, int count, const column *const *columns,
                     view_series_row *row)
{
    *row = (view_series_row){0};
    for (int i = 0; i < count; i++) {
        char *end = NULL;
        double value = strtod(line, &end);
        bool ends_well = *end == (i + 1 < count ? ',' : '\n');
        if (end == line || !ends_well || !isfinite(value)) return false;
        if (columns[i]) take_number(columns[i], value, row);
        line = end + 1;
    }
    return true;
}

/* A row for the start, as a live page has it: energies and momenta count from there. */
static bool measure_start(tw_simulation *simulation, view_series_row *row)
{
    tw_measurement m;
    const double *start = tw_simulation_start(simulation);
    if (tw_simulation_measure(simulation, 0.0, start, &m) != TW_OK) return false;

    *row = (view_series_row){0};
    row->numbers[VIEW_KINETIC] = m.kinetic;
    row->numbers[VIEW_POTENTIAL] = m.potential;
    row->numbers[VIEW_TOTAL] = m.kinetic + m.potential;
    for (int k = 0; k < 3; k++) {
        double *momentum = &row->numbers[VIEW_MOMENTUM];
        double *angular = &row->numbers[VIEW_ANGULAR_MOMENTUM];
        *momentum = hypot(*momentum, m.momentum[k]);
        *angular = hypot(*angular, m.angular_momentum[k]);
    }
    row->numbers[VIEW_CONTACTS] = (double)m.contacts;
    return true;
}

/* The energy error: what the balance lacks since the first row of the file, at place `first`. */
static void fill_error(view_series *series, size_t first)
{
    double start = 0.0;
    for (size_t i = first; i < series->count; i++) {
        double *n = series->rows[i].numbers;
        double taken = n[VIEW_DAMPING_WORK] + n[VIEW_CONTACT_WORK] + n[VIEW_PLASTIC_WORK];
        double accounted = n[VIEW_TOTAL] + taken - n[VIEW_OUTSIDE_WORK];
        if (i == first) start = accounted;
        n[VIEW_ENERGY_ERROR] = accounted - start;
    }
}

static size_t count_lines(const char *text)
{
    size_t lines = 0;
    for (const char *c = text; *c; c++) lines += *c == '\n';
    return lines;
}

static tw_status damaged(const char *directory, size_t line, tw_error *error)
{
    snprintf(error->text, sizeof error->text,
             "%s/telemetry.csv:%zu: is damaged, expected the numbers that twang run writes; "
             "without this file there are no charts",
             directory, line);
    return TW_BAD_INPUT;
}

/* Fills the rows from the lines of the file. */
static tw_status read_rows(view_series *series, const char *directory, const char *text,
                           tw_error *error)
{
    const column *columns[MAX_COLUMNS];
    int count = read_header(text, columns);
    if (count == 0 || !columns[0] || columns[0]->number != TIME)
        return damaged(directory, 1, error);

    /* A line without its end was not written whole. */
    size_t number = 1;
    const char *line = strchr(text, '\n');
    for (; line && strchr(line + 1, '\n'); line = strchr(line + 1, '\n')) {
        number++;
        if (!read_row(line + 1, count, columns, &series->rows[series->count]))
            return damaged(directory, number, error);
        series->count++;
    }
    return TW_OK;
}

tw_status view_series_read(view_series *series, const char *directory, tw_simulation *simulation,
                           tw_error *error)
{
    *series = (view_series){0};
    char *text = view_read_file(directory, "telemetry.csv");
    if (!text) return TW_OK;

    series->rows = calloc(count_lines(text) + 2, sizeof *series->rows);
    tw_status status = series->rows ? TW_OK : TW_OUT_OF_MEMORY;
    if (status == TW_OK && measure_start(simulation, &series->rows[0])) series->count = 1;
    size_t first = series->count;
    if (status == TW_OK) status = read_rows(series, directory, text, error);
    free(text);

    /* The start alone is no telemetry. */
    if (series->count == first) series->count = 0;
    fill_error(series, first);
    return status;
}

void view_series_free(view_series *series)
{
    free(series->rows);
    *series = (view_series){0};
}

const view_series_row *view_series_at(const view_series *series, double t)
{
    if (series->count == 0) return NULL;
    size_t low = 0;
    size_t high = series->count - 1;
    while (low < high) {
        size_t middle = (low + high + 1) / 2;
        if (series->rows[middle].t <= t)
            low = middle;
        else
            high = middle - 1;
    }
    return &series->rows[low];
}

/* Rows in charts: more than the pixels of a chart. */
enum { MOST_ROWS = 1200 };

/* The row that stands at place `i` of `count` in the charts. */
static const view_series_row *row_of_chart(const view_series *series, size_t i, size_t count)
{
    size_t last = count > 1 ? count - 1 : 1;
    return &series->rows[i * (series->count - 1) / last];
}

void view_series_write(const view_series *series, view_text *out)
{
    size_t count = series->count < MOST_ROWS ? series->count : MOST_ROWS;

    /* The times. */
    view_text_add(out, ",\"series\":{\"t\":[");
    for (size_t i = 0; i < count; i++) {
        if (i > 0) view_text_add(out, ",");
        view_text_number(out, row_of_chart(series, i, count)->t);
    }

    /* The numbers, one list for each. */
    view_text_add(out, "],\"rows\":[");
    for (int k = 0; k < VIEW_TELEMETRY_COUNT; k++) {
        view_text_add(out, "%s[", k ? "," : "");
        for (size_t i = 0; i < count; i++) {
            if (i > 0) view_text_add(out, ",");
            view_text_number(out, row_of_chart(series, i, count)->numbers[k]);
        }
        view_text_add(out, "]");
    }
    view_text_add(out, "]}");
}
