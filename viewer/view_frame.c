/* Frames: the reel between the threads, and the bytes for the page. */
#include "view_frame.h"

#include <stdlib.h>
#include <string.h>

#define VIEW_TELEMETRY_NAME(name, text) [name] = (text),
const char *const view_telemetry_names[VIEW_TELEMETRY_COUNT] = {
    VIEW_TELEMETRY_LIST(VIEW_TELEMETRY_NAME)};

static size_t floats_of(const view_shape *shape)
{
    return (size_t)shape->lanes * (size_t)shape->particles * (3 + (size_t)shape->fields);
}

/* A reel holds about a second, and less of large frames: it takes at most so many bytes, unless
 * that is too little for a few frames. */
static uint64_t frames_in_memory(const view_shape *shape)
{
    const size_t most_bytes = (size_t)64 << 20;
    size_t bytes = floats_of(shape) * sizeof(float) + 1;
    size_t frames = most_bytes / bytes;
    if (frames > 64) return 64;
    return frames < 8 ? 8 : frames;
}

view_reel *view_reel_create(const view_shape *shape)
{
    view_reel *reel = calloc(1, sizeof *reel);
    if (!reel) return NULL;
    reel->shape = *shape;
    reel->capacity = frames_in_memory(shape);
    reel->slots = calloc(reel->capacity, sizeof *reel->slots);
    reel->memory = calloc(reel->capacity * floats_of(shape) + 1, sizeof(float));
    if (!reel->slots || !reel->memory) {
        view_reel_free(reel);
        return NULL;
    }

    size_t positions = 3 * (size_t)shape->lanes * (size_t)shape->particles;
    for (uint64_t i = 0; i < reel->capacity; i++) {
        reel->slots[i].positions = reel->memory + i * floats_of(shape);
        reel->slots[i].fields = reel->slots[i].positions + positions;
    }
    return reel;
}

void view_reel_free(view_reel *reel)
{
    if (!reel) return;
    free(reel->slots);
    free(reel->memory);
    free(reel);
}

uint64_t view_reel_waiting(const view_reel *reel)
{
    return atomic_load(&reel->put) - atomic_load(&reel->taken);
}

view_frame *view_reel_slot(view_reel *reel)
{
    /* The frame that was taken last is still being read. */
    if (view_reel_waiting(reel) + 1 >= reel->capacity) return NULL;
    return &reel->slots[atomic_load(&reel->put) % reel->capacity];
}

void view_reel_put(view_reel *reel)
{
    atomic_fetch_add(&reel->put, 1);
}

const view_frame *view_reel_next(const view_reel *reel)
{
    if (view_reel_waiting(reel) == 0) return NULL;
    return &reel->slots[atomic_load(&reel->taken) % reel->capacity];
}

const view_frame *view_reel_take(view_reel *reel)
{
    const view_frame *frame = view_reel_next(reel);
    if (frame) atomic_fetch_add(&reel->taken, 1);
    return frame;
}

const view_frame *view_reel_newest(const view_reel *reel)
{
    if (view_reel_waiting(reel) == 0) return NULL;
    return &reel->slots[(atomic_load(&reel->put) - 1) % reel->capacity];
}

/* ---- messages ---- */

size_t view_frame_message_size(const view_frame *frame, const view_shape *shape, bool with_field)
{
    size_t places = 0;
    for (int lane = 0; lane < shape->lanes; lane++)
        places += sizeof(uint32_t) + 3 * frame->contacts[lane] * sizeof(float);

    size_t points = (size_t)shape->lanes * (size_t)shape->particles;
    size_t numbers = (size_t)shape->lanes * VIEW_TELEMETRY_COUNT * sizeof(double);
    return VIEW_HEADER_SIZE + numbers + points * (with_field ? 4 : 3) * sizeof(float) + places;
}

static unsigned char *add(unsigned char *out, const void *bytes, size_t size)
{
    memcpy(out, bytes, size);
    return out + size;
}

void view_frame_write(const view_frame *frame, const view_shape *shape, int field,
                      uint32_t sequence, unsigned char *out)
{
    size_t points = (size_t)shape->lanes * (size_t)shape->particles;
    uint32_t flags = (field >= 0 ? 1u : 0u) | (frame->past ? 2u : 0u);

    /* All machines that we know of are little-endian. */
    const uint32_t head[10] = {0x474e5754u /* "TWNG" */, 1 /* version */,
                               1 /* a frame */,          sequence,
                               (uint32_t)shape->lanes,   (uint32_t)shape->particles,
                               VIEW_TELEMETRY_COUNT,     flags,
                               (uint32_t)(field + 1),    frame->epoch};
    const double times[4] = {frame->t, frame->rate, frame->history_from, frame->history_to};
    out = add(out, head, sizeof head);
    out = add(out, times, sizeof times);

    for (int lane = 0; lane < shape->lanes; lane++)
        out = add(out, frame->telemetry[lane], sizeof frame->telemetry[lane]);
    out = add(out, frame->positions, 3 * points * sizeof(float));
    if (field >= 0) out = add(out, frame->fields + (size_t)field * points, points * sizeof(float));
    for (int lane = 0; lane < shape->lanes; lane++) {
        out = add(out, &frame->contacts[lane], sizeof frame->contacts[lane]);
        out = add(out, frame->places[lane], 3 * frame->contacts[lane] * sizeof(float));
    }
}
