/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What user space is told to find the rate of hosts by (crates/daemon/src/ebpf/shaping/finding.rs): how much leaves, and when spin bits of
 * QUIC turn. Round trips of TCP are measured, and told, by gateway.bpf.c.
 *
 * All of it is bounded: what counts is told as sums, so that what is left out is made up for by the next, and a bit that turns too often
 * does not spin. */
#ifndef MESHPACE_TELLING_H
#define MESHPACE_TELLING_H

#include "kernel.h"
#include "packet.h"
#include "shaping.h"

/* User space is told no more often of a host; of all together; of the bit of a connection, each way; of all of them. */
#define HOST_APART 20000000ull
#define ALL_APART 1000000ull
#define TURN_APART 1000000ull
#define TURNS_APART 250000ull

/* As crates/wire/src/quic.rs: a short header of version 1 (RFC 9000, section 17.3.1) on its port. */
#define QUIC_PORT 443
#define QUIC_FORM 0xc0
#define QUIC_SHORT 0x40
#define QUIC_SPIN 0x20

/* Bits that were seen last, by direction: into the mesh, out of it. */
struct spin {
	__u64 told[2];
	__u8 bit[2];
	__u8 known[2];
	__u32 unused;
};

struct {
	NUMBER(type, BPF_MAP_TYPE_LRU_HASH);
	NUMBER(max_entries, 1024);
	TYPE(key, struct ends);
	TYPE(value, struct spin);
} spins SEC(".maps");

struct {
	NUMBER(type, BPF_MAP_TYPE_RINGBUF);
	NUMBER(max_entries, 1 << 16);
} tellings SEC(".maps");

/* A packet leaves, `waits` from now on: whether one connection is alone, and whether somebody talks (docs/hosts.md, "The rate by delay"). */
INLINE void keep_company(struct all *all, __u32 flow, bool is_measured, __u32 bytes, __u64 waits, __u64 now)
{
	if (bytes <= ACK_MAX)
		return;
	if (!is_measured) {
		all->alone = 0;
		if (!waits)
			__sync_fetch_and_add(&all->calls, 1);
	} else if (!all->alone || all->flow != flow) {
		all->alone = now;
		all->flow = flow;
	}
}

INLINE void tell_user(struct told *told)
{
	/* If the ring is full the next one tells the sums. */
	bpf_ringbuf_output(&tellings, told, sizeof(*told), 0);
}

/* Whether somebody may be told now who was told last then. */
INLINE bool may_tell(const __u64 *last, __u64 now, __u64 apart)
{
	return now - *last >= apart;
}

/* So much leaves for a host whose ends' wireless address is in `told`. */
INLINE void tell_left(struct told *told, struct all *all, struct host *host, const struct host_key *key, __u64 now)
{
	if (!may_tell(&host->tells, now, HOST_APART) || !may_tell(&all->tells, now, ALL_APART))
		return;
	host->tells = all->tells = now;
	told->at = now;
	told->cost = all->shaped.cost;
	told->bytes = all->shaped.bytes;
	told->work = all->work;
	told->uplink = all->uplink;
	told->of_host = host->shaped.bytes;
	told->alone = all->alone;
	told->calls = all->calls;
	told->host = *key;
	told->kind = LEFT;
	told->bit = 0;
	tell_user(told);
}

/* Reads ends and spin bit of a packet whose IP header is at `ip`. False if it has none. Behind IPv6 extension headers none is looked for. */
INLINE bool read_spin(struct __sk_buff *skb, __u32 ip, struct ends *ends, __u8 *bit, bool into)
{
	__be16 protocol = skip_tags(skb, &ip);
	struct {
		__be16 source;
		__be16 destination;
		__be16 length;
		__be16 checksum;
	} udp;
	__be32 from[4], to[4];
	__u32 end; /* of the packet: what stands behind it, an Ethernet frame's padding, is not of it */
	__u8 first;

	if (protocol == BE16(ETH_P_IP)) {
		struct iphdr read;

		if (bpf_skb_load_bytes(skb, ip, &read, sizeof(read)) || read.protocol != IPPROTO_UDP || read.frag_off & BE16(IP_OFFSET_AND_MORE))
			return false;
		from[0] = from[1] = to[0] = to[1] = 0;
		from[2] = to[2] = BE32(0xffff);
		from[3] = read.saddr;
		to[3] = read.daddr;
		end = ip + BE16(read.tot_len);
		ip += 4 * read.ihl;
	} else if (protocol == BE16(ETH_P_IPV6)) {
		struct ipv6hdr read;

		if (bpf_skb_load_bytes(skb, ip, &read, sizeof(read)) || read.nexthdr != IPPROTO_UDP)
			return false;
		memcpy(from, &read.saddr, 16);
		memcpy(to, &read.daddr, 16);
		ip += sizeof(read);
		end = ip + BE16(read.payload_len);
	} else {
		return false;
	}
	/* What is not segmented yet is longer than its header can say. */
	if (!skb->gso_size && ip + sizeof(udp) + sizeof(first) > end)
		return false;
	if (bpf_skb_load_bytes(skb, ip, &udp, sizeof(udp)) || bpf_skb_load_bytes(skb, ip + sizeof(udp), &first, 1))
		return false;
	if ((udp.source != BE16(QUIC_PORT) && udp.destination != BE16(QUIC_PORT)) || (first & QUIC_FORM) != QUIC_SHORT ||
	    BE16(udp.length) <= sizeof(udp))
		return false;
	memcpy(ends->wireless, into ? to : from, 16);
	memcpy(ends->wired, into ? from : to, 16);
	ends->wireless_port = into ? udp.destination : udp.source;
	ends->wired_port = into ? udp.source : udp.destination;
	*bit = !!(first & QUIC_SPIN);
	return true;
}

/* The bit of the ends in `told` was seen; that it turned is told, unless it does so too often. */
INLINE void tell_spin(struct told *told, struct all *all, enum told_kind kind, __u64 now, __u64 at)
{
	struct spin *spin = bpf_map_lookup_elem(&spins, &told->ends), fresh = {};
	__u32 out = kind == SPIN_OUT;

	if (!spin) {
		/* Nothing that comes out of the mesh answers what did not go in. */
		if (!out) {
			fresh.known[0] = 1;
			fresh.bit[0] = told->bit;
			bpf_map_update_elem(&spins, &told->ends, &fresh, BPF_ANY);
		}
		return;
	}
	bool turns = spin->known[out] && spin->bit[out] != told->bit;

	spin->known[out] = 1;
	spin->bit[out] = told->bit;
	if (!turns || !may_tell(&spin->told[out], now, TURN_APART) || !may_tell(&all->turned, now, TURNS_APART))
		return;
	spin->told[out] = all->turned = now;
	told->at = at;
	told->kind = kind;
	tell_user(told);
}

#endif
