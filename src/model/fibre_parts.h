/* Fibres: what the files that make them share. */
#ifndef TW_MODEL_FIBRE_PARTS_H
#define TW_MODEL_FIBRE_PARTS_H

#include <twang/fibres.h>

/* The sets of fibres in a model. */
typedef struct tw_fibre_list {
    tw_fibre_set *list;
    int count;
    int capacity;
} tw_fibre_list;

enum {
    TW_SECTION_CORNERS = 4,
    TW_SECTION_SPRINGS = 6, /* four edges and two diagonals of a section */
    TW_SEGMENT_SPRINGS = 12 /* four edges along the fibre, two diagonals on each of four sides */
};

/* The diameter at the share s of the length, from 0 at the root to 1 at the tip. */
double tw_fibre_thickness(const tw_fibres *fibres, double s);

/* The width of all cuboids [m]. (fibre_springs.c) */
double tw_fibre_width(const tw_fibres *fibres);

/* What holds a segment together [N/m]. (fibre_springs.c) */
typedef struct tw_segment_stiffness {
    double edge;     /* k_l, along the fibre */
    double diagonal; /* k_f, on the sides */
    double section;  /* k_c, edges and diagonals of its two sections */
    double spine;    /* k_s, between the centres of its sections */
} tw_segment_stiffness;
tw_segment_stiffness tw_fibre_segment_stiffness(const tw_fibres *fibres, int64_t segment);

/* Positions of all particles at rest, in the order of tw_fibre_set_section. (fibre_shape.c) */
void tw_fibre_positions(const tw_fibres *fibres, const tw_fibre_set *set, double *positions);
/* The angle by which the curl turns in one segment; 0 for straight fibres [rad].
 * (fibre_shape.c) */
double tw_fibre_turning(const tw_fibres *fibres);

/* Adds the springs of all fibres. (fibre_springs.c) */
tw_status tw_fibre_add_springs(tw_model *model, const tw_fibres *fibres, const tw_fibre_set *set,
                               tw_error *error);

#endif
