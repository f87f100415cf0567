/* Which radius of blobs gives a chain of them the drag of a round rod. */
#ifndef TW_FLUID_ROD_RADIUS_H
#define TW_FLUID_ROD_RADIUS_H

/* A rod of this thickness is a long straight row of sections at distances `spacing`, each a square of
 * four points of side `width` [m]. Returns the radius of the blobs. It is at least a tenth of the
 * spacing: where the points alone are wider than the rod, the drag is too large. */
double tw_rod_radius(double spacing, double width, double thickness);

#endif
