/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Calm as a congestion control of the kernel (struct tcp_congestion_ops): the law of include/calm.h, at a kernel's sender.
 *
 * calm_control and the others of its kind are the congestion control's members, by their names (crates/daemon/src/congestion); they keep
 * a connection's law where every congestion control keeps what is its own, so nothing grows with connections. calm_subnet
 * (sock_ops, on a control group) chooses it for connections to some destinations. calm_list and calm_leave (iter/tcp) tell of
 * connections and take it away from them.
 *
 * The sections' names are of kinds that the reader of object files knows; the loader gives each program its kind.
 *
 * Source: docs/law.md, schemes.md 23.1; net/ipv4/bpf_tcp_ca.c for what a program may write. */
#include "congestion.h"
#include "kernel.h"

#define MEMBER SEC("sockops")

struct {
	NUMBER(type, BPF_MAP_TYPE_ARRAY);
	NUMBER(max_entries, 1);
	TYPE(key, __u32);
	TYPE(value, struct settings);
} calm_settings SEC(".maps");

struct {
	NUMBER(type, BPF_MAP_TYPE_LPM_TRIE);
	NUMBER(max_entries, 1024);
	NUMBER(map_flags, BPF_F_NO_PREALLOC);
	TYPE(key, struct subnet);
	TYPE(value, __u32);
} calm_subnets SEC(".maps");

static long (*bpf_seq_write)(void *seq, const void *data, __u32 length) = (void *)BPF_FUNC_seq_write;

INLINE struct settings *settings(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&calm_settings, &zero);
}

/* No Linux paces the first segments of a connection (net/ipv4/tcp_output.c, tcp_update_skb_after_send); until they have left the window is
 * what the law begins with, dr_first, or a mesh's queues have ten at once. */
#define UNPACED 10
#define FIRST 4
/* What may leave until the next acknowledgement, at least, segments. */
#define AHEAD 8

INLINE __u32 unit_of(const struct settings *set)
{
	return set && set->unit > 1 ? set->unit : 1;
}

/* What the kernel hands down at once, segments: a millisecond's worth, and on short paths more (net/ipv4/tcp_output.c, tcp_tso_autosize,
 * with SK_PACING_SHIFT_DEFAULT = 10 and net.ipv4.tcp_tso_rtt_log = 9; before Linux 5.18 the first alone). */
INLINE __u32 burst_of(struct sock *sk)
{
	struct tcp_sock *tcp = (struct tcp_sock *)sk;
	__u32 segment = tcp->mss_cache, most = sk->sk_gso_max_size, halved = tcp->rtt_min.s[0].v >> 9;
	__u64 bytes = sk->sk_pacing_rate >> 10;

	if (halved < 32)
		bytes += most >> halved;
	if (bytes > most)
		bytes = most;
	return segment && bytes > segment ? (__u32)bytes / segment : 1;
}

INLINE struct calm *law_of(struct sock *sk)
{
	return (struct calm *)((struct inet_connection_sock *)sk)->icsk_ca_priv;
}

/* The socket obeys the law: its window and its pace. The window opens no further than the pace needs until an acknowledgement of `together`
 * segments comes: a kernel that does not pace for once lets out half of what the window has room for (docs/congestion.md). */
INLINE void obey(struct sock *sk, const struct calm *calm, __u32 unit, __u32 together)
{
	struct tcp_sock *tcp = (struct tcp_sock *)sk;
	__u32 flight = in_flight(tcp), window = calm_window(calm, flight, unit);
	__u64 pace = calm_pace(calm, tcp->mss_cache, unit), most = sk->sk_max_pacing_rate;

	if (unit == 1) {
		__u32 ahead = 2 * together > AHEAD ? 2 * together : AHEAD;

		if (window > flight + ahead)
			window = flight + ahead;
		if (tcp->data_segs_out < UNPACED && (!window || window > FIRST))
			window = FIRST;
	}
	if (window)
		tcp->snd_cwnd = window < tcp->snd_cwnd_clamp ? window : tcp->snd_cwnd_clamp;
	if (!sk->sk_pacing_status)
		sk->sk_pacing_status = SK_PACING_NEEDED;
	sk->sk_pacing_rate = pace < most ? pace : most;
}

MEMBER int calm_init(__u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct calm calm;

	calm_begin(&calm);
	*law_of(sk) = calm;
	obey(sk, &calm, unit_of(settings()), 0);
	return 0;
}

/* An acknowledgement, after the kernel has done with it. */
INLINE int control(struct sock *sk, const struct rate_sample *sample)
{
	struct tcp_sock *tcp = (struct tcp_sock *)sk;
	struct settings *set = settings();
	struct calm *kept = law_of(sk), calm = *kept;
	__u32 unit = unit_of(set), burst = burst_of(sk), acked = sample->acked_sacked;
	long rtt = sample->rtt_us;

	if (set && set->over) {
		char instead[TCP_CA_NAME_MAX];

		memcpy(instead, set->instead, sizeof(instead));
		bpf_setsockopt(sk, IPPROTO_TCP, TCP_CONGESTION, instead, sizeof(instead));
		return 0;
	}
	/* The kernel enters this state for a mark, and for a tail's loss that its probe has mended. */
	if (calm.flags & CALM_REDUCED) {
		calm.flags &= (__u8)~CALM_REDUCED;
		if ((__u16)tcp->delivered_ce != calm.marked)
			calm_on_mark(&calm);
		else
			calm_on_loss(&calm);
	}
	if (acked)
		calm_on_arrived(&calm, acked);
	/* Of the newest segment that this covers, if it was sent once (net/ipv4/tcp_input.c, tcp_clean_rtx_queue: ca_rtt_us). Segments that
	 * left without a pace waited for each other: the first of them begins the law, the others say nothing of a queue at its rate. */
	if (rtt <= 0 || rtt >= 0x7fffffff)
		;
	else if (calm.flags & CALM_BEGUN && tcp->delivered <= UNPACED)
		calm_least(&calm, tcp->tcp_mstamp, calm_ticks(&calm, (__u32)rtt, false));
	else
		/* A train that is answered as a whole waited for no timer. */
		calm_on_round_trip(&calm, tcp->tcp_mstamp, calm_ticks(&calm, (__u32)rtt, !tcp->packets_out && (unit == 1 || acked < unit)), unit, burst);
	*kept = calm;
	obey(sk, &calm, unit, acked > burst ? acked : burst);
	return 0;
}

/* From Linux 6.10 on. */
MEMBER int calm_control(__u64 *ctx)
{
	return control((struct sock *)ctx[0], (const struct rate_sample *)ctx[3]);
}

MEMBER int calm_control_2(__u64 *ctx)
{
	return control((struct sock *)ctx[0], (const struct rate_sample *)ctx[1]);
}

MEMBER int calm_state(__u64 *ctx)
{
	struct sock *sk = (struct sock *)ctx[0];
	struct tcp_sock *tcp = (struct tcp_sock *)sk;
	struct calm *kept = law_of(sk), calm = *kept;
	__u32 unit = unit_of(settings());
	__u8 state = (__u8)ctx[1];

	if (state == TCP_CA_RECOVERY) {
		calm_on_loss(&calm);
	} else if (state == TCP_CA_LOSS) {
		calm_on_timeout(&calm, tcp->tcp_mstamp, unit);
		/* The kernel has set the window to one segment. What is sent again has the law's pace. */
		obey(sk, &calm, unit, burst_of(sk));
	} else if (state == TCP_CA_CWR) {
		calm.flags |= CALM_REDUCED;
		calm.marked = (__u16)tcp->delivered_ce;
	} else {
		return 0;
	}
	*kept = calm;
	return 0;
}

/* No loss changes the window by itself. */
MEMBER int calm_threshold(__u64 *ctx)
{
	return ((struct tcp_sock *)ctx[0])->snd_ssthresh;
}

MEMBER int calm_undo(__u64 *ctx)
{
	return ((struct tcp_sock *)ctx[0])->snd_cwnd;
}

/* What the kernel hands down at once, at least: one packet, where it would be two of a slow flow; or a whole train. */
MEMBER int calm_together(__u64 *ctx)
{
	(void)ctx;
	return (int)unit_of(settings());
}

SEC("sockops")
int calm_subnet(struct bpf_sock_ops *ctx)
{
	struct subnet to = {.bits = 128};
	char calm[TCP_CA_NAME_MAX] = "calm";

	if (ctx->op != BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB && ctx->op != BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB)
		return 1;
	if (ctx->family == AF_INET6) {
		to.address[0] = ctx->remote_ip6[0];
		to.address[1] = ctx->remote_ip6[1];
		to.address[2] = ctx->remote_ip6[2];
		to.address[3] = ctx->remote_ip6[3];
	} else {
		to.address[2] = BE32(0xffff);
		/* Volatile, or clang reads this and the word above by one address, which the checker does not take. */
		to.address[3] = *(volatile __u32 *)&ctx->remote_ip4;
	}
	if (bpf_map_lookup_elem(&calm_subnets, &to))
		bpf_setsockopt(ctx, IPPROTO_TCP, TCP_CONGESTION, calm, sizeof(calm));
	return 1;
}

/* The arguments of the iterator over TCP sockets, as net/ipv4/tcp_ipv4.c passes them. */
struct bpf_iter_meta {
	__bpf_md_ptr(void *, seq);
};

struct bpf_iter__tcp {
	__bpf_md_ptr(struct bpf_iter_meta *, meta);
	__bpf_md_ptr(struct sock_common *, sk_common);
	__u32 uid;
};

/* The socket, if calm is its congestion control. */
INLINE struct tcp_sock *by_calm(struct sock_common *common)
{
	struct tcp_sock *tcp = common ? bpf_skc_to_tcp_sock(common) : NULL;

	if (!tcp)
		return NULL;
	const struct tcp_congestion_ops *ops = tcp->inet_conn.icsk_ca_ops;

	if (!ops || ops->name[0] != 'c' || ops->name[1] != 'a' || ops->name[2] != 'l' || ops->name[3] != 'm' || ops->name[4])
		return NULL;
	return tcp;
}

SEC("iter/tcp")
int calm_list(struct bpf_iter__tcp *ctx)
{
	struct sock_common *common = ctx->sk_common;
	struct tcp_sock *tcp = by_calm(common);

	if (!tcp || common->skc_state == TCP_LISTEN)
		return 0;
	struct sock *sk = (struct sock *)tcp;
	struct flow flow = {
		.local_port = common->skc_num,
		.remote_port = common->skc_dport,
		.segment = tcp->mss_cache,
		.pace = sk->sk_pacing_rate,
		.window = tcp->snd_cwnd,
		.in_flight = in_flight(tcp),
		.delivered = tcp->delivered,
		.sent_again = tcp->total_retrans,
		.burst = burst_of(sk),
	};

	if (common->skc_family == AF_INET6) {
#pragma clang loop unroll(full)
		for (int i = 0; i < 4; i++) {
			flow.local[i] = common->skc_v6_rcv_saddr.in6_u.u6_addr32[i];
			flow.remote[i] = common->skc_v6_daddr.in6_u.u6_addr32[i];
		}
	} else {
		flow.local[2] = flow.remote[2] = BE32(0xffff);
		flow.local[3] = common->skc_rcv_saddr;
		flow.remote[3] = common->skc_daddr;
	}
	flow.law = *law_of(sk);
	flow.base = calm_base(&flow.law);
	if (flow.base)
		flow.floor = (__u32)power(calm_floor(&flow.law, calm_known(&flow.law)) + LG(8));
	bpf_seq_write(ctx->meta->seq, &flow, sizeof(flow));
	return 0;
}

SEC("iter/tcp")
int calm_leave(struct bpf_iter__tcp *ctx)
{
	struct tcp_sock *tcp = by_calm(ctx->sk_common);
	struct settings *set = settings();
	char instead[TCP_CA_NAME_MAX];

	if (!tcp || !set)
		return 0;
	memcpy(instead, set->instead, sizeof(instead));
	bpf_setsockopt(tcp, IPPROTO_TCP, TCP_CONGESTION, instead, sizeof(instead));
	return 0;
}

SEC("license") const char LICENSE[] = "Dual MIT/GPL";
