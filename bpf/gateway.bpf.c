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
#include "connection.h"
#include "context.h"
#include "departure.h"
#include "round_trip.h"
#include "rtt_option.h"

#define TC_ACT_UNSPEC (-1) /* the next program, or go on (linux/pkt_cls.h) */
#define TC_ACT_SHOT 2

#define MILLISECOND 1000000ull
/* Most bytes of options that leave room for the RTT option (schemes.md 3.2). */
#define OPTIONS_MAX 32
/* Window scale assumed if the handshake was not seen (schemes.md 3.6). */
#define SCALE_UNSEEN 7

INLINE bool occupies(const struct packet *packet)
{
	return !(packet->flags & TCP_SYN) && sequence_length(packet);
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
		if (writes) {
			__u8 option[RTT_LENGTH] = {OPTION_EXPERIMENT, RTT_LENGTH, RTT_EXPERIMENT >> 8, RTT_EXPERIMENT & 0xff};

			memcpy(option + 4, &value, 2);
			written = overwrite(c->skb, &c->packet, options->positions[0], option);
		}
	} else if (writes) {
		written = options->whole && c->packet.header <= sizeof(struct tcphdr) + OPTIONS_MAX &&
			  append(c->skb, &c->packet, value);
	}
	if (c->flow)
		c->flow->options += written;
}

#define TCP_WINDOW 14 /* offset in the header */

/* Announces no more to the wired sender than its pace has room for. Without the handshake nobody knows what the field counts. */
INLINE void limit_window(struct context *c, const struct pace *pace)
{
	struct flow *flow = c->flow;
	const struct packet *packet = &c->packet;
	const struct window *halves = flow->windows.halves;

	if (!(packet->flags & TCP_ACK) || packet->flags & (TCP_SYN | TCP_RST) || !halves[WIRED].seen || !halves[WIRELESS].seen)
		return;
	__u32 scale = scale_of(&flow->windows, WIRELESS, 0) & 15;
	/* What its sender was told before is not known. */
	bool limits = pace && c->treatment == PACE && flow->announced.has_told;
	__u16 field = announce(&flow->announced, packet->ack, packet->window, scale, !packet->payload && !(packet->flags & TCP_FIN),
			       limits ? pace->window : 0, limits ? pace->segment : 0);
	flow->limited = 0;
	if (field >= packet->window)
		return;
	__be16 old = BE16(packet->window), new = BE16(field);

	if (!bpf_skb_store_bytes(c->skb, packet->tcp + TCP_WINDOW, &new, sizeof(new), 0)) {
		bpf_l4_csum_replace(c->skb, packet->tcp + TCP_CHECKSUM, old, new, sizeof(new));
		flow->limited = (__u32)field << scale;
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

	c.shaped = shaped(skb, c.now);
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
	bool single;
	__u64 wired_rtt = round_trip(&c, &c.flow->up, WIRELESS, false, &single);
	if (wired_rtt) {
		c.flow->wired_rtt = wired_rtt;
		tell(WIRED_SAMPLE, c.now, wired_rtt, &c.key, c.flow);
	}
	if (occupies(&c.packet)) {
		__u64 due = schedule(&c, pace, settings);
		enum passage passage = STALE;

		if (!due) {
			add(DROPPED, 1);
			return TC_ACT_SHOT;
		}
		if (c.flow->down.begun || c.packet.payload)
			passage = stamp(&c, &c.flow->down, WIRED, due);
		if (passage == LATE && settings->finds)
			tell_again(&c, due);
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
	const struct pace *pace = look_up(&c, settings);
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
		limit_window(&c, pace);
		bool single = false;
		__u64 rtt = round_trip(&c, &flow->down, WIRED, settings->finds, &single);
		if (rtt && is_time(&c, settings->apart))
			tell_of(SAMPLE, c.now, rtt, single, &c.key, flow);
	}
	add(FORWARDED, 1);
	rewrite(&c, 0);
	if (c.flow && c.flow->down.fin_acked && c.flow->up.fin_acked)
		close(&c);
	return TC_ACT_UNSPEC;
}

/* The kernel allows these helpers to programs of a GPL-compatible licence only; MIT with GPL is how it spells ours. */
SEC("license") const char LICENSE[] = "Dual MIT/GPL";
