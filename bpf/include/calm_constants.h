/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The constants of calm's law in integers (calm.h). Those with a `dr_` beside them are the defaults of the law in Rust (crates/pacing,
 * DelayRateConfig::CALM); where the others come from stands in docs/law.md. */
#ifndef MESHPACE_CALM_CONSTANTS_H
#define MESHPACE_CALM_CONSTANTS_H

#include "logarithm.h"

#define TICKS 32u                     /* a microsecond */
#define LG_TICKS 836564622ll          /* ticks a second */
#define LG_MICROSECONDS 668792462ll   /* microseconds a second */

/* What the law ships with (DelayRateConfig::CALM); logarithms where the name begins with LG. */
#define LG_DELTA (-17266211ll)        /* dr_delta = 0.7 */
#define DELTA_NUMERATOR 7
#define DELTA_DENOMINATOR 10
#define LG_DELTA_TRAINS 8825970ll     /* dr_delta_trains = 1.2 */
#define DELTA_TRAINS_NUMERATOR 12
#define DELTA_TRAINS_DENOMINATOR 10
#define GAIN 1677722                  /* dr_gain = 0.1, in units of 2^-24 */
#define LG_RISE 12102203ll            /* dr_rise = 0.25, a natural logarithm */
#define LG_FALL 145226438ll           /* dr_fall = 3 */
#define SAMPLES 2                     /* dr_samples */
#define SELDOM 4                      /* empty paths in the time of two acknowledgements, where they are thinned */
#define PART_US 3750000ull            /* an eighth of dr_horizon = 30 s */
#define LG_START 189376389ll          /* dr_start = 50 */
#define LG_FIRST LG(2)                /* dr_first = 4 */
#define LG_TIMEOUT (-17266211ll)      /* dr_timeout = 0.7 */
#define LG_ROOM LG(1)                 /* dr_room = 2 */
#define SLACK 16                      /* dr_slack */
#define SHARE 1                       /* a half of what is too much in a queue goes in a round trip; while it drains */
#define DRAIN 2                       /* a quarter */
#define YOUNG 16                      /* steps after its start in which a flow climbs so many times as fast: */
#define YOUNG_RISE 2
#define LG_SHARE 12700743ll           /* dr_friendly = 1.3 */
#define LOSSY_NUMERATOR 6             /* dr_lossy = 6 / 1000 */
#define LOSSY_DENOMINATOR 1000

#define LG_SLOWEST (-77910978ll)      /* 0.2 packets a second */
#define LG_FASTEST 780257873ll        /* 10^7 */
#define SHORTEST_QUEUE (10 * TICKS)   /* 10 us */
#define LG_SHORTEST_QUEUE (279237570ll - LG_TICKS)
#define INSIDE (250 * TICKS)          /* over a shorter path there is no radio, and what comes within */
#define LG_INSIDE_QUEUE (424257413ll - LG_TICKS) /* 200 us may wait */
#define LG_FULL LG(3)                 /* from 8 packets on that wait, and more than may, the queue drains by what arrives */
#define JITTER (200 * TICKS)          /* a round trip is prompt up to this, and up to */
#define JITTER_SHARE 16               /* this share of a packet's time, and of the empty path */
#define LG_IN_USE (-44356546ll)       /* 0.4 */
#define LG_THREE_HALVES 19628084ll
#define LG_BELOW_ONE (-48433ll)       /* 0.999 */
#define LG_LONG LG(8)                 /* a path is long from 256 packets on */
#define WIRE_EMPTY 4                  /* steps with an empty queue that tell of a wire */
#define WIRE_PROMPT 24                /* or so many round trips */
#define WIRE_STEPS 1000
#define FEWEST_LOSSES 3
#define INTERVALS 8
#define HELD_FIRST 3                  /* a second train is tried again after 2^3 empty round trips, and after 2^8 at last */
#define HELD_LAST 8
#define JUDGED 16                     /* for so many it is counted what arrives, before it is judged whether a second train is of use: */
#define MORE_NUMERATOR 21             /* if 1.05 times as much does as one alone would bring */
#define MORE_DENOMINATOR 20
#define MANY (1u << 26)               /* packets; what is counted of them fits where it is multiplied */
/* What a mark leaves, 0.8 (RFC 8511, section 3.1). The law in Rust hears of none. */
#define LG_MARK (-10802114ll)

#endif
