/* The tangent of one force, gathered from the dense tangents of its elements
 * into a matrix of its own.
 *
 * Many elements of a solid share an entry of the matrix, so that a product with the gathered matrix
 * moves a fifth of the memory of one with the elements. Every stored block has a list of its
 * sources in a fixed order: the sums are bitwise the same for any number of threads. */
#ifndef TW_MODEL_ASSEMBLY_H
#define TW_MODEL_ASSEMBLY_H

#include "model/particles.h"
#include "model/pattern.h"

/* The particles of each element. The dense tangent of an element with n particles has n (n + 1) / 2
 * blocks of 3x3, in the order (0,0) (0,1) ... (0,n-1) (1,1) ..., each row by row. The elements
 * follow each other. */
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
    uint32_t *source;   /* 2 * (block of an element), plus 1 if it is to be transposed */
    int64_t *target;    /* index of each stored block in the model's matrix */
    double *product;    /* room for TW_MAX_BLOCK vectors */
} tw_assembly;

tw_status tw_assembly_create(tw_assembly *assembly, const tw_particles *particles,
                             const tw_element_list *list);
/* Makes room for a matrix of damping, too. */
tw_status tw_assembly_create_damping(tw_assembly *assembly);
void tw_assembly_free(tw_assembly *assembly);

/* Number of blocks of all elements together. */
int64_t tw_element_list_blocks(const tw_element_list *list);

void tw_assembly_add_pattern(const tw_assembly *assembly, tw_pattern *pattern);
void tw_assembly_locate(tw_assembly *assembly, const tw_sparse *matrix);

/* Fills the matrix from the dense tangents of the elements. The two functions below use it. */
void tw_assembly_gather(tw_assembly *assembly, const double *element_blocks);
void tw_assembly_add_product(tw_assembly *assembly, int count, const double *in, double *out);
void tw_assembly_add_tangent(const tw_assembly *assembly, tw_sparse *matrix);

/* The same with the matrix of damping. */
void tw_assembly_gather_damping(tw_assembly *assembly, const double *element_blocks);
void tw_assembly_add_damping_product(tw_assembly *assembly, int count, const double *in,
                                     double *out);
void tw_assembly_add_damping(const tw_assembly *assembly, double factor, tw_sparse *matrix);

#endif
