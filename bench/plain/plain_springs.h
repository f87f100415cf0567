/* Springs between particles, integrated as one writes it down at first: no library, no threads, no
 * vector instructions by hand. It is the witness for the speed of Twang's own explicit schemes. */
#ifndef PLAIN_SPRINGS_H
#define PLAIN_SPRINGS_H

typedef struct plain_system {
    long particles;
    long springs;
    const int *ends;           /* two particles per spring */
    const double *stiffness;   /* k of each spring [N/m] */
    const double *rest_length; /* L of each spring [m] */
    const double *mass;        /* of each particle [kg]; 0: it is held */
    double gravity[3];         /* [m/s^2] */
    double *x;                 /* positions, three numbers per particle [m] */
    double *v;                 /* velocities [m/s] */
    double *a;                 /* accelerations: scratch, and kept from step to step */
} plain_system;

/* a = gravity + forces of the springs at x over the masses. */
void plain_acceleration(const plain_system *s, const double *x, double *a);

/* Velocity Verlet: `steps` steps of h. s->a must belong to s->x. */
void plain_verlet(plain_system *s, long steps, double h);

/* The classical Runge-Kutta scheme. work has room for 15 numbers per particle. */
void plain_rk4(plain_system *s, long steps, double h, double *work);

#endif
