/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* How much a wired sender may have on its way, told in the receiver's stead: crates/gateway/src/sender_window.rs in C, step by step; why each
 * is what it is stands there, and a test there holds both against each other. */
#ifndef MESHPACE_ANNOUNCED_H
#define MESHPACE_ANNOUNCED_H

#include <linux/types.h>

#define ANNOUNCED static inline __attribute__((always_inline))
/* The largest window (RFC 7323, section 2.3). */
#define WINDOW_MOST (1u << 30)

/* The right edge of a receiver's window as the wired sender has it. */
struct announced {
	__u32 told;   /* the rightmost that was told */
	__u32 latest; /* the highest acknowledgement, and the edge that it may announce */
	__u32 edge;
	__u32 acked;  /* the bytes that it acknowledged */
	__u32 passed; /* what passed last: its acknowledgement, the receiver's window field, and that with which it passed */
	__u16 own;
	__u16 field;
	__u8 has_told;
	__u8 has_latest;
	__u8 has_edge; /* else nothing but the receiver limits it */
	__u8 has_passed;
};

ANNOUNCED _Bool is_behind(__u32 a, __u32 b)
{
	return (__s32)(b - a) < 0;
}

/* How many units of the window field reach from an acknowledgement to an edge, or beyond it. */
ANNOUNCED __u32 units(__u32 ack, __u32 edge, __u32 scale)
{
	return is_behind(edge, ack) ? (__u32)(((__u64)(edge - ack) + (1u << scale) - 1) >> scale) : 0;
}

/* An acknowledgement passes to the sender that may have so many bytes on its way, in such segments, 0: as many as its receiver says. `pure`
 * if it carries nothing. Returns the window field that it is to carry. */
ANNOUNCED __u16 announce(struct announced *a, __u32 ack, __u16 own, __u32 scale, _Bool pure, __u32 window, __u32 segment)
{
	if (!a->has_latest || is_behind(ack, a->latest)) {
		__u32 acked = a->has_latest ? ack - a->latest : 0;

		if (window) {
			/* A receiver that acknowledges n segments at once answers n - 1 spacings later than it could answer the first. What one
			 * acknowledgement alone brings may be a hole that closes. */
			__u32 lesser = acked < a->acked ? acked : a->acked;
			__u32 regular = lesser > 2 * segment ? lesser - segment : segment;
			__u32 delayed = acked > segment ? acked - segment : 0;
			__u64 allowed = (__u64)window + (delayed < regular ? delayed : regular);
			__u32 edge = ack + (__u32)(allowed < WINDOW_MOST ? allowed : WINDOW_MOST);

			/* What was told is not taken back, but for the part of a unit by which it would be told once more. */
			if (a->has_told && is_behind(a->told, edge)) {
				_Bool beyond = units(ack, a->told, scale) > units(ack, edge, scale) && acked < 1u << scale;

				edge = beyond ? ack + ((a->told - ack) >> scale << scale) : a->told;
			}
			a->edge = edge;
		}
		a->has_edge = window != 0;
		a->latest = ack;
		a->acked = acked;
		a->has_latest = 1;
	} else if (!window) {
		a->has_edge = 0;
	}
	/* With one edge for both an update of the receiver's window would be a duplicate of the last. */
	if (a->has_passed && a->has_edge && pure && ack == a->passed && a->latest == ack && own > a->own &&
	    units(ack, a->edge, scale) == a->field)
		a->edge = ack + ((__u32)(a->field + 1) << scale);
	__u32 field = own;

	if (a->has_edge) {
		__u32 reach = units(ack, a->edge, scale);

		if (reach < field)
			field = reach;
	}
	a->passed = ack;
	a->own = own;
	a->field = field;
	a->has_passed = 1;
	__u32 told = ack + (field << scale);

	if (!a->has_told || is_behind(told, a->told))
		a->told = told;
	a->has_told = 1;
	return field;
}

#endif
