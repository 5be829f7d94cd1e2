/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* TCP-GAP's gateway inside the kernel: two tc programs on each mesh interface.
 *
 * meshpace_down (egress, towards the mesh): data get an earliest departure time (skb->tstamp, honoured by sch_fq), T1
 * is noted per segment, the wired round trip goes into the ACKs that have room.
 * meshpace_up (ingress, from the mesh): T1 of data going up; ACKs tell wireless round trips, which go to user space.
 *
 * The programs measure and execute. The law, goodput control, hop counts and who is paced at all are user space's
 * (crates/daemon/src/ebpf), which writes `paces`, `settings` and `interfaces`; the programs write all the rest. Sequence
 * state of one connection may be touched by two CPUs at once (data and ACKs); what that can cost is a sample.
 *
 * Source: schemes.md section 3; skb->tstamp and EDT: net/sched/sch_fq.c. Needs Linux 5.8 (ring buffer), no BTF of it. */
#include "gateway.h"
#include "kernel.h"
#include "maps.h"
#include "packet.h"
#include "plausible.h"
#include "rtt_option.h"
#include "sequence.h"

#define TC_ACT_UNSPEC (-1) /* the next program, or go on (linux/pkt_cls.h) */
#define TC_ACT_SHOT 2

#define AF_INET 2
#define AF_INET6 10

#define MILLISECOND 1000000ull
#define SECOND 1000000000ull
/* Older round trips are stale entries, not measurements. */
#define RTT_MAX (60 * SECOND)
/* Segments of one unsegmented packet that are timed one by one: 64 KB of full-size ones and some. */
#define SEGMENTS_MAX 64
/* Most bytes of options that leave room for the RTT option (schemes.md 3.2). */
#define OPTIONS_MAX 32
/* Window scale assumed if the handshake was not seen (schemes.md 3.6). */
#define SCALE_UNSEEN 7

INLINE void add(__u32 counter, __u64 n)
{
	__u64 *value = bpf_map_lookup_elem(&counters, &counter);

	if (value)
		*value += n;
}

INLINE void tell(enum event_kind kind, __u64 now, __u64 rtt, const struct flow_key *key, const struct flow *flow)
{
	struct event event = {
		.at = now,
		.rtt = rtt,
		.segment = flow->segment,
		.window = flow->window,
		.kind = kind,
		.ttl = flow->ttl,
	};

	memcpy(&event.key, key, sizeof(*key));
	if (bpf_ringbuf_output(&events, &event, sizeof(event), 0))
		add(LOST_EVENTS, 1);
}

/* The settings in force; NULL if there is nobody to renew them. */
INLINE const struct settings *in_force(__u64 now)
{
	__u32 zero = 0;
	const struct settings *found = bpf_map_lookup_elem(&settings, &zero);

	return found && now < found->alive_until ? found : NULL;
}

/* Everything the steps of a packet need. */
struct context {
	struct __sk_buff *skb;
	__u64 now;
	struct flow_key key;
	struct packet packet;
	struct flow *flow;
	struct options *options;
	enum treatment treatment;
};

INLINE void note_handshake(struct context *c, enum side side)
{
	struct handshake fresh = {};
	struct handshake *known = bpf_map_lookup_elem(&handshakes, &c->key);

	/* A SYN without ACK begins anew: what an earlier connection offered is void. */
	if (known && c->packet.flags & TCP_ACK)
		memcpy(&fresh, known, sizeof(fresh));
	fresh.seen[side] = 1;
	fresh.offers[side] = c->options->has_scale;
	fresh.scale[side] = c->options->scale;
	bpf_map_update_elem(&handshakes, &c->key, &fresh, BPF_ANY);
}

/* What is known of the SYNs, if they were seen. */
INLINE void recall_handshake(struct context *c)
{
	const struct handshake *known = bpf_map_lookup_elem(&handshakes, &c->key);

	for (enum side side = WIRED; known && side <= WIRELESS; side++) {
		if (known->seen[side])
			offer(&c->flow->windows, side, known->offers[side], known->scale[side]);
	}
}

/* A connection begins with its first data. */
INLINE void open(struct context *c, bool ignored)
{
	__u32 zero = 0;
	const struct flow *template = bpf_map_lookup_elem(&blank, &zero);

	if (!template)
		return;
	if (!bpf_map_update_elem(&flows, &c->key, template, BPF_NOEXIST))
		c->flow = bpf_map_lookup_elem(&flows, &c->key);
	if (!c->flow) {
		add(UNTRACKED, 1);
		return;
	}
	c->flow->id = bpf_get_prandom_u32() & ~1u;
	c->flow->opened = c->flow->active = c->now;
	c->flow->ignored = ignored;
	c->flow->ttl = 0;
	recall_handshake(c);
}

INLINE void close(struct context *c)
{
	tell(CLOSED, c->now, 0, &c->key, c->flow);
	bpf_map_delete_elem(&flows, &c->key);
	c->flow = NULL;
}

/* Whether a packet from the mesh, which would open a connection, goes on to the wired side at all. */
INLINE bool leaves_mesh(struct context *c)
{
	struct bpf_fib_lookup fib = {.l4_protocol = IPPROTO_TCP, .ifindex = c->skb->ifindex};

	fib.sport = c->packet.source_port;
	fib.dport = c->packet.destination_port;
	if (c->packet.version == 4) {
		fib.family = AF_INET;
		fib.ipv4_src = c->packet.source[3];
		fib.ipv4_dst = c->packet.destination[3];
	} else {
		fib.family = AF_INET6;
		memcpy(fib.ipv6_src, c->packet.source, 16);
		memcpy(fib.ipv6_dst, c->packet.destination, 16);
	}
	long result = bpf_fib_lookup(c->skb, &fib, sizeof(fib), 0);
	if (result != BPF_FIB_LKUP_RET_SUCCESS && result != BPF_FIB_LKUP_RET_NO_NEIGH)
		return false;
	__u32 out = fib.ifindex;
	return !bpf_map_lookup_elem(&interfaces, &out);
}

/* Notes sequence numbers, windows and FINs of a segment that is believed. */
INLINE void note(struct context *c, enum side side)
{
	const struct packet *packet = &c->packet;
	struct half *own = side == WIRED ? &c->flow->down : &c->flow->up;
	struct half *other = side == WIRED ? &c->flow->up : &c->flow->down;
	__u32 end = packet->seq + sequence_length(packet);

	if (packet->flags & TCP_SYN)
		offer(&c->flow->windows, side, c->options->has_scale, c->options->scale);
	learn(&c->flow->windows, side, packet);
	if (packet->flags & TCP_FIN) {
		own->fin = end;
		own->has_fin = 1;
	}
	if (packet->flags & TCP_ACK && other->has_fin && !after(other->fin, packet->ack))
		other->fin_acked = 1;
	own->packets++;
	own->bytes += packet->ip_length;
	own->payload += packet->payload;
}

/* Notes when the segments of a packet pass. */
INLINE void stamp(struct context *c, struct half *half, enum side from, __u64 at)
{
	struct departure_key key = {.flow = c->flow->id + (from == WIRELESS)};
	__u32 start = c->packet.seq, end = start + sequence_length(&c->packet);
	__u32 size = c->skb->gso_size;

	if (!half->begun) {
		half->una = half->end = start;
		half->begun = 1;
	}
	if (pass(half, start, end) != FRESH)
		return;
	if (!size) {
		key.seq = from == WIRELESS ? start : end;
		bpf_map_update_elem(&departures, &key, &at, BPF_ANY);
		return;
	}
	for (int i = 0; i < SEGMENTS_MAX; i++) {
		if (!after(end, start))
			return;
		__u32 stop = end - start > size ? start + size : end;
		key.seq = from == WIRELESS ? start : stop;
		bpf_map_update_elem(&departures, &key, &at, BPF_ANY);
		start = stop;
	}
}

/* The round trip that an acknowledgement of `half` tells; 0 if none. */
INLINE __u64 round_trip(struct context *c, struct half *half, enum side data_from)
{
	struct departure_key key = {.flow = c->flow->id + (data_from == WIRELESS)};
	__u32 from, ack = c->packet.ack;
	bool timed;

	if (!half->begun || !(c->packet.flags & TCP_ACK) || !covers(half, ack, &from, &timed))
		return 0;
	key.seq = data_from == WIRELESS ? from : ack;
	const __u64 *at = timed ? bpf_map_lookup_elem(&departures, &key) : NULL;
	/* It acknowledges what still waits for its departure: an optimistic one, not to be believed. */
	if (at && *at >= c->now)
		return 0;
	acknowledge(half, ack);
	if (timed && !at)
		add(UNTIMED, 1);
	return at && c->now - *at < RTT_MAX ? c->now - *at : 0;
}

INLINE bool occupies(const struct packet *packet)
{
	return !(packet->flags & TCP_SYN) && sequence_length(packet);
}

/* The treatment of the packet's connection, by what user space wrote. */
INLINE const struct pace *look_up(struct context *c, const struct settings *settings)
{
	const struct pace *pace = bpf_map_lookup_elem(&paces, &c->key);

	c->flow = bpf_map_lookup_elem(&flows, &c->key);
	c->treatment = pace ? pace->treatment : settings->treatment;
	if (c->flow && c->flow->ignored)
		c->treatment = OFF;
	return pace;
}

/* Holds the packet against its connection, before anything else. What cannot be of it goes on and changes nothing; a RST
 * ends it and tells nothing more. False for both of them. */
INLINE bool is_believed(struct context *c, enum side side)
{
	/* Of use only once the connection is one to keep, so that a made-up one does no harm. */
	if (c->packet.flags & TCP_SYN)
		note_handshake(c, side);
	enum judgement judgement = c->flow ? judge(&c->flow->windows, side, &c->packet) : PLAUSIBLE;
	if (judgement == IMPLAUSIBLE) {
		add(UNBELIEVED, 1);
		c->flow = NULL;
		return false;
	}
	if (judgement == ANEW)
		close(c);
	if (!(c->packet.flags & TCP_RST))
		return true;
	if (c->flow) {
		/* It follows the data that wait. */
		if (side == WIRED && c->treatment == PACE && c->flow->departure > c->now) {
			c->skb->tstamp = c->flow->departure;
			bpf_set_hash(c->skb, c->flow->id);
		}
		close(c);
	}
	return false;
}

/* Whether a packet that is believed makes its connection one to keep. */
INLINE bool opens(const struct context *c)
{
	return !c->flow && c->packet.payload && !(c->packet.flags & TCP_SYN);
}

/* Takes places among the packets that wait, until `due`. False if there are none left. */
INLINE bool take_places(__u64 now, __u64 due, __u32 packets, __u32 places)
{
	__u32 zero = 0;
	struct waiting *known = bpf_map_lookup_elem(&waiting, &zero);
	__u64 taken = 0;

	if (!known)
		return false;
	for (int i = 0; i < SLOTS; i++) {
		if (known->slots[i].time >= now >> SLOT_SHIFT)
			taken += known->slots[i].packets;
	}
	if (taken + packets > places)
		return false;
	struct slot *slot = &known->slots[due >> SLOT_SHIFT & (SLOTS - 1)];

	if (slot->time != due >> SLOT_SHIFT) {
		slot->time = due >> SLOT_SHIFT;
		slot->packets = 0;
	}
	__sync_fetch_and_add(&slot->packets, packets);
	return true;
}

/* Gives data towards the mesh their departure. Returns it, or 0 if too much waits already. */
INLINE __u64 schedule(struct context *c, const struct pace *pace, const struct settings *settings)
{
	struct flow *flow = c->flow;
	__u64 interval = pace && c->treatment == PACE ? pace->interval : 0;
	/* One interval after the last, in the interval in force now; at once and alone after idling (schemes.md 1.5). */
	__u64 due = flow->departure + interval;

	if (!interval || due <= c->now)
		due = c->now;
	/* What was queued under an interval that is gone must not be overtaken. */
	if (due < flow->departure)
		due = flow->departure;
	__u64 wait = due - c->now;
	if (wait > settings->horizon || (interval && wait > (__u64)pace->packets * interval)) {
		flow->drops++;
		return 0;
	}
	if (wait && !take_places(c->now, due, c->skb->gso_segs > 1 ? c->skb->gso_segs : 1, settings->places)) {
		/* Others hold what there is: it goes on unpaced, unless it would overtake its own. */
		if (flow->departure > c->now) {
			flow->drops++;
			return 0;
		}
		add(OVERFLOWED, 1);
		due = c->now;
		wait = 0;
	}
	flow->departure = due;
	if (c->skb->gso_segs > 1) {
		/* It leaves as a burst; those behind it wait until its segments would have left. */
		add(SUPER_PACKETS, 1);
		flow->departure += (c->skb->gso_segs - 1) * interval;
	}
	if (wait) {
		c->skb->tstamp = due;
		/* sch_fq sorts packets without a socket by hash: paced flows get a queue of their own. */
		bpf_set_hash(c->skb, flow->id);
		flow->delayed++;
		add(DELAYED, 1);
	} else {
		add(FORWARDED, 1);
	}
	return due;
}

/* Writes the wired round trip into an ACK, in place of any it carries, and removes what else is foreign. */
INLINE void rewrite(struct context *c, __u64 wired_rtt)
{
	struct options *options = c->options;
	__u64 milliseconds = (wired_rtt + MILLISECOND / 2) / MILLISECOND;
	__be16 value = BE16(milliseconds > 0xffff ? 0xffff : milliseconds);

	if (c->treatment != PACE)
		return;
	bool writes = wired_rtt && !c->packet.payload && !(c->packet.flags & (TCP_SYN | TCP_FIN | TCP_RST));
	bool written = false;
	if (options->count) {
		const __u8 nops[RTT_LENGTH] = {OPTION_NOP, OPTION_NOP, OPTION_NOP, OPTION_NOP, OPTION_NOP, OPTION_NOP};

		for (__u32 k = 0; k < RTT_OPTIONS_MAX && k < options->count; k++)
			overwrite(c->skb, &c->packet, options->positions[k], nops);
		add(STRIPPED, options->count);
		if (writes) {
			__u8 option[RTT_LENGTH] = {OPTION_EXPERIMENT, RTT_LENGTH, RTT_EXPERIMENT >> 8, RTT_EXPERIMENT & 0xff};

			memcpy(option + 4, &value, 2);
			written = overwrite(c->skb, &c->packet, options->positions[0], option);
		}
	} else if (writes) {
		written = options->whole && c->packet.header <= sizeof(struct tcphdr) + OPTIONS_MAX &&
			  append(c->skb, &c->packet, value);
	}
	if (writes && c->flow) {
		c->flow->options += written;
		add(written ? OPTIONS : NO_ROOM, 1);
	}
}

/* Reads the headers and counts. False if the packet is none of ours. */
INLINE bool receive(struct context *c)
{
	__u32 ifindex = c->skb->ifindex;
	const __u32 *ip = bpf_map_lookup_elem(&interfaces, &ifindex);

	if (!ip)
		return false;
	add(PACKETS, 1);
	add(BYTES, c->skb->len - *ip);
	enum counter unread = parse(c->skb, *ip, &c->packet);
	if (unread != COUNTERS) {
		add(unread, 1);
		return false;
	}
	/* Here and not where it is needed: the verifier walks the loop once for every state that leads to it. */
	__u32 zero = 0;
	c->options = bpf_map_lookup_elem(&workplace, &zero);
	if (!c->options)
		return false;
	read_options(c->skb, &c->packet, c->options);
	if (c->options->is_signed) {
		add(SIGNED, 1);
		return false;
	}
	return true;
}

SEC("classifier")
int meshpace_down(struct __sk_buff *skb)
{
	struct context c = {.skb = skb, .now = bpf_ktime_get_ns()};
	const struct settings *settings = in_force(c.now);
	__u32 from = skb->ingress_ifindex;

	if (!settings || !receive(&c))
		return TC_ACT_UNSPEC;
	/* The gateway's own packets, and those from mesh to mesh. */
	if (!from || bpf_map_lookup_elem(&interfaces, &from)) {
		add(NOT_CROSSING, 1);
		return TC_ACT_UNSPEC;
	}
	memcpy(c.key.wireless, c.packet.destination, 16);
	memcpy(c.key.wired, c.packet.source, 16);
	c.key.wireless_port = c.packet.destination_port;
	c.key.wired_port = c.packet.source_port;
	const struct pace *pace = look_up(&c, settings);
	if (c.treatment == OFF) {
		add(OFF_PACKETS, 1);
		return TC_ACT_UNSPEC;
	}
	bool fresh = is_believed(&c, WIRED) && opens(&c);
	if (fresh)
		open(&c, false);
	if (c.flow) {
		__u32 size = skb->gso_size ? skb->gso_size : c.packet.payload;

		c.flow->active = c.now;
		note(&c, WIRED);
		if (size > c.flow->segment)
			c.flow->segment = size;
		if (fresh)
			tell(OPENED, c.now, 0, &c.key, c.flow);
	}
	if (!c.flow) {
		add(FORWARDED, 1);
		rewrite(&c, 0);
		return TC_ACT_UNSPEC;
	}
	__u64 wired_rtt = round_trip(&c, &c.flow->up, WIRELESS);
	if (wired_rtt) {
		c.flow->wired_rtt = wired_rtt;
		tell(WIRED_SAMPLE, c.now, wired_rtt, &c.key, c.flow);
	}
	if (occupies(&c.packet)) {
		__u64 due = schedule(&c, pace, settings);

		if (!due) {
			add(DROPPED, 1);
			return TC_ACT_SHOT;
		}
		if (c.flow->down.begun || c.packet.payload)
			stamp(&c, &c.flow->down, WIRED, due);
	} else {
		add(FORWARDED, 1);
	}
	rewrite(&c, wired_rtt);
	if (c.flow->down.fin_acked && c.flow->up.fin_acked)
		close(&c);
	return TC_ACT_UNSPEC;
}

SEC("classifier")
int meshpace_up(struct __sk_buff *skb)
{
	struct context c = {.skb = skb, .now = bpf_ktime_get_ns()};
	const struct settings *settings = in_force(c.now);

	if (!settings || !receive(&c))
		return TC_ACT_UNSPEC;
	memcpy(c.key.wireless, c.packet.source, 16);
	memcpy(c.key.wired, c.packet.destination, 16);
	c.key.wireless_port = c.packet.source_port;
	c.key.wired_port = c.packet.destination_port;
	look_up(&c, settings);
	if (c.treatment == OFF) {
		add(OFF_PACKETS, 1);
		return TC_ACT_UNSPEC;
	}
	if (is_believed(&c, WIRELESS) && opens(&c)) {
		bool crosses = leaves_mesh(&c);

		open(&c, !crosses);
		if (!crosses) {
			add(NOT_CROSSING, 1);
			return TC_ACT_UNSPEC;
		}
		if (c.flow) {
			c.flow->ttl = c.packet.ttl;
			tell(OPENED, c.now, 0, &c.key, c.flow);
		}
	}
	if (c.flow) {
		struct flow *flow = c.flow;

		flow->active = c.now;
		flow->ttl = c.packet.ttl;
		note(&c, WIRELESS);
		/* Never scaled in a SYN (RFC 7323, section 2.2). */
		__u8 scale = c.packet.flags & TCP_SYN ? 0 : scale_of(&flow->windows, WIRELESS, SCALE_UNSEEN);
		__u32 window = (__u32)c.packet.window << scale;
		if (window > flow->window)
			flow->window = window;
		if (occupies(&c.packet) && (flow->up.begun || c.packet.payload))
			stamp(&c, &flow->up, WIRELESS, c.now);
		__u64 rtt = round_trip(&c, &flow->down, WIRED);
		if (rtt)
			tell(SAMPLE, c.now, rtt, &c.key, flow);
	}
	add(FORWARDED, 1);
	rewrite(&c, 0);
	if (c.flow && c.flow->down.fin_acked && c.flow->up.fin_acked)
		close(&c);
	return TC_ACT_UNSPEC;
}

/* The kernel allows these helpers to programs of a GPL-compatible licence only; MIT with GPL is how it spells ours. */
SEC("license") const char LICENSE[] = "Dual MIT/GPL";
