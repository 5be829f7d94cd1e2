/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Sequence numbers modulo 2^32, and which acknowledgement times which segment. */
#ifndef MESHPACE_SEQUENCE_H
#define MESHPACE_SEQUENCE_H

#include "gateway.h"
#include "kernel.h"

/* How far ahead of the acknowledged data a segment can plausibly lie: the largest window (RFC 7323, section 2.3). */
#define WINDOW_MAX (1u << 30)

/* As meshpace_units::Seq has them, half of all numbers away too. */
INLINE bool before(__u32 a, __u32 b)
{
	return (__s32)(a - b) < 0;
}

INLINE bool after(__u32 a, __u32 b)
{
	return before(b, a);
}

INLINE __u32 later(__u32 a, __u32 b)
{
	return before(a, b) ? b : a;
}

/* How a segment passed. */
enum passage {
	FRESH, /* beyond everything before: timed */
	LATE,  /* again or out of order: its acknowledgement tells nothing */
	STALE, /* acknowledged already, or implausible */
};

/* Forgets late bytes that are acknowledged. Kept, they would lie ahead again once numbers have gone half around. */
INLINE void forget_late(struct half *half)
{
	if (!after(half->late_to, half->una))
		half->late_from = half->late_to = half->una;
	else if (after(half->una, half->late_from))
		half->late_from = half->una;
}

/* Notes the passage of [start, end). The late bytes are kept as one range that only grows until all of it is
 * acknowledged: where crates/gateway keeps a mark a segment, this errs towards no sample. */
INLINE enum passage pass(struct half *half, __u32 start, __u32 end)
{
	if (!after(end, half->una) || end - half->una > WINDOW_MAX)
		return STALE;
	if (!after(half->end, start)) {
		half->end = end;
		return FRESH;
	}
	if (half->late_from == half->late_to) {
		half->late_from = start;
		half->late_to = end;
	} else {
		if (after(half->late_from, start))
			half->late_from = start;
		if (after(end, half->late_to))
			half->late_to = end;
	}
	if (after(end, half->end))
		half->end = end;
	return LATE;
}

/* A segment of the data whose cumulative acknowledgement and highest end were `una` and `highest` leaves: whether it leaves a hole, or fills one, as
 * crates/gateway/src/shaper/finder/segments.rs has it. What fills it and leaves for the first time is acknowledged as soon as it has come (RFC
 * 5681, section 4.2), where the receiver has all before it. */
INLINE void leave_or_fill(struct hole *hole, __u32 una, __u32 highest, __u32 start, __u32 end, __u64 at)
{
	if (start == highest)
		return;
	hole->filled = 0;
	if (after(start, highest)) {
		hole->from = highest;
		hole->to = start;
	} else if (start == hole->from && before(start, hole->to) && !after(end, hole->to)) {
		hole->filled = una == start ? at : 0;
		hole->end = end;
		hole->from = end;
	}
}

/* An acknowledgement: what it newly covers starts at `from`; `timed` if nothing of that is late. False if it covers
 * nothing new, or data that never passed (an optimistic one). */
INLINE bool covers(const struct half *half, __u32 ack, __u32 *from, bool *timed)
{
	if (!after(ack, half->una) || after(ack, half->end))
		return false;
	*from = half->una;
	bool late = half->late_from != half->late_to && after(ack, half->late_from) && after(half->late_to, *from);
	*timed = !late;
	return true;
}

/* Takes the acknowledgement that `covers` accepted. */
INLINE void acknowledge(struct half *half, __u32 ack)
{
	half->acked += ack - half->una;
	half->una = ack;
	forget_late(half);
}

#endif
