/* The tangent of one force, gathered from the dense tangents of its elements into a matrix of its own.
 *
 * Elements of a solid share their entries many times over: a product with the gathered matrix moves a fifth of the
 * memory of one with the elements. Every stored block knows its sources in a fixed order, so the sums are bitwise the
 * same for any number of threads. */
#ifndef TW_MODEL_ASSEMBLY_H
#define TW_MODEL_ASSEMBLY_H

#include "model/particles.h"
#include "model/pattern.h"

/* Which particles each element joins. The dense tangent of an element with n of them is n (n + 1) / 2 blocks of 3x3,
 * row by row inside: (0,0) (0,1) ... (0,n-1) (1,1) ...; those of one element follow on those of the one before. */
typedef struct tw_element_list {
    int64_t count;
    int nodes;            /* of every element, where `start` is NULL */
    const int64_t *start; /* count + 1 offsets into particle; NULL: e * nodes */
    const int32_t *particle;
} tw_element_list;

typedef struct tw_assembly {
    const tw_particles *particles;
    tw_sparse *matrix;  /* stiffness of the free particles, upper triangle */
    tw_sparse *damping; /* of the same pattern; NULL if there is none */
    int64_t *start;     /* of each stored block and the end, into source */
    uint32_t
        *source;     /* index of an element's block times two, plus one if it is to be transposed */
    int64_t *target; /* index of each stored block in the model's matrix */
    double *product; /* room for TW_MAX_BLOCK vectors */
} tw_assembly;

tw_status tw_assembly_create(tw_assembly *assembly, const tw_particles *particles,
                             const tw_element_list *list);
/* Room for a matrix of damping besides. */
tw_status tw_assembly_create_damping(tw_assembly *assembly);
void tw_assembly_free(tw_assembly *assembly);

/* Blocks that all elements have together. */
int64_t tw_element_list_blocks(const tw_element_list *list);

void tw_assembly_add_pattern(const tw_assembly *assembly, tw_pattern *pattern);
void tw_assembly_locate(tw_assembly *assembly, const tw_sparse *matrix);

/* From the elements' dense tangents; what the two below use. */
void tw_assembly_gather(tw_assembly *assembly, const double *element_blocks);
void tw_assembly_add_product(tw_assembly *assembly, int count, const double *in, double *out);
void tw_assembly_add_tangent(const tw_assembly *assembly, tw_sparse *matrix);

/* The same with the matrix of damping. */
void tw_assembly_gather_damping(tw_assembly *assembly, const double *element_blocks);
void tw_assembly_add_damping_product(tw_assembly *assembly, int count, const double *in,
                                     double *out);
void tw_assembly_add_damping(const tw_assembly *assembly, double factor, tw_sparse *matrix);

#endif
