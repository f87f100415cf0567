/* The repulsion between two surfaces as a function of their gap.
 *
 *     psi(g) = (2 kappa / 3 d) (d - g)^3      0 <= g < d
 *     psi(g) = psi(0) + psi'(0) g + 2 kappa g^2   g < 0
 *
 * It begins smoothly at the onset distance d, and its curvature is 4 kappa (d - g) / d, which is
 * never above 4 kappa. Both joints are C2. */
#ifndef TW_CONTACT_LAW_H
#define TW_CONTACT_LAW_H

typedef struct tw_contact_law {
    double onset;     /* d [m] */
    double stiffness; /* kappa [N/m] */
} tw_contact_law;

/* psi [J], psi' [N] and psi'' [N/m]. */
typedef struct tw_repulsion {
    double energy;
    double slope;
    double curvature;
} tw_repulsion;

static inline tw_repulsion tw_contact_repulsion(const tw_contact_law *law, double gap)
{
    double d = law->onset;
    double kappa = law->stiffness;
    if (gap >= d) return (tw_repulsion){0.0, 0.0, 0.0};

    /* Outside the surface: the cubic. */
    if (gap >= 0.0) {
        double depth = d - gap;
        return (tw_repulsion){2.0 * kappa / (3.0 * d) * depth * depth * depth,
                              -2.0 * kappa / d * depth * depth, 4.0 * kappa / d * depth};
    }

    /* Inside: the parabola with the same value, slope and curvature at gap 0. */
    return (tw_repulsion){2.0 * kappa * (d * d / 3.0 - d * gap + gap * gap),
                          -2.0 * kappa * (d - 2.0 * gap), 4.0 * kappa};
}

#endif
