/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* When a packet leaves, where hosts share a rate and flows share what their host has: by departure times alone, which are known as the
 * packet comes and are not changed any more.
 *
 * Each flow has a clock: its next packet leaves no earlier than the last one did, and what that takes at the flow's share. A share is the
 * rate over the weights of those hosts that are busy, over the flows of the host that are busy. A host or a flow is busy while its clock
 * lies ahead. So one that sends less than its share is busy for that part of the time alone, and what it leaves the others have
 * (generalized processor sharing, Parekh and Gallager 1993, with what waits ordered by the shares that held as it came). How busy they are
 * is kept by slots of time: a slot has what part of it each is busy for, times its weight.
 *
 * What is ordered cannot be put off, so that newcomers leave beside it. Host and all have clocks of their work, too. Nothing leaves
 * earlier than `longest` before its host's, or twice that before everybody's; and no host has more work before it than that:
 * so no more than that much of a share, or of the rate, ever leaves beside it.
 *
 * A call's packet waits for no turn, as at the shaper of turns (crates/gateway/src/shaper/calls.rs): it leaves at once, or with the latest of
 * its flow. What its host's calls take so, its other flows' packets wait the longer.
 *
 * Two processors at work on one host, flow or slot at once may lose each other's part of it, for a second at the most. */
#ifndef MESHPACE_SHARES_H
#define MESHPACE_SHARES_H

#include "codel.h"
#include "shaping.h"

#define SHARES static inline __attribute__((always_inline))

/* What one flow counts for in its host, and a host of weight 1 in all. */
#define ONE 256u
/* No clock counts for more than nine seconds at a time, twice what anything may wait; nor do more shares than these. */
#define FARTHEST (1ull << 33)
#define SHARES_MAX (1ull << 30)
/* Slots that one packet makes busy at the most. */
#define STEPS 64
/* The largest packet of an Ethernet. */
#define MTU 1500
/* What calls have of a share is what they had in some 268 ms: half a dozen packets of a slow call. */
#define TALK_SHIFT 28
#define TALK (1ull << TALK_SHIFT)

/* What is known of a flow. */
struct queue {
	__u64 next; /* when its next packet may leave */
	struct codel codel;
	struct own own;
	__u64 turn; /* of its latest packet */
	__u64 fate; /* of that, enum fate */
	__u64 due;  /* when the latest of those that leave does */
};
_Static_assert(sizeof(struct queue) == 72, "queue");

/* What becomes of a packet. */
enum verdict {
	LEAVES,
	LEAVES_MARKED,
	DROPPED_LATE,  /* its flow has waited too long for too long */
	DROPPED_CROWD, /* it would wait too long */
};

struct packet_to_shape {
	__u64 now;
	__u32 bytes;
	__u32 packets; /* that it will be segmented into */
	_Bool can_mark;
};

/* A difference of times or amounts, which are below 2^63; 0 where it is below. No branch here, nor in what is made of it: each would be
 * two paths to the kernel's checker, and all that follows twice as many. (The assembly keeps the compiler from making one.) */
SHARES __u64 above(__u64 a, __u64 b)
{
	__s64 difference = a - b;

	asm volatile("" : "+r"(difference));
	return difference & ~(difference >> 63);
}

SHARES __u64 later_of(__u64 a, __u64 b)
{
	return b + above(a, b);
}

SHARES __u64 no_more(__u64 a, __u64 most)
{
	return a - above(a, most);
}

/* 1 where `a` is less. */
SHARES __u64 is_less(__u64 a, __u64 b)
{
	__u64 difference = a - b;

	asm volatile("" : "+r"(difference));
	return difference >> 63;
}

/* The one where `is` is 1, the other where it is 0. */
SHARES __u64 one_of(__u64 is, __u64 one, __u64 other)
{
	__u64 mask = 0 - is;

	asm volatile("" : "+r"(mask));
	return other ^ ((one ^ other) & mask);
}

/* What a packet costs, in bytes. */
SHARES __u64 cost_of(const struct packet_to_shape *packet, const struct shaping *by, const struct terms *terms)
{
	__u64 bytes = packet->bytes + (__u64)by->overhead * packet->packets;

	return later_of(bytes * terms->price >> PRICE_SHIFT, 1);
}

SHARES __u32 is_same(__u32 a, __u32 b)
{
	return ((__u64)(a ^ b) - 1) >> 63;
}

/* The shares of the others that are busy now. `own` is what this one has of that, whose clock stands at `until`. */
SHARES __u32 others(const struct slot *slot, __u32 shift, struct own *own, __u32 share, __u64 now, __u64 until)
{
	__u32 time = now >> shift;
	__u64 begins = (now >> shift) << shift;
	__u32 all = slot->busy * is_same(slot->time, time);

	if (own->time != time) {
		own->time = time;
		own->busy = no_more(no_more(above(until, begins), 1ull << shift) * share >> shift, share);
	}
	return above(all, own->busy);
}

/* So much more of a slot is busy. */
SHARES void add_to(struct slot *slot, __u32 time, __u32 busy)
{
	slot->busy = slot->busy * is_same(slot->time, time) + busy;
	slot->time = time;
}

/* One with a share is busy from `from` on until `until`. Of the slot that has begun only what is left counts, and counts whole. */
SHARES void be_busy(struct slot *slots, __u32 count, __u32 shift, struct own *own, __u32 share, __u64 now, __u64 from, __u64 until)
{
	__u64 begins = (now >> shift) << shift, ends = begins + (1ull << shift);
	__u32 time = now >> shift;

	from = later_of(from, now);
	until = no_more(until, begins + ((__u64)(count - 1) << shift));
	if (from < ends && from < until) {
		__u64 stops = no_more(until, ends);
		__u32 adds = no_more((stops - from) * share / (ends - now), share - no_more(own->busy, share));

		own->busy += adds;
		add_to(&slots[time & (count - 1)], time, adds);
		from = ends;
	}
	if (from >= until)
		return;
	/* To the end of its slot, through whole ones, and into the last. (What a loop compares with must not be used behind it: to the
	 * kernel's checker it has another value after each of its turns.) */
	time = from >> shift;
	until = no_more(until, ((from >> shift) + STEPS) << shift);
	__u64 whole = (until >> shift) - (from >> shift);
	__u32 first = (from & ((1ull << shift) - 1)) * share >> shift;

	add_to(&slots[time & (count - 1)], time, 0 - first);
	for (__u32 i = 0; i < STEPS && i < whole; i++)
		add_to(&slots[(time + i) & (count - 1)], time + i, share);
	time = until >> shift;
	add_to(&slots[time & (count - 1)], time, (until & ((1ull << shift) - 1)) * share >> shift);
}

/* Whether so many packets more may wait until `due`, and a place for each if they may. */
SHARES _Bool take_places(struct slot *waiting, __u32 shift, __u64 now, __u64 due, __u32 packets, __u32 places)
{
	__u32 time = now >> shift, taken = 0;

	for (__u32 i = 0; i < WAIT_SLOTS; i++)
		taken += waiting[i].busy * (((__u64)(waiting[i].time - time) - WAIT_SLOTS) >> 63);
	if (taken + packets > places)
		return 0;
	time = due >> shift;
	add_to(&waiting[time & (WAIT_SLOTS - 1)], time, packets);
	return 1;
}

/* Shares are what they were as packets came, so that a little too much or too little is ordered. More work than the clocks are ahead is
 * too much: then every clock goes a little slower, by the whole where it is a quarter of the longest wait. */
SHARES __u64 stretched(__u64 takes, __u64 work, __u64 latest, __u64 longest)
{
	__u64 excess = no_more(above(work, latest), longest) * ONE / later_of(longest / 4, 1);

	return no_more(takes + takes * excess / ONE, FARTHEST);
}

/* When a packet leaves, if it does. */
SHARES enum verdict depart(struct all *all, struct host *host, struct queue *queue, const struct shaping *by, const struct terms *terms,
			   const struct packet_to_shape *packet, __u64 *departure)
{
	__u64 now = packet->now, cost = cost_of(packet, by, terms);
	__u32 weight = no_more(later_of(terms->weight, 1), 1 << 16) * ONE, shift = by->shift & 31, coarse = shift + COARSER;

	/* What it takes of the rate, of its host's share, of its flow's. */
	__u64 takes = no_more(cost * by->per_byte >> BYTE_SHIFT, FARTHEST);
	__u64 sharing = others(&all->slots[now >> shift & (ALL_SLOTS - 1)], shift, &host->own, weight, now, host->work);
	__u64 of_host = no_more(takes * no_more(sharing + weight, SHARES_MAX) / weight, FARTHEST);
	__u64 of_cap = no_more(packet->bytes * terms->cap >> BYTE_SHIFT, FARTHEST);
	__u64 flows = others(&host->flows[now >> coarse & (HOST_SLOTS - 1)], coarse, &queue->own, ONE, now, queue->next);
	__u64 of_own = later_of(of_host, of_cap);

	/* Calls: what they may have of that, how much of it at once, what they had lately, and what that leaves to the other flows. */
	__u64 of_calls = of_own * CALLS_OF / CALLS_PART;
	__u64 at_once = of_calls * CALLS_AHEAD / cost;
	__u64 of_all = (takes * CALLS_AHEAD_OF_ALL) / later_of(packet->bytes, 1);
	__u64 passes = is_less(ACK_MAX, packet->bytes) & is_less(packet->bytes, CALL_MAX + 1) & is_less(host->passed, now + 1) &
		       is_less(all->passed, now + of_all + 1) & is_less(queue->due, now + at_once + 1);
	__u64 talk = no_more(host->talk, TALK);

	talk -= talk * no_more(above(now, host->talked), TALK) >> TALK_SHIFT;
	host->talk = talk;
	host->talked = now;
	__u64 left = TALK - no_more(talk, TALK / CALLS_OF * CALLS_PART);

	__u64 of_flow = no_more((of_own * (flows + ONE) / ONE << TALK_SHIFT) / left, FARTHEST);

	of_flow = stretched(of_flow, host->work, host->latest, by->longest);
	of_flow = stretched(of_flow, all->work, all->latest, by->longest);

	/* Those that take turns. */
	__u64 turn = later_of(now, queue->next), due = turn, most = 2 * by->longest;

	due = later_of(due, above(host->work, by->longest));
	due = later_of(due, above(host->capped, by->longest));
	due = later_of(due, above(all->work, most));
	/* A flow's packets keep their order. */
	turn = one_of(passes, later_of(now, queue->due), turn);
	due = later_of(one_of(passes, now, due), queue->due);
	__u64 waits = due - now;

	/* Some may always wait, for twice as long: of a slow link a few packets take longer. */
	__u64 patience = all->work > now + by->fewest ? by->longest : most;

	if (waits > patience || one_of(passes, 0, host->work) > now + later_of(most, by->fewest))
		return DROPPED_CROWD;
	/* On a link that is shared a flow's next packet leaves a whole round later (ShaperConfig::codel in crates/gateway). What others have
	 * ordered is not its queue. */
	__u64 round = of_flow * MTU / later_of(packet->bytes, 1);
	__u64 target = later_of(by->target, no_more(round, by->longest) * 3 / 2);

	queue->turn = turn;
	queue->fate = judge_wait(&queue->codel, turn, turn - now, target, later_of(by->interval, 2 * target), packet->can_mark);
	/* What the law compared and what it said is read back: to the kernel's checker that is one thing, and not one for each way through the
	 * law. */
	asm volatile("" ::: "memory");
	__u64 fate = queue->fate;

	turn = queue->turn;

	if (fate == LAW_DROPS)
		return DROPPED_LATE;
	if (waits && !take_places(all->waiting, shift + COARSEST, now, due, packet->packets, by->places))
		return DROPPED_CROWD;
	__u64 work = later_of(host->work, now);

	be_busy(all->slots, ALL_SLOTS, shift, &host->own, weight, now, work, work + of_host);
	host->work = work + of_host;
	host->capped = later_of(host->capped, now) + of_cap;
	all->work = later_of(all->work, now) + takes;
	/* Other flows make room for a call by what calls have. */
	__u64 next = one_of(passes, queue->next, turn + of_flow);

	be_busy(host->flows, HOST_SLOTS, coarse, &queue->own, ONE, now, queue->next, next);
	queue->next = next;
	queue->due = due;
	next = one_of(passes, due + of_own, next);
	host->latest = later_of(host->latest, next);
	all->latest = later_of(all->latest, next);
	host->talk += one_of(passes, of_own, 0);
	host->passed = one_of(passes, later_of(host->passed, above(now, at_once)) + of_calls, host->passed);
	all->passed = one_of(passes, later_of(all->passed, now) + takes, all->passed);
	*departure = due;
	return fate == LAW_MARKS ? LEAVES_MARKED : LEAVES;
}

#endif
