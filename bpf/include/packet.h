/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* IPv4, IPv6 and TCP headers of an skb, linear or not. */
#ifndef MESHPACE_PACKET_H
#define MESHPACE_PACKET_H

#include "gateway.h"
#include "kernel.h"
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/tcp.h>

#define IP_OFFSET_AND_MORE 0x3fff /* RFC 791: fragment offset and "more fragments" */
#define TAGS_MAX 2                 /* 802.1ad's two VLAN tags */
/* RFC 8200, section 4.1: one of each, destination options twice. A packet with more goes on unread. */
#define EXTENSIONS_MAX 6

#define TCP_FIN 0x01
#define TCP_SYN 0x02
#define TCP_RST 0x04
#define TCP_ACK 0x10

struct packet {
	__be32 source[4];
	__be32 destination[4];
	__be16 source_port;
	__be16 destination_port;
	__u32 ip;          /* offset of the IP header */
	__u32 tcp;         /* offset of the TCP header */
	__u32 ip_length;   /* of the whole packet, however many it is segmented into */
	__u32 header;      /* bytes of the TCP header */
	__u32 payload;
	__u32 seq;
	__u32 ack;
	__u16 window;
	__u8 flags;
	__u8 reserved;     /* bits beside the data offset */
	__u8 ttl;
	__u8 version;
	__u8 ecn;          /* RFC 3168, section 5 */
};

/* Walks through VLAN tags that stand in the frame at `ip` (IEEE 802.1Q, clause 9; the ones that the kernel took out do
 * not), and past them. The protocol behind them; 0 if the frame ends before. */
INLINE __be16 skip_tags(struct __sk_buff *skb, __u32 *ip)
{
	__be16 protocol = skb->protocol;

	for (int tags = 0; tags < TAGS_MAX; tags++) {
		__be16 tag[2]; /* control information, and what comes behind */

		if (protocol != BE16(ETH_P_8021Q) && protocol != BE16(ETH_P_8021AD))
			break;
		if (bpf_skb_load_bytes(skb, *ip, tag, sizeof(tag)))
			return 0;
		protocol = tag[1];
		*ip += sizeof(tag);
	}
	return protocol;
}

/* Walks through IPv6 extension headers from *at, as crates/wire does: hop-by-hop options, routing, destination options. An
 * authentication header is none of them: what it covers must not be rewritten. COUNTERS if TCP comes at *at. */
INLINE enum counter skip_extensions(struct __sk_buff *skb, __u8 next, __u32 *at, __u32 end)
{
	for (int headers = 0; headers < EXTENSIONS_MAX; headers++) {
		__u8 head[2]; /* what comes behind; its own length, in units of eight bytes behind the first eight */

		if (next != IPPROTO_HOPOPTS && next != IPPROTO_ROUTING && next != IPPROTO_DSTOPTS)
			break;
		if (bpf_skb_load_bytes(skb, *at, head, sizeof(head)))
			return TRUNCATED;
		next = head[0];
		*at += (head[1] + 1) * 8;
		if (*at > end)
			return MALFORMED;
	}
	if (next == IPPROTO_FRAGMENT)
		return FRAGMENTS;
	return next == IPPROTO_TCP ? COUNTERS : OTHER_PROTOCOL;
}

/* Reads the headers of `skb`, whose link-layer header ends at `ip`, but for VLAN tags. Returns COUNTERS, or the counter of
 * why it was not read. */
INLINE enum counter parse(struct __sk_buff *skb, __u32 ip, struct packet *packet)
{
	struct tcphdr tcp;
	__u32 length;
	__be16 protocol = skip_tags(skb, &ip);

	packet->ip = ip;
	if (skb->len < ip)
		return TRUNCATED;
	/* A super-packet's length may not fit the header's field, so the skb's counts; Ethernet padding is cut below. */
	packet->ip_length = skb->len - ip;
	if (protocol == BE16(ETH_P_IP)) {
		struct iphdr header;

		if (bpf_skb_load_bytes(skb, ip, &header, sizeof(header)))
			return TRUNCATED;
		if (header.version != 4 || header.ihl < 5)
			return MALFORMED;
		if (header.frag_off & BE16(IP_OFFSET_AND_MORE))
			return FRAGMENTS;
		if (header.protocol != IPPROTO_TCP)
			return OTHER_PROTOCOL;
		length = BE16(header.tot_len);
		packet->version = 4;
		packet->ttl = header.ttl;
		packet->ecn = header.tos & 3;
		packet->tcp = ip + 4 * header.ihl;
		packet->source[0] = packet->source[1] = 0;
		packet->source[2] = BE32(0xffff);
		packet->source[3] = header.saddr;
		packet->destination[0] = packet->destination[1] = 0;
		packet->destination[2] = BE32(0xffff);
		packet->destination[3] = header.daddr;
	} else if (protocol == BE16(ETH_P_IPV6)) {
		struct ipv6hdr header;

		if (bpf_skb_load_bytes(skb, ip, &header, sizeof(header)))
			return TRUNCATED;
		if (header.version != 6)
			return MALFORMED;
		length = BE16(header.payload_len) + sizeof(header);
		packet->version = 6;
		packet->ttl = header.hop_limit;
		/* The traffic class straddles the first two bytes (RFC 8200, section 3). */
		packet->ecn = header.flow_lbl[0] >> 4 & 3;
		__u32 at = ip + sizeof(header);
		enum counter unread = skip_extensions(skb, header.nexthdr, &at, ip + (skb->gso_size ? packet->ip_length : length));
		if (unread != COUNTERS)
			return unread;
		packet->tcp = at;
		memcpy(packet->source, &header.saddr, 16);
		memcpy(packet->destination, &header.daddr, 16);
	} else {
		return protocol ? OTHER_PROTOCOL : TRUNCATED;
	}
	if (!skb->gso_size) {
		if (length > packet->ip_length)
			return TRUNCATED;
		packet->ip_length = length;
	}
	if (bpf_skb_load_bytes(skb, packet->tcp, &tcp, sizeof(tcp)))
		return TRUNCATED;
	packet->header = 4 * tcp.doff;
	__u32 headers = packet->tcp - ip + packet->header;
	if (tcp.doff < 5 || headers > packet->ip_length)
		return MALFORMED;
	packet->payload = packet->ip_length - headers;
	packet->source_port = tcp.source;
	packet->destination_port = tcp.dest;
	packet->seq = BE32(tcp.seq);
	packet->ack = BE32(tcp.ack_seq);
	packet->window = BE16(tcp.window);
	packet->flags = ((const __u8 *)&tcp)[13]; /* RFC 9293, section 3.1 */
	packet->reserved = ((const __u8 *)&tcp)[12] & 0x0f;
	return COUNTERS;
}

/* Sequence space the segment occupies (RFC 9293, section 3.4). */
INLINE __u32 sequence_length(const struct packet *packet)
{
	return packet->payload + !!(packet->flags & TCP_SYN) + !!(packet->flags & TCP_FIN);
}

#endif
