/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How many trains of packets that travel together calm has on their way (crates/pacing, trains.rs). */
#ifndef MESHPACE_CALM_TRAINS_H
#define MESHPACE_CALM_TRAINS_H

#include "calm_state.h"

/* A train a round trip is sent at least (crates/tcp, trains.rs). */
LAW void calm_keep_one(struct calm *calm, __u32 base, __u32 unit)
{
	if (unit > 1 && base)
		calm_set(calm, larger(calm->rate, lg(unit) + LG_TICKS - lg((__u64)base + calm->queue)));
}

/* One train an empty round trip. */
LAW __s64 calm_one(__u32 base, __u32 unit)
{
	return lg(unit) + LG_TICKS - lg(base);
}

/* By the rate: how many trains may be on their way, and whether a second one is of use (crates/pacing, trains.rs). */
LAW_ONCE int calm_follow(struct calm *calm, __u32 now, __u32 base, __u32 unit)
{
	if (!calm)
		return 0;
	__u64 wanted = 1 + power(calm_holds(calm, base, unit));
	bool waits = false;

	if (wanted > 0xffff)
		wanted = 0xffff;
	if (calm->trains == 1) {
		bool held = (__s32)(calm->trial - now) > 0;

		/* What is past stays so when the clock wraps. */
		if (!held)
			calm->trial = now;
		if (wanted > 1 && !held) {
			calm->brought = 0;
			calm->flags &= (__u8)~CALM_USEFUL;
		}
		waits = wanted > 1 && held;
	} else {
		__u64 elapsed = (__u64)(__u32)(now - calm->trial) * TICKS;

		if (elapsed >= (__u64)JUDGED * base) {
			waits = (__u64)calm->brought * base * MORE_DENOMINATOR < elapsed * unit * MORE_NUMERATOR;
			calm->flags = (__u8)(waits ? calm->flags & ~CALM_USEFUL : calm->flags | CALM_USEFUL);
			calm->trial = now;
			calm->brought = 0;
		}
		if (waits || wanted == 1) {
			calm->held = calm->flags & CALM_USEFUL ? HELD_FIRST : calm->held < HELD_LAST ? calm->held + 1 : HELD_LAST;
			calm->trial = now + (__u32)smaller((__s64)(((__u64)base << calm->held) / TICKS), 0x7fffffff);
		}
	}
	if (waits) {
		calm_set(calm, smaller(calm->rate, LG_BELOW_ONE + calm_one(base, unit)));
		wanted = 1;
	}
	calm->trains = (__u16)wanted;
	calm_keep_one(calm, base, unit);
	return 0;
}

/* So many packets travel together from now on. What was known of the empty path was of others. */
LAW void calm_set_unit(struct calm *calm, __u32 now, __u32 unit)
{
	calm->unit = (__u8)unit;
	__builtin_memset(calm->least, 0, sizeof(calm->least));
	calm->queue = 0;
	calm->step = 0;
	calm->stepped = calm->trial = now;
	calm->trains = 1;
	calm->held = HELD_FIRST;
}

#endif
