/* Commands of a page: JSON objects such as {"do": "pause", "on": true}, checked strictly. */
#ifndef VIEWER_VIEW_COMMAND_H
#define VIEWER_VIEW_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    VIEW_COMMAND_SIZE = 4096,    /* a longer one is refused [bytes] */
    VIEW_NAME_SIZE = 128,        /* of integrators, fields, files, with the terminating zero */
    VIEW_UPLOAD_SIZE = 32 << 20, /* of a scene or a mesh, at most [bytes] */
    VIEW_LARGEST_PARTICLE = 1000000000
};

typedef enum view_command_kind {
    VIEW_DO_PAUSE,
    VIEW_DO_STEP,
    VIEW_DO_RESET,
    VIEW_DO_SPEED,
    VIEW_DO_PULL,
    VIEW_DO_RELEASE,
    VIEW_DO_STIFFNESS,
    VIEW_DO_DAMPING,
    VIEW_DO_STEP_SIZE,
    VIEW_DO_TOLERANCE,
    VIEW_DO_INTEGRATOR,
    VIEW_DO_COMPARE,
    VIEW_DO_SEEK,
    VIEW_DO_START_HERE,
    VIEW_DO_FIELD,
    VIEW_DO_UPLOAD
} view_command_kind;

typedef struct view_command {
    view_command_kind kind;
    bool on;
    double value;
    double point[3]; /* of a pull [m] */
    int64_t whole;   /* a particle, a lane, a size */
    char name[VIEW_NAME_SIZE];
    char *content; /* of an upload, `whole` bytes; who takes the command frees it */
} view_command;

/* False if the text is no command. */
bool view_command_parse(const char *text, size_t size, view_command *out);

#endif
