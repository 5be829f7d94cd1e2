/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* TCP-GAP's RTT option in an skb: kind 253, length 6, an experiment identifier (RFC 6994), whole milliseconds; two
 * NOPs behind it when written (schemes.md 3.2). Checksums change by difference (RFC 1624), so that a packet that was
 * corrupt stays corrupt, and one whose checksum the device completes stays complete. */
#ifndef MESHPACE_RTT_OPTION_H
#define MESHPACE_RTT_OPTION_H

#include "kernel.h"
#include "packet.h"
#include "rtt_wire.h"

#define OPTION_END 0
#define OPTION_NOP 1
#define OPTION_WINDOW_SCALE 3
#define OPTION_TIMESTAMPS 8
#define TIMESTAMPS_LENGTH 10
#define OPTION_MD5 19 /* RFC 2385 */
#define OPTION_AO 29  /* RFC 5925 */
#define RTT_WRITTEN 8         /* with its NOPs */
#define TCP_HEADER_MAX 60
#define TCP_CHECKSUM 16       /* offset in the header */
#define IPV4_CHECKSUM 10
#define OPTIONS_STEPS 41      /* as many NOPs fill the options, and the end */

/* What stands in a segment's options. */
#define RTT_OPTIONS_MAX 6 /* as many fit */
struct options {
	__u32 positions[8]; /* of RTT options, from the packet's start */
	__u32 count;        /* of them */
	__u8 has_scale;
	__u8 scale;
	__u8 whole;         /* read to the end: neither an end mark nor a malformed one hides what is behind */
	__u8 is_signed;     /* by TCP-MD5 or TCP-AO: nothing of it may be changed */
	__u8 others;        /* than time stamps and RTT options, or a malformed one */
	__u8 unused[3];
};

/* Reads the options of a segment into the memory of a map. What the loop remembers is there and is read back, so that
 * for the verifier one round leaves the state of any other; kept in registers, each offset would be states of its own,
 * half a million instructions to check instead of some thousands. */
INLINE void read_options(struct __sk_buff *skb, const struct packet *packet, struct options *options)
{
	volatile struct options *seen = options;
	__u32 end = packet->tcp + packet->header;

	memset(options, 0, sizeof(*options));
	seen->positions[7] = packet->tcp + sizeof(struct tcphdr);
	for (int step = 0; step < OPTIONS_STEPS; step++) {
		__u8 head[4] = {};
		__u32 at = seen->positions[7];

		if (at >= end) {
			seen->whole = true;
			return;
		}
		if (bpf_skb_load_bytes(skb, at, head, 1) || head[0] == OPTION_END)
			return;
		if (head[0] == OPTION_NOP) {
			seen->positions[7] = at + 1;
			continue;
		}
		if (at + 2 > end || bpf_skb_load_bytes(skb, at, head, 2)) {
			seen->others = true;
			return;
		}
		__u32 length = head[1];
		if (length < 2 || at + length > end) {
			seen->others = true;
			return;
		}
		seen->positions[7] = at + length;
		if (head[0] == OPTION_MD5 || head[0] == OPTION_AO)
			seen->is_signed = true;
		if (length == 3 && head[0] == OPTION_WINDOW_SCALE) {
			seen->has_scale = true;
			bpf_skb_load_bytes(skb, at + 2, &options->scale, 1);
		}
		bool plain = length == TIMESTAMPS_LENGTH && head[0] == OPTION_TIMESTAMPS;
		if (length == RTT_LENGTH && head[0] == OPTION_EXPERIMENT && !bpf_skb_load_bytes(skb, at + 2, head, 2) &&
		    head[0] == RTT_EXPERIMENT >> 8 && head[1] == (RTT_EXPERIMENT & 0xff)) {
			__u32 count = seen->count;

			if (count < RTT_OPTIONS_MAX)
				options->positions[count] = at;
			seen->count = count + 1;
			plain = true;
		}
		if (!plain)
			seen->others = true;
	}
}

/* Overwrites the six bytes of an RTT option at `at`. */
INLINE bool overwrite(struct __sk_buff *skb, const struct packet *packet, __u32 at, const __u8 option[RTT_LENGTH])
{
	/* Sums of 16-bit words: an option at an odd offset stands a byte further in its words. */
	__u8 before[8] = {}, behind[8] = {};
	__u8 old[RTT_LENGTH];

	if (bpf_skb_load_bytes(skb, at, old, RTT_LENGTH))
		return false;
	if ((at - packet->tcp) & 1) {
		memcpy(before + 1, old, RTT_LENGTH);
		memcpy(behind + 1, option, RTT_LENGTH);
	} else {
		memcpy(before, old, RTT_LENGTH);
		memcpy(behind, option, RTT_LENGTH);
	}
	__s64 change = bpf_csum_diff((__be32 *)before, 8, (__be32 *)behind, 8, 0);
	return !bpf_skb_store_bytes(skb, at, option, RTT_LENGTH, 0) &&
	       !bpf_l4_csum_replace(skb, packet->tcp + TCP_CHECKSUM, 0, change, 0);
}

/* Appends the option to a segment without payload that has room; `milliseconds` in network order. */
INLINE bool append(struct __sk_buff *skb, const struct packet *packet, __be16 milliseconds)
{
	__u32 tcp = packet->tcp;
	__u32 end = tcp + packet->header;
	struct {
		__be32 offset_and_window; /* data offset, flags, window */
		__u8 option[RTT_WRITTEN];
	} written;
	__be32 before;

	/* Whatever stands behind the segment (a driver's padding) must not become part of it. */
	if (packet->payload || skb->len != end || packet->header + RTT_WRITTEN > TCP_HEADER_MAX)
		return false;
	if (bpf_skb_load_bytes(skb, tcp + 12, &before, 4) || bpf_skb_change_tail(skb, end + RTT_WRITTEN, 0))
		return false;
	written.offset_and_window = before + BE32((RTT_WRITTEN / 4) << 28);
	written.option[0] = OPTION_EXPERIMENT;
	written.option[1] = RTT_LENGTH;
	written.option[2] = RTT_EXPERIMENT >> 8;
	written.option[3] = RTT_EXPERIMENT & 0xff;
	memcpy(written.option + 4, &milliseconds, 2);
	written.option[6] = written.option[7] = OPTION_NOP;
	__s64 change = bpf_csum_diff(&before, sizeof(before), (__be32 *)&written, sizeof(written), 0);
	__be16 length_before = BE16(packet->ip_length), length = BE16(packet->ip_length + RTT_WRITTEN);
	__be16 tcp_before = BE16(packet->header), tcp_length = BE16(packet->header + RTT_WRITTEN);
	bool failed = bpf_skb_store_bytes(skb, tcp + 12, &written.offset_and_window, 4, 0) ||
		      bpf_skb_store_bytes(skb, end, written.option, RTT_WRITTEN, 0) ||
		      bpf_l4_csum_replace(skb, tcp + TCP_CHECKSUM, 0, change, 0) ||
		      bpf_l4_csum_replace(skb, tcp + TCP_CHECKSUM, tcp_before, tcp_length, BPF_F_PSEUDO_HDR | 2);
	if (packet->version == 4) {
		failed = failed || bpf_skb_store_bytes(skb, packet->ip + offsetof(struct iphdr, tot_len), &length, 2, 0) ||
			 bpf_l3_csum_replace(skb, packet->ip + IPV4_CHECKSUM, length_before, length, 2);
	} else {
		length = BE16(packet->ip_length + RTT_WRITTEN - sizeof(struct ipv6hdr));
		failed = failed || bpf_skb_store_bytes(skb, packet->ip + offsetof(struct ipv6hdr, payload_len), &length, 2, 0);
	}
	return !failed;
}

#endif
