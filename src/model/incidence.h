/* The elements of each particle. A particle gathers from its elements, so that no two threads ever
 * write to the same place, and the order of every sum is fixed. */
#ifndef TW_MODEL_INCIDENCE_H
#define TW_MODEL_INCIDENCE_H

#include <stdint.h>
#include <twang/status.h>

typedef struct tw_incidence {
    int64_t *start; /* particle_count + 1 offsets into entry */
    int32_t *entry; /* element * corners + corner, ascending for each particle */
} tw_incidence;

/* `corner_particle` holds `corners` particle indices per element. */
tw_status tw_incidence_create(tw_incidence *incidence, int64_t particle_count,
                              int64_t element_count, int corners, const int32_t *corner_particle);
void tw_incidence_free(tw_incidence *incidence);

#endif
