/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* CoDel (RFC 8289) where a packet's departure is known as it comes: crates/codel in C, step by step.
 *
 * The law's clock is the departure, so that it says of a packet what it would have said at the head of a queue. What it drops gives its
 * departure to the next packet, which is looked at in its place, as at the head of a queue. crates/codel/tests/codel_in_c.rs holds
 * both against each other. */
#ifndef MESHPACE_CODEL_H
#define MESHPACE_CODEL_H

#include <linux/types.h>

#define CODEL static inline __attribute__((always_inline))

enum fate {
	LAW_PASSES,
	LAW_MARKS,
	LAW_DROPS,
};

/* After a drop, what follows from it waits for the next packet. */
enum after {
	NOTHING,
	A_DROP,
	THE_FIRST_DROP,
};

/* The state of one queue. Names are those of the RFC's pseudocode (section 5.3). */
struct codel {
	__u64 first_above_time;
	__u64 drop_next;
	__u32 count;
	__u32 last_count;
	__u8 dropping;
	__u8 after; /* enum after */
	__u16 unused;
	__u32 unused_too;
};

/* 2^32 over the square root of a number, by Newton's steps from below: six leave less than a millionth. */
CODEL __u64 inverse_root(__u32 x)
{
	__u64 root = 1ull << 32;

	/* Between half of it and all of it: the root of a number of 2n binary digits has n. Without a branch. */
#pragma clang loop unroll(full)
	for (int digits = 0; digits < 32; digits += 2)
		root >>= (0 - ((__u64)x >> digits)) >> 63;
#pragma clang loop unroll(full)
	for (int step = 0; step < 6; step++) {
		/* root (3 - x root^2) / 2; the square in units of 2^-32 */
		__u64 square = root * root >> 32;

		root = (root >> 1) * (((3ull << 32) - x * square) >> 2) >> 30;
	}
	return root;
}

/* The next drop: the more there were, the sooner (RFC 8289, section 5.3: t + interval / sqrt(count)). */
CODEL __u64 control_law(__u64 t, __u32 count, __u64 interval)
{
	return t + (interval * (inverse_root(count) >> 8) >> 24);
}

/* What becomes of a packet that leaves `at` and has waited for so long then. `interval` is below 2^39 ns. */
CODEL enum fate judge_wait(struct codel *c, __u64 at, __u64 waits, __u64 target, __u64 interval, _Bool can_mark)
{
	enum after after = c->after;
	_Bool ok_to_drop = 0;

	c->after = NOTHING;
	if (waits < target) {
		c->first_above_time = 0;
	} else {
		if (!c->first_above_time)
			c->first_above_time = at + interval;
		ok_to_drop = at >= c->first_above_time;
	}
	/* It takes the place of what was dropped first, and is let go. */
	if (after == THE_FIRST_DROP)
		return LAW_PASSES;
	if (after == A_DROP && ok_to_drop)
		c->drop_next = control_law(c->drop_next, c->count, interval);
	if (c->dropping) {
		c->dropping = ok_to_drop;
		if (!ok_to_drop || at < c->drop_next)
			return LAW_PASSES;
		c->count++;
		if (can_mark) {
			c->drop_next = control_law(c->drop_next, c->count, interval);
			return LAW_MARKS;
		}
		c->after = A_DROP;
		return LAW_DROPS;
	}
	if (!ok_to_drop)
		return LAW_PASSES;
	/* Where the last bout ended not long ago, its rate is taken up again. */
	__u32 delta = c->count > c->last_count ? c->count - c->last_count : 0;
	_Bool recent = at < c->drop_next + 16 * interval;

	c->dropping = 1;
	c->count = delta > 1 && recent ? delta : 1;
	c->drop_next = control_law(at, c->count, interval);
	c->last_count = c->count;
	if (can_mark)
		return LAW_MARKS;
	c->after = THE_FIRST_DROP;
	return LAW_DROPS;
}

#endif
