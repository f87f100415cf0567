#define _POSIX_C_SOURCE 200809L
#include "run/frame_writer.h"

#include <pthread.h>
#include <twang/parallel.h>

#include "base/allocate.h"
#include "base/fail.h"

/* Room for frames that wait or are in work: a long step passes many frames at once, and they are to
 * be written while the next step is computed. Large frames have less room, but two at least. */
enum { MOST_SLOTS = 64, FEWEST_SLOTS = 2 };
static const int64_t ROOM = 64000000; /* bytes */

typedef struct slot {
    int64_t index;
    double t;
    double *rows;
} slot;

struct tw_frame_writer {
    tw_frames *frames;
    tw_table table; /* of a frame, without values */
    double *storage;
    int slots;
    slot ring[MOST_SLOTS];

    bool has_thread;
    pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t changed;
    int64_t posted;  /* frames handed over so far: the next one goes to slot posted % slots */
    int64_t written; /* frames done with */
    bool ends;
    tw_status status; /* of the first frame that failed */
    tw_error failure;
};

/* ---- the thread ---- */

static tw_status write_slot(tw_frame_writer *writer, const slot *job, tw_error *error)
{
    tw_table table = writer->table;
    table.values = job->rows;
    tw_frame frame = {.index = job->index, .t = job->t, .table = &table};
    return tw_frames_write(writer->frames, &frame, error);
}

/* Writes frames until the end, the last one included. The lock is open while a frame is written. */
static void *work(void *context)
{
    tw_frame_writer *writer = context;
    tw_set_threads(1); /* the other threads belong to the simulation */

    pthread_mutex_lock(&writer->lock);
    for (;;) {
        while (!writer->ends && writer->written == writer->posted)
            pthread_cond_wait(&writer->changed, &writer->lock);
        if (writer->written == writer->posted) break;

        slot job = writer->ring[writer->written % writer->slots];
        bool failed_before = writer->status != TW_OK;
        pthread_mutex_unlock(&writer->lock);

        /* After a failure frames are passed over. */
        tw_error failure = {0};
        tw_status status = failed_before ? TW_OK : write_slot(writer, &job, &failure);

        pthread_mutex_lock(&writer->lock);
        if (status != TW_OK) {
            writer->status = status;
            writer->failure = failure;
        }
        writer->written++;
        pthread_cond_broadcast(&writer->changed);
    }
    pthread_mutex_unlock(&writer->lock);
    return NULL;
}

/* ---- life ---- */

/* Where frames are written by the caller, one is enough. */
static int choose_slots(int64_t entries, bool beside)
{
    if (!beside) return 1;
    int64_t slots = ROOM / ((entries + 1) * (int64_t)sizeof(double));
    if (slots < FEWEST_SLOTS) return FEWEST_SLOTS;
    return slots < MOST_SLOTS ? (int)slots : MOST_SLOTS;
}

static tw_status reserve(tw_frame_writer *writer, bool beside)
{
    int64_t entries = writer->table.row_count * (int64_t)writer->table.column_count;
    writer->slots = choose_slots(entries, beside);
    writer->storage = TW_NEW_ARRAY(writer->slots * entries, double);
    if (!writer->storage) return TW_OUT_OF_MEMORY;
    for (int i = 0; i < writer->slots; i++) writer->ring[i].rows = writer->storage + i * entries;
    return TW_OK;
}

tw_status tw_frame_writer_create(tw_frames *frames, const tw_table *table, bool beside,
                                 tw_frame_writer **out, tw_error *error)
{
    *out = NULL;
    tw_frame_writer *writer = TW_NEW(tw_frame_writer);
    if (!writer) return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    writer->frames = frames;
    writer->table = *table;

    if (reserve(writer, beside) != TW_OK) {
        tw_release(writer);
        return tw_fail_plain(error, TW_OUT_OF_MEMORY);
    }

    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->changed, NULL);
    writer->has_thread = beside && pthread_create(&writer->thread, NULL, work, writer) == 0;
    *out = writer;
    return TW_OK;
}

void tw_frame_writer_free(tw_frame_writer *writer)
{
    if (!writer) return;
    if (writer->has_thread) {
        pthread_mutex_lock(&writer->lock);
        writer->ends = true;
        pthread_cond_broadcast(&writer->changed);
        pthread_mutex_unlock(&writer->lock);
        pthread_join(writer->thread, NULL);
    }

    pthread_cond_destroy(&writer->changed);
    pthread_mutex_destroy(&writer->lock);
    tw_release(writer->storage);
    tw_release(writer);
}

/* ---- handing over ---- */

/* Waits until at most `most` frames are not written yet. */
static void wait_for_room(tw_frame_writer *writer, int64_t most)
{
    while (writer->posted - writer->written > most)
        pthread_cond_wait(&writer->changed, &writer->lock);
}

/* The first failure, if there was one. */
static tw_status tell_failure(const tw_frame_writer *writer, tw_error *error)
{
    if (writer->status != TW_OK && error) *error = writer->failure;
    return writer->status;
}

double *tw_frame_writer_rows(tw_frame_writer *writer)
{
    if (!writer->has_thread) return writer->ring[0].rows;
    pthread_mutex_lock(&writer->lock);
    wait_for_room(writer, writer->slots - 1);
    double *rows = writer->ring[writer->posted % writer->slots].rows;
    pthread_mutex_unlock(&writer->lock);
    return rows;
}

tw_status tw_frame_writer_post(tw_frame_writer *writer, int64_t index, double t, tw_error *error)
{
    if (!writer->has_thread) {
        slot job = {.index = index, .t = t, .rows = writer->ring[0].rows};
        return write_slot(writer, &job, error);
    }

    pthread_mutex_lock(&writer->lock);
    slot *next = &writer->ring[writer->posted % writer->slots];
    next->index = index;
    next->t = t;
    writer->posted++;
    pthread_cond_broadcast(&writer->changed);
    tw_status status = tell_failure(writer, error);
    pthread_mutex_unlock(&writer->lock);
    return status;
}

tw_status tw_frame_writer_drain(tw_frame_writer *writer, tw_error *error)
{
    if (!writer->has_thread) return TW_OK;
    pthread_mutex_lock(&writer->lock);
    wait_for_room(writer, 0);
    tw_status status = tell_failure(writer, error);
    pthread_mutex_unlock(&writer->lock);
    return status;
}
