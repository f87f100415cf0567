/* One quantity of several elements: loops over a tw_lanes vectorise. */
#ifndef TW_MODEL_LANES_H
#define TW_MODEL_LANES_H

enum { TW_LANES = 8 };
typedef double tw_lanes[TW_LANES];

#endif
