/* The directory of a run whose checkpoint was edited, with a checksum that fits: refused with one line, or it goes on. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <twang/twang.h>
#include <unistd.h>

#include "fuzz_edits.h"
#include "io/checkpoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CHECKSUM_AT = 64 }; /* in the header */

static const char scene_text[] =
    "name: fuzz\nduration: 0.2\nfps: 30\ngravity: [0, 0, -9.81]\n"
    "integrator: {name: bdf2, step: 0.01, reuse_factor: 0.5}\n"
    "output: {frames: [csv, vtu, pc2], checkpoint_every: 0}\n"
    "bodies: [{kind: rope, count: 3, stiffness: 1e3}]\npins: [{from: 0}]\n";

static int steps_left;

static bool stop(void *context)
{
    (void)context;
    return --steps_left <= 0;
}

/* In memory, where a flush costs nothing. */
static char folder[] = "/dev/shm/twang-fuzz-XXXXXX";
static char directory[64];
static char checkpoint_path[96];
static char checkpoint[65536];
static size_t checkpoint_size;

static void remove_directory(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    if (system(command) != 0) perror(folder); /* NOLINT: the name is our own */
}

/* A run that was stopped after five steps. */
static void prepare(void)
{
    insist(mkdtemp(folder) != NULL);
    atexit(remove_directory);
    snprintf(directory, sizeof directory, "%s/run", folder);
    snprintf(checkpoint_path, sizeof checkpoint_path, "%s/checkpoint.bin", directory);

    tw_scene *scene = NULL;
    insist(tw_scene_parse("fuzz", scene_text, sizeof scene_text - 1, 0, NULL, &scene, NULL) ==
           TW_OK);
    tw_run_options options = tw_run_options_default();
    options.directory = directory;
    options.stop = stop;
    steps_left = 5;
    insist(tw_run_scene(scene, &options, NULL, NULL) == TW_INTERRUPTED);
    tw_scene_free(scene);

    FILE *file = fopen(checkpoint_path, "rb");
    insist(file != NULL);
    checkpoint_size = fread(checkpoint, 1, sizeof checkpoint, file);
    fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (checkpoint_size == 0) prepare();

    /* The edited checkpoint; the checksum is made with 0 in its own place. */
    static char edited[sizeof checkpoint];
    memcpy(edited, checkpoint, checkpoint_size);
    apply_edits(data, size, edited, checkpoint_size);
    memset(edited + CHECKSUM_AT, 0, sizeof(uint64_t));
    uint64_t checksum = tw_hash(edited, checkpoint_size);
    memcpy(edited + CHECKSUM_AT, &checksum, sizeof checksum);
    FILE *file = fopen(checkpoint_path, "wb");
    insist(file != NULL && fwrite(edited, 1, checkpoint_size, file) == checkpoint_size);
    fclose(file);

    tw_run_options options = tw_run_options_default();
    options.stop = stop;
    steps_left = 3;
    tw_error error = {0};
    tw_status status = tw_run_resume(directory, &options, NULL, &error);
    insist(status != TW_INTERNAL && !strchr(error.text, '\n'));
    return 0;
}
