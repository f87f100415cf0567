/* The turn of a particle about a fixed axis. */
#ifndef TW_MODEL_MOTION_ROTATION_H
#define TW_MODEL_MOTION_ROTATION_H

/* Where a moved particle is, and the derivatives by t. */
typedef struct tw_moved {
    double position[3];
    double velocity[3];
    double acceleration[3];
} tw_moved;

/* A turn at one time. */
typedef struct tw_turn {
    const double *point; /* on the axis */
    const double *axis;  /* n, of length 1 */
    double cosine, sine; /* of the angle f */
    double rate;         /* f' */
    double acceleration; /* f'' */
} tw_turn;

/* angle[3] = f, f', f''. Point and axis are kept by reference. */
tw_turn tw_turn_of(const double point[3], const double axis[3], const double angle[3]);

/* The formula of Rodrigues. The arm from the point to the start has a part along the axis n, whose
 * length is 1, and a part across. With the angle f and its derivatives f', f'':
 *     r   = along n + cos f across + sin f n x across,
 *     r'  = f' e,  e = cos f n x across - sin f across,
 *     r'' = f'' e - f'^2 (cos f across + sin f n x across). */
void tw_rotate(const tw_turn *turn, const double start[3], tw_moved *out);

#endif
