/* Frames on their way from the simulation to the page.
 *
 * The worker thread makes frames and puts them on a reel; the network thread takes them off. Each
 * thread writes one of two counters, so that neither waits for the other. */
#ifndef VIEWER_VIEW_FRAME_H
#define VIEWER_VIEW_FRAME_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    VIEW_LANES = 2,   /* simulations side by side, at most */
    VIEW_FIELDS = 12, /* scalar fields, at most */
    VIEW_PLACES = 512 /* places of contacts that a frame shows of a lane, at most */
};

/* The numbers that the page shows of a simulation at one time: enumerator and name. */
#define VIEW_TELEMETRY_LIST(X)                                                                     \
    X(VIEW_KINETIC, "kinetic")                                                                     \
    X(VIEW_POTENTIAL, "potential")                                                                 \
    X(VIEW_TOTAL, "total")                                                                         \
    X(VIEW_DAMPING_WORK, "damping_work")                                                           \
    X(VIEW_OUTSIDE_WORK, "outside_work")                                                           \
    X(VIEW_CONTACT_WORK, "contact_work")                                                           \
    X(VIEW_PLASTIC_WORK, "plastic_work")                                                           \
    X(VIEW_ENERGY_ERROR, "energy_error")                                                           \
    X(VIEW_MOMENTUM, "momentum")                                                                   \
    X(VIEW_ANGULAR_MOMENTUM, "angular_momentum")                                                   \
    X(VIEW_STEP, "step")                                                                           \
    X(VIEW_ERROR_ESTIMATE, "error_estimate")                                                       \
    X(VIEW_KRYLOV_DIMENSION, "krylov_dimension")                                                   \
    X(VIEW_NEWTON_ITERATIONS, "newton_iterations")                                                 \
    X(VIEW_CONTACTS, "contacts")                                                                   \
    X(VIEW_COST, "cost")                                                                           \
    X(VIEW_STEPS, "steps")                                                                         \
    X(VIEW_REJECTED, "rejected")

#define VIEW_TELEMETRY_ENUMERATOR(name, text) name,
typedef enum view_telemetry {
    VIEW_TELEMETRY_LIST(VIEW_TELEMETRY_ENUMERATOR) VIEW_TELEMETRY_COUNT
} view_telemetry;
#undef VIEW_TELEMETRY_ENUMERATOR
extern const char *const view_telemetry_names[VIEW_TELEMETRY_COUNT];

/* The sizes of all frames of a reel. */
typedef struct view_shape {
    int lanes;
    int fields; /* scalar fields per particle */
    int64_t particles;
} view_shape;

typedef struct view_frame {
    double t;            /* simulated time [s] */
    double rate;         /* simulated seconds per second that the worker reaches */
    double history_from; /* the past that can be shown again [s] */
    double history_to;
    uint32_t epoch; /* another one: time has jumped, the frame is shown at once */
    bool past;      /* it is shown again */
    double telemetry[VIEW_LANES][VIEW_TELEMETRY_COUNT];
    float *positions;              /* x, y, z of every particle of every lane */
    float *fields;                 /* field after field; in each lane after lane */
    uint32_t contacts[VIEW_LANES]; /* how many places are shown */
    float places[VIEW_LANES][3 * VIEW_PLACES];
} view_frame;

typedef struct view_reel {
    view_shape shape;
    uint64_t capacity;
    view_frame *slots;
    float *memory;
    atomic_ullong put;   /* frames put on so far; the worker counts */
    atomic_ullong taken; /* frames taken off so far; the network counts */
} view_reel;

/* NULL when memory is out. */
view_reel *view_reel_create(const view_shape *shape);
void view_reel_free(view_reel *reel); /* accepts NULL */
/* Worker: the slot for the next frame, NULL if the reel is full; then puts it on. */
view_frame *view_reel_slot(view_reel *reel);
void view_reel_put(view_reel *reel);
/* Either: how many frames wait. */
uint64_t view_reel_waiting(const view_reel *reel);
/* Network: the next frame, or NULL; takes it off. It stays valid until the next one is taken. */
const view_frame *view_reel_next(const view_reel *reel);
const view_frame *view_reel_take(view_reel *reel);
/* Network: the frame that was put on last and waits, or NULL. */
const view_frame *view_reel_newest(const view_reel *reel);

/* ---- messages to the page: docs/viewer.md describes the bytes ---- */

enum { VIEW_HEADER_SIZE = 72 };
size_t view_frame_message_size(const view_frame *frame, const view_shape *shape, bool with_field);
/* Writes the message; `field` -1: none. */
void view_frame_write(const view_frame *frame, const view_shape *shape, int field,
                      uint32_t sequence, unsigned char *out);

#endif
