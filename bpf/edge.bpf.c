/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Thin acknowledgements at the mesh's edge: a tc program on what an interface sends into the mesh.
 *
 * A pure acknowledgement that says no more than that more has arrived is kept in a map, in place of an older one of its
 * connection, and goes nowhere, unless the rules of thin.h let it pass. User space (crates/daemon/src/edge) is told once a
 * connection has something in that map; if nothing newer has come by the deadline, it sends what is there through a packet
 * socket. That comes by here again, with a mark, and passes if it still is the newest: so nobody has to keep in step with
 * whatever passed meanwhile. What the map or the ring has no place for passes.
 *
 * Needs Linux 5.8 (ring buffer), no BTF of it. */
#include "edge.h"
#include "interfaces.h"
#include "kernel.h"
#include "packet.h"
#include "rtt_option.h"
#include "thin.h"

#define TC_ACT_UNSPEC (-1) /* the next program, or go on (linux/pkt_cls.h) */

/* What is kept and not sent for so long after its deadline shows that nobody sends: then nothing is kept until the next sign
 * of life. */
#define LATE 1000000000ull

/* Sizes that user space replaces by those of the configuration. */
struct {
	NUMBER(type, BPF_MAP_TYPE_LRU_HASH);
	NUMBER(max_entries, 16384);
	TYPE(key, struct ends);
	TYPE(value, struct thin_flow);
} flows SEC(".maps");

/* No least recently used one goes here: a flood cannot push out what is kept. */
struct {
	NUMBER(type, BPF_MAP_TYPE_HASH);
	NUMBER(max_entries, 4096);
	NUMBER(map_flags, BPF_F_NO_PREALLOC);
	TYPE(key, struct ends);
	TYPE(value, struct held);
} held SEC(".maps");

struct {
	NUMBER(type, BPF_MAP_TYPE_ARRAY);
	NUMBER(max_entries, 1);
	TYPE(key, __u32);
	TYPE(value, struct thinning);
} settings SEC(".maps");

struct {
	NUMBER(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	NUMBER(max_entries, EDGE_COUNTERS);
	TYPE(key, __u32);
	TYPE(value, __u64);
} counters SEC(".maps");

/* The packet at hand; a processor works on one packet at a time. */
struct workplace {
	struct options options;
	struct held held;
};

struct {
	NUMBER(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	NUMBER(max_entries, 1);
	TYPE(key, __u32);
	TYPE(value, struct workplace);
} workplace SEC(".maps");

struct {
	NUMBER(type, BPF_MAP_TYPE_RINGBUF);
	NUMBER(max_entries, 1 << 17);
} events SEC(".maps");

struct edge {
	struct __sk_buff *skb;
	__u64 now;
	struct thinning *thinning;
	struct workplace *workplace;
	struct thin_flow *flow;
	struct ends ends;
	struct packet packet;
};

INLINE void add(__u32 counter)
{
	__u64 *value = bpf_map_lookup_elem(&counters, &counter);

	if (value)
		*value += 1;
}

INLINE bool tell(struct edge *e, enum told told, __u32 ack)
{
	struct edge_event event = {.at = e->now, .ack = ack, .told = told};

	memcpy(&event.ends, &e->ends, sizeof(event.ends));
	return !bpf_ringbuf_output(&events, &event, sizeof(event), 0);
}

/* The packet ends here, and its sender is not to know: nobody has interface 0. TC_ACT_SHOT is told to the host's own TCP,
 * which takes it for congestion and halves its window (net/ipv4/tcp_output.c, __tcp_transmit_skb); TC_ACT_STOLEN is none of
 * the verdicts of TCX (include/net/tcx.h, tcx_action_code; Linux 6.18). */
INLINE int swallow(void)
{
	return bpf_redirect(0, 0);
}

/* Keeps the packet in place of an older one of its connection. False if it cannot be. */
INLINE bool keep(struct edge *e)
{
	struct held *kept = &e->workplace->held;
	/* Less one: the verifier of Linux 6.1 does not learn from a comparison with 0 that a length is none. */
	__u64 length = e->packet.ip + e->packet.ip_length - 1;
	bool known = bpf_map_lookup_elem(&held, &e->ends);

	/* The compiler may not forget the bound between here and the call. */
	asm volatile("" : "+r"(length));
	if (length >= FRAME_MAX || bpf_skb_load_bytes(e->skb, 0, kept->frame, length + 1)) {
		add(EDGE_NO_PLACE);
		return false;
	}
	kept->at = e->now;
	kept->interface = e->skb->ifindex;
	kept->ack = e->packet.ack;
	kept->length = length + 1;
	kept->ip = e->packet.ip;
	kept->vlan_protocol = e->skb->vlan_present ? e->skb->vlan_proto : 0;
	kept->vlan_tci = e->skb->vlan_tci;
	if (bpf_map_update_elem(&held, &e->ends, kept, BPF_ANY)) {
		add(EDGE_NO_PLACE);
		return false;
	}
	if (!known && !tell(e, KEPT, e->packet.ack)) {
		bpf_map_delete_elem(&held, &e->ends);
		add(EDGE_LOST_EVENTS);
		return false;
	}
	e->flow->held = 1;
	return true;
}

/* Something passes that stands for what waits. */
INLINE void replace(struct edge *e)
{
	if (e->flow->held)
		bpf_map_delete_elem(&held, &e->ends);
	e->flow->held = 0;
}

/* Something passes beside what waits, which follows at once: if that is a repeat its sender counts both, and if it is older
 * what waits is still news. A newer one, and data with the same number, stand for it. */
INLINE void yield(struct edge *e)
{
	const struct held *kept = e->flow->held ? bpf_map_lookup_elem(&held, &e->ends) : NULL;

	e->flow->held = 0;
	if (!kept)
		return;
	bool repeats = e->packet.ack == kept->ack && !sequence_length(&e->packet);
	bool tells = !(e->packet.flags & (TCP_SYN | TCP_RST)) && (repeats || before(e->packet.ack, kept->ack));

	/* If the ring is full, it goes at its deadline. */
	if (tells)
		tell(e, YIELDS, kept->ack);
	else
		bpf_map_delete_elem(&held, &e->ends);
}

/* What user space sends in its place passes if it still is the newest. */
INLINE int let_go(struct edge *e)
{
	const struct held *kept = bpf_map_lookup_elem(&held, &e->ends);

	if (!kept || kept->ack != e->packet.ack) {
		add(EDGE_OVERTAKEN);
		return swallow();
	}
	bpf_map_delete_elem(&held, &e->ends);
	if (e->flow && e->flow->held) {
		e->flow->held = 0;
		waited(e->flow, e->thinning->tail);
	}
	add(EDGE_SENT);
	return TC_ACT_UNSPEC;
}

/* A SYN: how window fields will be scaled. Without the option they are not (RFC 7323, section 2.2). */
INLINE void note_scale(struct edge *e)
{
	const struct options *options = &e->workplace->options;
	__u8 scale = options->has_scale ? options->scale : 0;
	struct thin_flow flow = {.scale = scale < SCALE_MAX ? scale : SCALE_MAX, .begins = 1};

	begin(&flow, &e->packet, e->now);
	bpf_map_update_elem(&flows, &e->ends, &flow, BPF_ANY);
}

/* The first acknowledgement of its connection. */
INLINE void know(struct edge *e)
{
	struct thin_flow flow = {.scale = e->flow ? e->flow->scale : SCALE_UNKNOWN};

	begin(&flow, &e->packet, e->now);
	/* One that was forgotten may have left something. */
	bpf_map_delete_elem(&held, &e->ends);
	bpf_map_update_elem(&flows, &e->ends, &flow, BPF_ANY);
}

/* Reads the headers. False if the packet is none of ours. */
INLINE bool receive(struct edge *e)
{
	__u32 zero = 0, ifindex = e->skb->ifindex;
	const __u32 *ip = bpf_map_lookup_elem(&interfaces, &ifindex);

	e->thinning = bpf_map_lookup_elem(&settings, &zero);
	e->workplace = bpf_map_lookup_elem(&workplace, &zero);
	if (!ip || !e->thinning || !e->workplace || e->now >= e->thinning->alive_until)
		return false;
	add(EDGE_PACKETS);
	enum counter unread = parse(e->skb, *ip, &e->packet);

	if (unread != COUNTERS) {
		add(unread);
		return false;
	}
	if (!(e->packet.flags & (TCP_ACK | TCP_RST | TCP_SYN)))
		return false;
	memcpy(e->ends.source, e->packet.source, 16);
	memcpy(e->ends.destination, e->packet.destination, 16);
	e->ends.source_port = e->packet.source_port;
	e->ends.destination_port = e->packet.destination_port;
	e->flow = bpf_map_lookup_elem(&flows, &e->ends);
	return true;
}

SEC("classifier")
int meshpace_edge(struct __sk_buff *skb)
{
	struct edge e = {.skb = skb, .now = bpf_ktime_get_ns()};

	if (!receive(&e))
		return TC_ACT_UNSPEC;
	/* Here and not where it is needed: the verifier walks the loop once for every state that leads to it. */
	struct options *options = &e.workplace->options;
	if (e.packet.header > sizeof(struct tcphdr))
		read_options(skb, &e.packet, options);
	else
		options->has_scale = options->others = 0;
	if (e.packet.flags & (TCP_SYN | TCP_FIN | TCP_RST)) {
		if (e.flow)
			yield(&e);
		if (!(e.packet.flags & (TCP_FIN | TCP_RST)))
			note_scale(&e);
		else if (e.flow)
			bpf_map_delete_elem(&flows, &e.ends);
		return TC_ACT_UNSPEC;
	}
	if (skb->mark == SENT_MARK && !e.packet.payload)
		return let_go(&e);
	if (!e.flow || e.flow->begins) {
		know(&e);
		return TC_ACT_UNSPEC;
	}
	if (!e.packet.payload)
		add(EDGE_ACKS);
	if (e.flow->held && span_since(e.now, e.flow->at) > e.thinning->tail + LATE) {
		e.thinning->alive_until = 0;
		add(EDGE_LATE);
	}
	switch (thin(e.flow, &e.packet, is_plain(&e.packet, options->others), e.thinning, e.now)) {
	case NEWS:
		if (!e.packet.payload)
			add(EDGE_NEWS);
		yield(&e);
		return TC_ACT_UNSPEC;
	case WAITS:
		if (keep(&e)) {
			add(EDGE_WITHHELD);
			return swallow();
		}
		passes(e.flow, e.now);
		break;
	case PASSES:
		break;
	}
	replace(&e);
	return TC_ACT_UNSPEC;
}

/* The kernel allows these helpers to programs of a GPL-compatible licence only; MIT with GPL is how it spells ours. */
SEC("license") const char LICENSE[] = "Dual MIT/GPL";
