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

#include "calm_constants.h"
#include "logarithm.h"
#include <stdbool.h>

#define PARTS 8
/* struct calm's step: how many round trips, and their sum in ticks above that. */
#define STEP_SAMPLES 20
#define STEP_COUNT ((1ull << STEP_SAMPLES) - 1)
#define STEP_SUM (1ull << 44)

enum calm_flag {
	CALM_BEGUN = 1,    /* a round trip was measured */
	CALM_STARTING = 2, /* no queue has shown itself yet */
	CALM_IN_USE = 4,   /* the rate is, as far as was told */
	CALM_TOLD = 8,     /* what arrived since that was judged */
	CALM_REDUCED = 16, /* the kernel answers a loss or a mark, and the next acknowledgement says which it was */
	CALM_DRAINS = 32,  /* far too many packets waited, and more than may wait still do */
	CALM_USEFUL = 64,  /* a second train brought more than one alone would, when that was judged last */
};

/* A flow: as long as what a kernel keeps for a congestion control (ICSK_CA_PRIV_SIZE, include/net/inet_connection_sock.h). */
struct calm {
	__u64 step;               /* the round trips since the rate was changed last, STEP_SAMPLES */
	__s32 rate;               /* packets a second, a logarithm */
	__u32 stepped;            /* when the rate was changed last */
	__u32 judged;             /* when it was judged last whether the rate is in use */
	__u32 arrived;            /* packets since then */
	__u32 queue;              /* the queueing delay of the latest step, ticks; 0: none yet */
	__u32 trial;              /* one train may be on its way: no second one before this; more: since when `brought` counts */
	__u32 brought;            /* packets that arrived since then */
	__u32 least[PARTS + 1];   /* the least round trip of the part that time is in, and of those before; 0: none */
	__u16 part;
	__u16 intervals[INTERVALS + 1]; /* packets since the last loss, before that since the one before */
	__u16 wire;               /* steps that the path counts as a wire still */
	__u16 trains;             /* how many may be on their way */
	__u8 held;                /* a second one waits 2^held empty round trips after it was taken back */
	__u8 unit;                /* packets that travelled together when the latest round trip was measured */
	__u8 empty;               /* steps with an empty queue, up to now; WIRE_EMPTY at most */
	__u8 losses;              /* INTERVALS at most */
	__u8 flags;               /* enum calm_flag */
	__u8 prompt;              /* round trips with no more than jitter in them, up to now; WIRE_PROMPT at most */
	__u16 marked;             /* with CALM_REDUCED: packets that came marked before */
};
_Static_assert(sizeof(struct calm) == 104, "no more than a congestion control may keep");

LAW __s64 larger(__s64 a, __s64 b)
{
	return a > b ? a : b;
}

LAW __s64 smaller(__s64 a, __s64 b)
{
	return a < b ? a : b;
}

LAW void calm_set(struct calm *calm, __s64 rate)
{
	calm->rate = (__s32)larger(LG_SLOWEST, smaller(rate, LG_FASTEST));
}

/* A flow that nobody has been told anything of. */
LAW void calm_begin(struct calm *calm)
{
	/* One by one: clang 14 fails where it copies a constant of this size. */
	__builtin_memset(calm, 0, sizeof(*calm));
	calm->rate = LG_START;
	calm->flags = CALM_STARTING | CALM_IN_USE;
	calm->trains = 1;
	calm->held = HELD_FIRST;
	calm->unit = 1;
}

/* The smaller of two, without a branch. */
LAW __u64 smallest(__u32 a, __u32 b)
{
	__u64 less = (__u64)a - b;

	/* Hidden from clang, which would make a branch of it. */
	__asm__("" : "+r"(less));
	return b + (less & (0 - (less >> 63)));
}

/* The least round trip that counts, ticks; 0 before the first. */
LAW_ONCE __u32 calm_base(const struct calm *calm)
{
	if (!calm)
		return 0;
	/* One less of each: what is none is the longest of all. */
	__u32 base = calm->least[0] - 1;

#pragma clang loop unroll(full)
	for (int i = 1; i <= PARTS; i++)
		base = (__u32)smallest(base, calm->least[i] - 1);
	return base + 1;
}

/* The delay that a round trip has where nothing is longer than it is known to be, ticks. */
LAW __u64 calm_known(const struct calm *calm)
{
	return (__u64)calm_base(calm) + calm->queue;
}

/* A round trip of so many microseconds in ticks. Where nothing is out any more, the last segment may have waited for the receiver's
 * timer: no sign of a queue longer than the one that is known (crates/tcp, control/delay_rate). */
LAW __u32 calm_ticks(const struct calm *calm, __u32 microseconds, bool nothing_out)
{
	__u64 ticks = (__u64)(microseconds ? microseconds : 1) * TICKS, known = calm_known(calm);

	if (nothing_out && known && known < ticks)
		ticks = known;
	return (__u32)(ticks < 0xffffffffu ? ticks : 0xffffffffu);
}

/* One more round trip; the least of all that count. */
LAW_ONCE __u32 calm_least(struct calm *calm, __u64 now, __u32 rtt)
{
	if (!calm)
		return 0;
	__u16 part = (__u16)(now / PART_US), past = (__u16)(part - calm->part);

	calm->part = part;
	/* Branches that shift by one, two, four and all: whatever is shifted is nine values in their places. */
#define PAST(parts)                                                                                                    \
	do {                                                                                                           \
		_Pragma("clang loop unroll(full)") for (int i = PARTS; i >= 0; i--) calm->least[i] =                   \
			i >= (parts) ? calm->least[i >= (parts) ? i - (parts) : 0] : 0;                                \
	} while (0)
	if (past > PARTS) {
		PAST(PARTS + 1);
		if (calm->trains == 1)
			calm->trial = (__u32)now;
	} else {
		if (past & 8)
			PAST(8);
		if (past & 4)
			PAST(4);
		if (past & 2)
			PAST(2);
		if (past & 1)
			PAST(1);
	}
#undef PAST
	if (!calm->least[0] || rtt < calm->least[0])
		calm->least[0] = rtt;
	return calm_base(calm);
}

/* So many packets arrived. */
LAW void calm_on_arrived(struct calm *calm, __u32 packets)
{
	__u32 interval = calm->intervals[0] + (packets < 0xffff ? packets : 0xffff);

	/* An interval that long is of losses that are rare, however much longer it is. */
	calm->intervals[0] = (__u16)(interval < 0xffff ? interval : 0xffff);
	__u32 brought = calm->brought + (packets < MANY ? packets : MANY);

	calm->brought = brought < MANY ? brought : MANY;
	calm->arrived = calm->flags & CALM_TOLD ? calm->arrived + packets : packets;
	calm->flags |= CALM_TOLD;
}

/* A loss was found, the first of a round trip. */
LAW_ONCE int calm_on_loss(struct calm *calm)
{
	if (!calm)
		return 0;
#pragma clang loop unroll(full)
	for (int i = INTERVALS; i > 0; i--)
		calm->intervals[i] = calm->intervals[i - 1];
	calm->intervals[0] = 0;
	if (calm->losses < INTERVALS)
		calm->losses++;
	return 0;
}

/* What is this flow's at least beside flows that fill queues (friendly.rs), in a round trip of so many ticks. */
LAW_ONCE __s64 calm_floor(const struct calm *calm, __u64 rtt)
{
	if (!calm)
		return LG_NOTHING;
	/* RFC 5348, section 5.4, five times each. */
	const __u32 weights[INTERVALS] = {5, 5, 5, 5, 4, 3, 2, 1};
	__u64 since = 0, before = 0, all = 0;

#pragma clang loop unroll(full)
	for (int i = 0; i < INTERVALS; i++)
		if (i < calm->losses) {
			since += (__u64)weights[i] * calm->intervals[i];
			before += (__u64)weights[i] * calm->intervals[i + 1];
			all += weights[i];
		}
	__u64 sum = since > before ? since : before;

	if (sum < all)
		sum = all;
	if (calm->losses < FEWEST_LOSSES || sum * LOSSY_NUMERATOR >= all * LOSSY_DENOMINATOR)
		return LG_NOTHING;
	return LG_SHARE + ((LG_THREE_HALVES + lg(sum) - lg(all)) >> 1) + LG_TICKS - lg(rtt);
}

/* The logarithm of the packets, or trains of `unit`, on their way in an empty path. */
LAW __s64 calm_holds(const struct calm *calm, __u32 base, __u32 unit)
{
	return calm->rate + lg(base) - LG_TICKS - lg(unit);
}

/* The logarithm of the packets that may wait on it. */
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
			rate -= LG(1);
			if (holds > LG_LONG)
				rate = larger(rate, smaller(arrives, rate + LG(1)));
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
