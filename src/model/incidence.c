/* Listing the elements of each particle by a counting sort. */
#include "model/incidence.h"

#include "base/allocate.h"

tw_status tw_incidence_create(tw_incidence *incidence, int64_t particle_count,
                              int64_t element_count, int corners, const int32_t *corner_particle)
{
    int64_t total = element_count * corners;
    if (total > INT32_MAX) return TW_UNSUPPORTED;
    *incidence =
        (tw_incidence){.start = tw_allocate_zeroed((size_t)particle_count + 1, sizeof(int64_t)),
                       .entry = TW_NEW_ARRAY(total, int32_t)};
    if (!incidence->start || !incidence->entry) {
        tw_incidence_free(incidence);
        return TW_OUT_OF_MEMORY;
    }

    /* start[p] counts the corners at particle p, and then becomes the
     * offset of the first of them. */
    int64_t *start = incidence->start;
    for (int64_t c = 0; c < total; c++) start[corner_particle[c]]++;
    int64_t sum = 0;
    for (int64_t p = 0; p <= particle_count; p++) {
        int64_t here = start[p];
        start[p] = sum;
        sum += here;
    }

    /* Filling moves start[p] up to start[p + 1], so that the offsets are shifted back by one. */
    for (int64_t c = 0; c < total; c++) incidence->entry[start[corner_particle[c]]++] = (int32_t)c;
    for (int64_t p = particle_count; p > 0; p--) start[p] = start[p - 1];
    start[0] = 0;
    return TW_OK;
}

void tw_incidence_free(tw_incidence *incidence)
{
    tw_release(incidence->start);
    tw_release(incidence->entry);
    *incidence = (tw_incidence){0};
}
