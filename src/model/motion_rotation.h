/* The turn of a particle about a fixed axis. */
#ifndef TW_MODEL_MOTION_ROTATION_H
#define TW_MODEL_MOTION_ROTATION_H

/* Where a moved particle is, and the derivatives by t. */
typedef struct tw_moved {
    double position[3];
    double velocity[3];
    double acceleration[3];
} tw_moved;

/* The formula of Rodrigues. The arm from the point to the start has a part along the axis n, whose
 * length is 1, and a part across. With the angle f and its derivatives f', f'':
 *     r   = along n + cos f across + sin f n x across,
 *     r'  = f' e,  e = cos f n x across - sin f across,
 *     r'' = f'' e - f'^2 (cos f across + sin f n x across). */
void tw_rotate(const double point[3], const double axis[3], const double angle[3],
               const double start[3], tw_moved *out);

#endif
