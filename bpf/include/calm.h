/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Calm's law of rate by delay in integers: what crates/pacing/src/delay_rate computes with fractions.
 *
 * Pure C without helpers, so that the same text is the kernel's congestion control (calm.bpf.c) and a program that a test holds
 * against the law in Rust (crates/pacing/tests). The names are the law's; what each step is for stands there and in docs/law.md.
 *
 * A rate is the logarithm of packets a second. A time is in microseconds; those that are kept have 32 bits and wrap after 71 minutes: who
 * was silent that long may find one step begun late. A delay is in ticks of 1/32 us, up to 134 s. */
#ifndef MESHPACE_CALM_H
#define MESHPACE_CALM_H

#include "calm_state.h"
#include "calm_trains.h"

/* The logarithm of the packets that may wait, where an empty path takes `base`. */
LAW __s64 calm_waits(const struct calm *calm, __u32 base, __u32 unit, __u32 burst)
{
	__s64 holds = calm_holds(calm, base, 1);
	__s64 scale = holds > LG_LONG ? (holds - LG_LONG) >> 1 : 0;

	__s64 delta = unit > 1 ? LG_DELTA_TRAINS : LG_DELTA;

	__s64 shortest = base < INSIDE ? LG_INSIDE_QUEUE : LG_SHORTEST_QUEUE;
	__s64 waits = larger(lg(unit), calm->rate + shortest) - delta;

	/* burst - 1 + burst / delta */
	if (burst > unit) {
		__u64 numerator = unit > 1 ? DELTA_TRAINS_NUMERATOR : DELTA_NUMERATOR;
		__u64 denominator = unit > 1 ? DELTA_TRAINS_DENOMINATOR : DELTA_DENOMINATOR;

		waits = larger(waits, lg(burst * (numerator + denominator) - numerator) - lg(numerator));
	}
	return waits + scale;
}

/* What the jitter of hosts adds to a round trip at the most, ticks. */
LAW __u64 calm_jitter(const struct calm *calm, __u32 base)
{
	__u64 spacing = power(LG_TICKS - calm->rate), most = (base < spacing ? base : spacing) / JITTER_SHARE;

	return most < JITTER ? most : JITTER;
}

/* Judges whether the rate is in use; the logarithm of the packets a second that arrived, LG_NOTHING if nobody told. */
LAW __s64 calm_judge(struct calm *calm, __u32 now)
{
	__u32 elapsed = now - calm->judged;
	__s64 arrived = lg(calm->arrived);

	if (!(calm->flags & CALM_TOLD))
		return LG_NOTHING;
	calm->flags &= (__u8)~(CALM_TOLD | CALM_IN_USE);
	if (!elapsed || arrived >= LG_IN_USE + calm->rate + lg(elapsed) - LG_MICROSECONDS)
		calm->flags |= CALM_IN_USE;
	calm->judged = now;
	return elapsed ? arrived + LG_MICROSECONDS - lg(elapsed) : LG_NOTHING;
}

/* The rate with which a queue comes to `waits` packets, where `arrives` comes out of it, in two round trips or 2^share (long.rs, towards). */
LAW __s64 calm_towards(__s64 waits, __s64 arrives, __u64 queue, __u64 rtt, __u32 share)
{
	/* In units of 2^-24, of a round trip: what waits, and what is to wait. */
	__u64 is = (queue << 24) / rtt, wanted = power(smaller(waits - arrives + LG_TICKS - lg(rtt), LG(20)) + LG(24));

	return arrives + lg((1ull << (24 + share)) - is + wanted) - LG(24 + share);
}

/* So many packets wait and so many may, logarithms; whether the queue drains. */
LAW bool calm_drains(struct calm *calm, __s64 wait, __s64 may_wait)
{
	if (wait >= larger(LG_FULL, may_wait))
		calm->flags |= CALM_DRAINS;
	else if (wait <= may_wait)
		calm->flags &= (__u8)~CALM_DRAINS;
	return calm->flags & CALM_DRAINS;
}

/* A step, by the least round trip, ticks, and the queueing delay that was found and kept; `delay` is its logarithm, in seconds. `units` is the
 * unit, the burst 16 bits above it, and at the top whether acknowledgements are thinned: a function of eBPF has five arguments at the most. */
LAW_ONCE int calm_go(struct calm *calm, __u32 now, __u32 base, __s64 delay, __u32 units)
{
	if (!calm)
		return 0;
	__u32 unit = units & 0xffff, burst = units >> 16 & 0x7fff;
	__u64 queue = calm->queue;
	__s64 holds = calm_holds(calm, base, unit), waits = calm_waits(calm, base, unit, burst);

	/* The round trips of whole trains may all be alike. */
	calm->empty = unit > 1 || queue > SHORTEST_QUEUE ? 0 : calm->empty < WIRE_EMPTY ? calm->empty + 1 : WIRE_EMPTY;
	calm->wire = calm->empty == WIRE_EMPTY || calm->prompt == WIRE_PROMPT ? WIRE_STEPS : calm->wire ? calm->wire - 1 : 0;

	__s64 target = waits - delay, rate = calm->rate;
	__s64 arrives = calm_judge(calm, now);
	bool in_use = calm->flags & CALM_IN_USE;

	if (calm->flags & CALM_STARTING) {
		if (target <= rate) {
			calm->flags &= (__u8)~CALM_STARTING;
			calm->young = YOUNG;
			rate = larger(target, rate - LG(1));
			if (holds > LG_LONG)
				rate = larger(rate, smaller(arrives, calm->rate));
		} else if (in_use) {
			rate += LG(1);
		}
		calm_set(calm, rate);
		return 0;
	}
	__u64 trip = base + queue;
	__s64 least = calm_floor(calm, trip);
	__s64 way = larger(target, least) - rate;
	__s64 rise = in_use ? LG_RISE : 0;

	/* It took as many empty paths. */
	if (units >> 31)
		rise *= SELDOM;
	else if (calm->young)
		rise *= YOUNG_RISE;
	if (calm->young)
		calm->young--;

	/* Beside flows that fill the queue nothing drains it. */
	if (unit == 1 && arrives != LG_NOTHING && least == LG_NOTHING && calm_drains(calm, lg(queue) - LG_TICKS + arrives, waits)) {
		rate += rise * GAIN >> 24;
		calm_set(calm, smaller(rate, calm_towards(waits, arrives, queue, trip, DRAIN)));
		return 0;
	}
	if (arrives != LG_NOTHING && in_use && way < LG(1) && (holds > LG_LONG || calm->wire)) {
		__s64 whole = larger(larger(calm_towards(waits, arrives, queue, trip, SHARE), least), LG_SLOWEST) - rate;

		/* All of the way and not a share of it; what counts of it has the same bounds. */
		rise = rise * GAIN >> 24;
		rate += larger(-(LG_FALL * GAIN >> 24), smaller(whole, rise));
	} else {
		rate += larger(-LG_FALL, smaller(way, rise)) * GAIN >> 24;
	}
	calm_set(calm, rate);
	return 0;
}

/* A round trip of so many ticks was measured. */
LAW void calm_on_round_trip(struct calm *calm, __u64 at, __u32 rtt, __u32 unit, __u32 burst)
{
	__u32 now = (__u32)at;

	if (calm->unit != unit)
		calm_set_unit(calm, now, unit);
	__u32 base = calm_least(calm, at, rtt);

	if (!(calm->flags & CALM_BEGUN)) {
		/* What was sent until now was sent blindly. */
		__u32 trip = rtt > SHORTEST_QUEUE ? rtt : SHORTEST_QUEUE;

		calm_set(calm, larger(calm->rate, LG_FIRST + LG_TICKS - lg(trip)));
		calm->flags = (calm->flags | CALM_BEGUN) & (__u8)~CALM_TOLD;
		calm->judged = calm->stepped = now;
		calm->step = 0;
	} else {
		__u64 samples = calm->step & STEP_COUNT, sum = calm->step >> STEP_SAMPLES;

		/* So many that the next would not fit have the mean of those to come. */
		if (samples < STEP_COUNT && sum + rtt < STEP_SUM) {
			samples++;
			sum += rtt;
		}
		calm->step = sum << STEP_SAMPLES | samples;
		calm->prompt = unit > 1 || rtt - base > calm_jitter(calm, base) ? 0 : calm->prompt < WIRE_PROMPT ? calm->prompt + 1 : WIRE_PROMPT;

		__u64 elapsed = (__u64)(__u32)(now - calm->stepped) * TICKS;
		bool starting = calm->flags & CALM_STARTING, ends = false;
		__s64 excess = (__s64)(sum - samples * base);

		if (samples >= SAMPLES) {
			__s64 holds = calm_holds(calm, base, unit);

			/* The start of a long path sees what a step did before it goes on, and ends as soon as that shows. */
			if (starting && holds > LG_LONG) {
				__s64 twice = LG(1) + calm_waits(calm, base, unit, burst) - calm->rate;

				if (elapsed >= rtt && lg(rtt - base) - LG_TICKS > twice) {
					ends = true;
					excess = rtt - base;
					samples = 1;
				} else {
					ends = elapsed >= 2ull * rtt;
				}
			} else {
				ends = elapsed >= rtt;
			}
		}
		/* Acknowledgements that seldom are thinned, and one of the two may have waited for its deadline: the lesser counts. */
		bool thinned = ends && !starting && unit == 1 && samples == SAMPLES && elapsed >= (__u64)SELDOM * base;

		if (thinned) {
			__u64 other = sum - rtt;

			excess = (__s64)(other < rtt ? other : rtt) - base;
			samples = 1;
		}
		if (ends) {
			__u64 shortest = samples * SHORTEST_QUEUE;
			__u64 above = excess > (__s64)shortest ? (__u64)excess : shortest;

			__u64 queue = above / samples;

			calm->step = 0;
			calm->stepped = now;
			calm->queue = (__u32)(queue < 0xffffffffu ? queue : 0xffffffffu);
			calm_go(calm, now, base, lg(above) - lg(samples) - LG_TICKS, unit | burst << 16 | (__u32)thinned << 31);
		}
	}
	if (unit > 1)
		calm_follow(calm, now, base, unit);
}

/* Nothing came back for so long that everything is sent again. */
LAW void calm_on_timeout(struct calm *calm, __u64 now, __u32 unit)
{
	calm_on_loss(calm);
	calm->flags &= (__u8)~CALM_STARTING;
	calm_set(calm, calm->rate + LG_TIMEOUT);
	if (calm->flags & CALM_BEGUN) {
		calm->step = 0;
		calm->stepped = (__u32)now;
	}
	calm_keep_one(calm, calm_base(calm), unit);
}

/* A router marked a packet instead of dropping it: no collision of a mesh does that. */
LAW void calm_on_mark(struct calm *calm)
{
	calm->flags &= (__u8)~CALM_STARTING;
	calm_set(calm, calm->rate + LG_MARK);
}

/* The window, segments, with so many in flight; 0: as it is. */
LAW __u32 calm_window(const struct calm *calm, __u32 flight, __u32 unit)
{
	__u32 base = calm_base(calm);

	if (!base)
		return 0;
	if (unit > 1) {
		__u32 most = calm->trains * unit;

		/* It opens when a whole train has room. */
		return flight + unit <= most || flight > most ? most : flight;
	}
	return (__u32)power(smaller(calm->rate + lg(base) - LG_TICKS + LG_ROOM, LG(24))) + SLACK;
}

/* The pace, bytes a second, of segments of so many. One train alone leaves as soon as the one before it is acknowledged. */
LAW __u64 calm_pace(const struct calm *calm, __u32 segment, __u32 unit)
{
	__s64 rate = calm->rate;
	__u32 base = calm_base(calm);

	if (unit > 1 && calm->trains == 1 && base)
		rate = larger(rate, calm_one(base, unit));
	return power(rate + lg(segment));
}

#endif
