/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The shaper of hosts inside the kernel: a tc program on what a mesh interface sends. All IP that is forwarded into the mesh is told
 * apart by mesh host and flow, and gets an earliest departure time (skb->tstamp, honoured by sch_fq), a mark, or is dropped. Another one, on
 * what the interface receives, acts where user space finds the rate (telling.h).
 *
 * It comes before meshpace_down (gateway.bpf.c), which takes that time for its own measurements. What is agreed about hosts, and the rate,
 * user space writes (crates/daemon/src/ebpf/shaping); shares.h says who gets how much. Needs Linux 5.8, no BTF of it. */
#include "interfaces.h"
#include "kernel.h"
#include "packet.h"
#include "shaping.h"
#include "shares.h"
#include "telling.h"

#define TC_ACT_UNSPEC (-1) /* the next program, or go on (linux/pkt_cls.h) */
#define TC_ACT_SHOT 2

#define ECN_MASK 3
#define ECN_NOT_ECT 0
/* What goes before the payload of each segment of an unsegmented packet: headers of IP, and of TCP with timestamps. */
#define TCP_HEADERS 32

static __u32 (*bpf_get_hash_recalc)(struct __sk_buff *skb) = (void *)BPF_FUNC_get_hash_recalc;

struct {
	NUMBER(type, BPF_MAP_TYPE_ARRAY);
	NUMBER(max_entries, 1);
	TYPE(key, __u32);
	TYPE(value, struct shaping);
} settings SEC(".maps");

/* What the configuration says of the hosts of a prefix. */
struct {
	NUMBER(type, BPF_MAP_TYPE_LPM_TRIE);
	NUMBER(max_entries, 1024);
	NUMBER(map_flags, BPF_F_NO_PREALLOC);
	TYPE(key, struct prefix_key);
	TYPE(value, struct terms);
} prefixes SEC(".maps");

/* What is known of a host besides: what it costs, and what its path was found to carry. Sizes that user space replaces by its own. */
struct {
	NUMBER(type, BPF_MAP_TYPE_HASH);
	NUMBER(max_entries, 1024);
	NUMBER(map_flags, BPF_F_NO_PREALLOC);
	TYPE(key, struct host_key);
	TYPE(value, struct terms);
} agreed SEC(".maps");

struct {
	NUMBER(type, BPF_MAP_TYPE_LRU_HASH);
	NUMBER(max_entries, 1024);
	TYPE(key, struct host_key);
	TYPE(value, struct host);
} hosts SEC(".maps");

struct queue_key {
	struct host_key host;
	__u32 flow;
};

struct {
	NUMBER(type, BPF_MAP_TYPE_LRU_HASH);
	NUMBER(max_entries, 65536);
	TYPE(key, struct queue_key);
	TYPE(value, struct queue);
} queues SEC(".maps");

struct {
	NUMBER(type, BPF_MAP_TYPE_ARRAY);
	NUMBER(max_entries, 1);
	TYPE(key, __u32);
	TYPE(value, struct all);
} all SEC(".maps");

/* The packet at hand; a processor works on one packet at a time. What the kernel's checker knows of a variable it forgets of a map, and so
 * looks once at what follows, and not once for every way to there. */
struct workplace {
	struct queue_key key;
	struct packet_to_shape packet;
	struct terms terms;
	struct told told;
	bool is_tcp;
	bool spins;
};

struct {
	NUMBER(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	NUMBER(max_entries, 1);
	TYPE(key, __u32);
	TYPE(value, struct workplace);
} workplace SEC(".maps");

/* A new host is a copy of this; too large for the stack. */
struct {
	NUMBER(type, BPF_MAP_TYPE_ARRAY);
	NUMBER(max_entries, 1);
	TYPE(key, __u32);
	TYPE(value, struct host);
} blank SEC(".maps");

/* Reads where an IP packet goes. False if it is none, or ends before. */
INLINE bool read_destination(struct __sk_buff *skb, __u32 ip, struct host_key *to, struct packet_to_shape *packet, bool *is_tcp)
{
	__be16 protocol = skip_tags(skb, &ip);
	__u32 length, header;
	__u8 ecn;

	if (skb->len < ip)
		return false;
	if (protocol == BE16(ETH_P_IP)) {
		struct iphdr read;

		if (bpf_skb_load_bytes(skb, ip, &read, sizeof(read)) || read.version != 4)
			return false;
		to->address[0] = to->address[1] = 0;
		to->address[2] = BE32(0xffff);
		to->address[3] = read.daddr;
		*is_tcp = read.protocol == IPPROTO_TCP;
		ecn = read.tos & ECN_MASK;
		length = BE16(read.tot_len);
		header = sizeof(read) + TCP_HEADERS;
	} else if (protocol == BE16(ETH_P_IPV6)) {
		struct ipv6hdr read;

		if (bpf_skb_load_bytes(skb, ip, &read, sizeof(read)) || read.version != 6)
			return false;
		memcpy(to->address, &read.daddr, 16);
		*is_tcp = read.nexthdr == IPPROTO_TCP;
		/* The traffic class straddles the first two bytes (RFC 8200, section 3). */
		ecn = read.flow_lbl[0] >> 4 & ECN_MASK;
		length = BE16(read.payload_len) + sizeof(read);
		header = sizeof(read) + TCP_HEADERS;
	} else {
		return false;
	}
	packet->can_mark = ecn != ECN_NOT_ECT;
	packet->packets = skb->gso_segs > 1 ? skb->gso_segs : 1;
	/* Ethernet pads short frames; what is not segmented yet is longer than its header can say. */
	packet->bytes = skb->gso_size ? skb->len - ip + (packet->packets - 1) * header : length;
	return length <= skb->len - ip || skb->gso_size;
}

/* What is agreed about whom the packet goes to, who may stand for several from here on. */
INLINE void agree(struct host_key *to, const struct shaping *by, struct terms *terms)
{
	struct prefix_key prefix = {.bits = 128};

	memcpy(prefix.address, to->address, 16);
	const struct terms *found = bpf_map_lookup_elem(&prefixes, &prefix);

	memcpy(terms, found ? found : &by->terms, sizeof(*terms));
	for (__u32 i = 0; terms->mask && i < 4; i++) {
		/* So many bits of this word stand. */
		__u32 stand = no_more(above(terms->mask, 32 * i), 32);

		to->address[i] &= BE32((__u32)(0xffffffffull << 32 >> stand));
	}
	const struct terms *known = bpf_map_lookup_elem(&agreed, to);
	if (known)
		memcpy(terms, known, sizeof(*terms));
}

INLINE struct host *known_host(const struct host_key *key)
{
	struct host *host = bpf_map_lookup_elem(&hosts, key);
	__u32 zero = 0;

	if (host)
		return host;
	const struct host *template = bpf_map_lookup_elem(&blank, &zero);
	if (!template || bpf_map_update_elem(&hosts, key, template, BPF_NOEXIST))
		return NULL;
	return bpf_map_lookup_elem(&hosts, key);
}

INLINE struct queue *known_queue(const struct queue_key *key)
{
	struct queue *queue = bpf_map_lookup_elem(&queues, key), fresh = {};

	if (queue)
		return queue;
	if (bpf_map_update_elem(&queues, key, &fresh, BPF_NOEXIST))
		return NULL;
	return bpf_map_lookup_elem(&queues, key);
}

INLINE void count(struct shaped *shaped, enum verdict verdict, const struct packet_to_shape *packet, __u64 cost)
{
	if (verdict == DROPPED_LATE || verdict == DROPPED_CROWD) {
		__sync_fetch_and_add(&shaped->dropped, packet->packets);
		if (verdict == DROPPED_CROWD)
			__sync_fetch_and_add(&shaped->crowded, packet->packets);
		return;
	}
	__sync_fetch_and_add(&shaped->packets, packet->packets);
	__sync_fetch_and_add(&shaped->bytes, packet->bytes);
	__sync_fetch_and_add(&shaped->cost, cost);
	if (verdict == LEAVES_MARKED)
		__sync_fetch_and_add(&shaped->marked, packet->packets);
}

SEC("classifier")
int meshpace_shape(struct __sk_buff *skb)
{
	__u32 zero = 0, from = skb->ingress_ifindex, to = skb->ifindex;
	const struct shaping *by = bpf_map_lookup_elem(&settings, &zero);
	const __u32 *ip = bpf_map_lookup_elem(&interfaces, &to);
	struct all *everybody = bpf_map_lookup_elem(&all, &zero);
	struct workplace *at = bpf_map_lookup_elem(&workplace, &zero);

	if (!by || !ip || !everybody || !at)
		return TC_ACT_UNSPEC;
	at->packet.now = bpf_ktime_get_ns();
	if (at->packet.now >= by->alive_until)
		return TC_ACT_UNSPEC;
	/* The gateway's own packets. */
	if (!from)
		return TC_ACT_UNSPEC;
	/* From mesh to mesh. */
	if (bpf_map_lookup_elem(&interfaces, &from)) {
		__sync_fetch_and_add(&everybody->uplink, 0 - (__u64)(skb->len - *ip));
		return TC_ACT_UNSPEC;
	}
	if (!read_destination(skb, *ip, &at->key.host, &at->packet, &at->is_tcp))
		return TC_ACT_UNSPEC;
	if (by->finds) {
		memcpy(at->told.ends.wireless, at->key.host.address, 16);
		at->spins = read_spin(skb, *ip, &at->told.ends, &at->told.bit, true);
	}
	agree(&at->key.host, by, &at->terms);
	at->key.flow = bpf_get_hash_recalc(skb);
	struct host *host = known_host(&at->key.host);
	struct queue *queue = known_queue(&at->key);

	if (!host || !queue)
		return TC_ACT_UNSPEC;
	const struct packet_to_shape packet = at->packet;
	__u64 departure = 0;
	enum verdict verdict = depart(everybody, host, queue, by, &at->terms, &packet, &departure);
	__u64 cost = cost_of(&packet, by, &at->terms);

	host->seen = packet.now;
	count(&host->shaped, verdict, &packet, cost);
	count(&everybody->shaped, verdict, &packet, cost);
	if (verdict == DROPPED_LATE || verdict == DROPPED_CROWD)
		return TC_ACT_SHOT;
	__u64 waits = departure - packet.now;

	host->wait = host->wait ? (host->wait * 7 + waits) / 8 : waits;
	if (by->finds) {
		at->told.host = at->key.host;
		keep_company(everybody, at->key.flow, at->is_tcp || at->spins, packet.bytes, waits, packet.now);
		if (at->spins)
			tell_spin(&at->told, everybody, SPIN_INTO, packet.now, departure);
		tell_left(&at->told, everybody, host, &at->key.host, packet.now);
	}
	if (verdict == LEAVES_MARKED)
		bpf_skb_ecn_set_ce(skb);
	if (waits)
		skb->tstamp = departure;
	return TC_ACT_UNSPEC;
}

SEC("classifier")
int meshpace_hear(struct __sk_buff *skb)
{
	__u32 zero = 0, on = skb->ifindex;
	const struct shaping *by = bpf_map_lookup_elem(&settings, &zero);
	const __u32 *ip = bpf_map_lookup_elem(&interfaces, &on);
	struct all *everybody = bpf_map_lookup_elem(&all, &zero);
	struct workplace *at = bpf_map_lookup_elem(&workplace, &zero);

	if (!by || !by->finds || !ip || !everybody || !at || skb->len < *ip)
		return TC_ACT_UNSPEC;
	__u64 now = bpf_ktime_get_ns();
	if (now >= by->alive_until)
		return TC_ACT_UNSPEC;
	__sync_fetch_and_add(&everybody->uplink, skb->len - *ip);
	if (read_spin(skb, *ip, &at->told.ends, &at->told.bit, false))
		tell_spin(&at->told, everybody, SPIN_OUT, now, now);
	return TC_ACT_UNSPEC;
}

/* The kernel allows these helpers to programs of a GPL-compatible licence only; MIT with GPL is how it spells ours. */
SEC("license") const char LICENSE[] = "Dual MIT/GPL";
