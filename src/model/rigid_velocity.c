#include "model/rigid_velocity.h"

void tw_rigid_velocities(int64_t count, const double *x, const double *masses,
                         const double velocity[3], const double spin[3], double *v)
{
    /* The centre of mass. */
    double centre[3] = {0.0, 0.0, 0.0};
    double mass = 0.0;
    for (int64_t i = 0; i < count; i++) {
        mass += masses[i];
        for (int k = 0; k < 3; k++) centre[k] += masses[i] * x[3 * i + k];
    }
    for (int k = 0; k < 3; k++) centre[k] /= mass;

    /* Component k of the cross product takes the next two components a and b. */
    for (int64_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            int a = (k + 1) % 3;
            int b = (k + 2) % 3;
            v[3 * i + k] = velocity[k] + spin[a] * (x[3 * i + b] - centre[b]) -
                           spin[b] * (x[3 * i + a] - centre[a]);
        }
}
