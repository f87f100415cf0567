/* Simulates scenes that come on stdin, and answers one line each: what tests/robustness/fuzz_scenes talks to.
 *
 * A request is "SIZE STEPS REFUSED\n" and SIZE bytes of YAML. With REFUSED > 0 the scene is simulated again that many
 * times, each time with another allocation refused, spread over all that it makes: each must end with out of memory, or
 * go on. An answer is "STEPS|WHERE|STATUS|ALLOCATIONS|TEXT"; WHERE begins with "!" if a promise was broken. */
#include "../../fuzz/simulate_scene.h"

enum { MOST_BYTES = 500000000 };

/* Simulates with allocation `nth` refused. */
static outcome with_refusal(const char *text, size_t size, int steps, long long nth)
{
    budget memory = {.bytes_left = MOST_BYTES, .refuse = nth};
    outcome o = simulate_text(text, size, steps, &memory);
    if (o.where[0] != '!' && o.status != TW_OK && o.status != TW_OUT_OF_MEMORY)
        o.where = "!a refused allocation gave another status";
    return o;
}

static outcome simulate(const char *text, size_t size, int steps, int refused,
                        long long *allocations)
{
    budget memory = {.bytes_left = MOST_BYTES};
    outcome first = simulate_text(text, size, steps, &memory);
    *allocations = memory.calls;
    if (first.status != TW_OK || first.where[0] == '!') return first;

    for (int i = 0; i < refused; i++) {
        long long nth = 1 + (memory.calls - 1) * i / (refused > 1 ? refused - 1 : 1);
        outcome o = with_refusal(text, size, steps, nth);
        if (o.where[0] == '!') return o;
    }
    return first;
}

int main(void)
{
    char line[100];
    while (fgets(line, sizeof line, stdin)) {
        char *rest = line;
        size_t size = strtoul(rest, &rest, 10);
        int steps = (int)strtol(rest, &rest, 10);
        int refused = (int)strtol(rest, &rest, 10);
        char *text = malloc(size + 1);
        if (!text || fread(text, 1, size, stdin) != size) return 1;

        long long allocations = 0;
        outcome o = simulate(text, size, steps, refused, &allocations);
        printf("%d|%s|%s|%lld|%s\n", o.steps, o.where, tw_status_name(o.status), allocations,
               o.status == TW_OK ? "" : o.error.text);
        fflush(stdout);
        free(text);
    }
    return 0;
}
