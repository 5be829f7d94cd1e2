/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What calm remembers of a flow, and what that says by itself: the empty path, losses, the floor beside flows that fill queues. calm.h is the law. */
#ifndef MESHPACE_CALM_STATE_H
#define MESHPACE_CALM_STATE_H

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
	union {
		__u8 empty_and_young; /* both, as user space has them */
		struct {
			__u8 empty : 3; /* steps with an empty queue, up to now; WIRE_EMPTY at most */
			__u8 young : 5; /* steps that it counts as a newcomer still; YOUNG at most */
		};
	};
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

#endif
