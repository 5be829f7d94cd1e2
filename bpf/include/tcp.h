/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What calm.bpf.c reads and writes of the kernel's own structures (include/net/sock.h, include/net/inet_connection_sock.h,
 * include/linux/tcp.h, include/net/tcp.h), by name: the loader puts in where the running kernel has each (CO-RE). */
#ifndef MESHPACE_TCP_H
#define MESHPACE_TCP_H

#include <linux/types.h>

#define IPPROTO_TCP 6
#define TCP_CONGESTION 13 /* include/uapi/linux/tcp.h */
#define TCP_CA_NAME_MAX 16
#define AF_INET6 10
#define TCP_LISTEN 10 /* include/net/tcp_states.h */
#define SK_PACING_NONE 0
#define SK_PACING_NEEDED 1

/* include/uapi/linux/tcp.h, enum tcp_ca_state */
#define TCP_CA_CWR 2
#define TCP_CA_RECOVERY 3
#define TCP_CA_LOSS 4

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct in6_addr {
	union {
		__be32 u6_addr32[4];
	} in6_u;
};

struct sock_common {
	__be32 skc_daddr;
	__be32 skc_rcv_saddr;
	__be16 skc_dport;
	__u16 skc_num;
	unsigned short skc_family;
	volatile unsigned char skc_state;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct sock {
	struct sock_common __sk_common;
	__u32 sk_pacing_status;
	unsigned long sk_pacing_rate;
	unsigned long sk_max_pacing_rate;
	__u32 sk_gso_max_size;
};

struct inet_sock {
	struct sock sk;
};

struct tcp_congestion_ops {
	char name[TCP_CA_NAME_MAX];
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	const struct tcp_congestion_ops *icsk_ca_ops;
	__u64 icsk_ca_priv[13];
};

struct minmax_sample {
	__u32 t;
	__u32 v;
};

struct minmax {
	struct minmax_sample s[3];
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	struct minmax rtt_min;
	__u32 mss_cache;
	__u64 tcp_mstamp;
	__u32 snd_cwnd;
	__u32 snd_cwnd_clamp;
	__u32 snd_ssthresh;
	__u32 packets_out;
	__u32 retrans_out;
	__u32 sacked_out;
	__u32 lost_out;
	__u32 delivered;
	__u32 delivered_ce;
	__u32 total_retrans;
	__u32 data_segs_out;
};

struct rate_sample {
	long rtt_us;
	__u32 acked_sacked;
};

#pragma clang attribute pop

/* net/ipv4/tcp.c: tcp_packets_in_flight */
static inline __attribute__((always_inline)) __u32 in_flight(const struct tcp_sock *tcp)
{
	return tcp->packets_out - (tcp->sacked_out + tcp->lost_out) + tcp->retrans_out;
}

#endif
