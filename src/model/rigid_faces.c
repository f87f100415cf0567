/* The faces of a bounding box that follows a body, and the rigid part of the motion of particles. */
#include "model/rigid_faces.h"

#include <math.h>

#include "base/allocate.h"
#include "base/vector3.h"
#include "model/rigid_body.h"

/* Particles within this share of the length of the box next to a face belong to it. */
static const double LAYER = 0.05;

/* ---- the particles of the faces ---- */

/* Lists the particles of one face: the free ones whose coordinate k is within `layer` of `bound`. */
static tw_status list_face(const tw_particles *p, const double *x, int k, double bound,
                           double layer, tw_rigid_face *face)
{
    for (int64_t i = 0; i < p->free_count; i++)
        face->count += fabs(x[3 * (int64_t)p->particle[i] + k] - bound) <= layer;
    face->particle = TW_NEW_ARRAY(face->count + 1, int32_t);
    face->weight = TW_NEW_ARRAY(face->count + 1, double);
    if (!face->particle || !face->weight) return TW_OUT_OF_MEMORY;

    double mass = 0.0;
    double mean = 0.0;
    int64_t next = 0;

    for (int64_t i = 0; i < p->free_count; i++) {
        int32_t particle = p->particle[i];
        double place = x[3 * (int64_t)particle + k];
        if (!(fabs(place - bound) <= layer)) continue;
        face->particle[next] = particle;
        face->weight[next++] = p->mass[particle];
        mass += p->mass[particle];
        mean += p->mass[particle] * place;
    }
    for (int64_t i = 0; i < face->count; i++) face->weight[i] /= mass;
    face->offset = bound - mean / mass;

    return TW_OK;
}

tw_status tw_rigid_faces_create(const tw_particles *particles, const double *x,
                                tw_rigid_faces *faces)
{
    for (int k = 0; k < 3; k++) {
        double bound[2] = {INFINITY, -INFINITY};
        for (int64_t i = 0; i < particles->free_count; i++) {
            double place = x[3 * (int64_t)particles->particle[i] + k];
            bound[0] = fmin(bound[0], place);
            bound[1] = fmax(bound[1], place);
        }
        double layer = LAYER * (bound[1] - bound[0]);
        for (int side = 0; side < 2; side++) {
            tw_status status =
                list_face(particles, x, k, bound[side], layer, &faces->list[k][side]);
            if (status != TW_OK) return status;
        }
    }
    tw_rigid_faces_centre(faces, x);

    return TW_OK;
}

void tw_rigid_faces_free(tw_rigid_faces *faces)
{
    for (int f = 0; f < 6; f++) {
        tw_release(faces->list[f / 2][f % 2].particle);
        tw_release(faces->list[f / 2][f % 2].weight);
    }
}

/* ---- where they are ---- */

/* The mean of one component over the particles of a face. */
static double mean_of(const tw_rigid_face *face, const double *values, int k)
{
    double mean = 0.0;
    for (int64_t i = 0; i < face->count; i++)
        mean += face->weight[i] * values[3 * (int64_t)face->particle[i] + k];
    return mean;
}

void tw_rigid_faces_find(const tw_rigid_faces *faces, const double *x, double face[3][2])
{
    for (int f = 0; f < 6; f++) {
        const tw_rigid_face *one = &faces->list[f / 2][f % 2];
        face[f / 2][f % 2] = mean_of(one, x, f / 2) + one->offset;
    }
}

void tw_rigid_faces_rates(const tw_rigid_faces *faces, const double *v, double rate[3][2])
{
    for (int f = 0; f < 6; f++) rate[f / 2][f % 2] = mean_of(&faces->list[f / 2][f % 2], v, f / 2);
}

void tw_rigid_faces_centre(tw_rigid_faces *faces, const double *x)
{
    for (int f = 0; f < 6; f++) {
        tw_rigid_face *one = &faces->list[f / 2][f % 2];
        for (int k = 0; k < 3; k++) one->centre[k] = mean_of(one, x, k);
    }
}

void tw_rigid_faces_moment(const tw_rigid_faces *faces, const double push[3][2], double moment[3])
{
    for (int k = 0; k < 3; k++) moment[k] = 0.0;
    for (int f = 0; f < 6; f++) {
        double force[3] = {0.0};
        double one[3];
        force[f / 2] = push[f / 2][f % 2];
        tw_cross3(faces->list[f / 2][f % 2].centre, force, one);
        for (int k = 0; k < 3; k++) moment[k] += one[k];
    }
}

void tw_rigid_faces_add(const tw_rigid_faces *faces, double factor, const double push[3][2],
                        double *force)
{
    for (int f = 0; f < 6; f++) {
        const tw_rigid_face *face = &faces->list[f / 2][f % 2];
        double size = factor * push[f / 2][f % 2];
        for (int64_t i = 0; i < face->count && size != 0.0; i++)
            force[3 * (int64_t)face->particle[i] + f / 2] += face->weight[i] * size;
    }
}

/* ---- sums over the body ---- */

void tw_rigid_inertia(const tw_particles *p, const double *x, double inertia[9])
{
    for (int k = 0; k < 9; k++) inertia[k] = 0.0;
    for (int64_t i = 0; i < p->free_count; i++) {
        const double *y = x + 3 * (int64_t)p->particle[i];
        double m = p->mass[p->particle[i]];
        double square = tw_dot3(y, y);

        /* I = sum m (y^2 1 - y y^T). */
        for (int k = 0; k < 9; k++)
            inertia[k] += m * ((k % 4 == 0 ? square : 0.0) - y[k / 3] * y[k % 3]);
    }
}

void tw_rigid_take_motion(const tw_particles *p, double *x, double *v)
{
    /* Centre of mass and its velocity. */
    double mass = 0.0;
    double centre[3] = {0.0};
    double velocity[3] = {0.0};

    for (int64_t i = 0; i < p->free_count; i++) {
        int64_t particle = p->particle[i];
        mass += p->mass[particle];
        for (int k = 0; k < 3; k++) {
            centre[k] += p->mass[particle] * x[3 * particle + k];
            velocity[k] += p->mass[particle] * v[3 * particle + k];
        }
    }
    double moment[3] = {0.0};

    for (int64_t i = 0; i < p->free_count; i++) {
        int64_t particle = p->particle[i];
        double one[3];
        for (int k = 0; k < 3; k++) {
            x[3 * particle + k] -= centre[k] / mass;
            v[3 * particle + k] -= velocity[k] / mass;
        }
        tw_cross3(x + 3 * particle, v + 3 * particle, one);
        for (int k = 0; k < 3; k++) moment[k] += p->mass[particle] * one[k];
    }

    /* The spin I^-1 L. */
    double inertia[9];
    double spin[3];

    tw_rigid_body body;

    tw_rigid_inertia(p, x, inertia);
    tw_rigid_body_set(&body, mass, inertia);
    tw_rigid_divide(&body, moment, spin);
    for (int64_t i = 0; i < p->free_count; i++) {
        int64_t particle = p->particle[i];
        double turning[3];
        tw_cross3(spin, x + 3 * particle, turning);
        for (int k = 0; k < 3; k++) v[3 * particle + k] -= turning[k];
    }
}
