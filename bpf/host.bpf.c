/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* TCP-GAP's wireless sender under the kernel's own TCP.
 *
 * meshpace_host (sock_ops, on a control group) pairs the kernel's round-trip samples with the gateway's RTT option,
 * reports both, and gives sockets the limits that user space orders. The law is user space's (crates/daemon/src/host).
 * meshpace_lift (iter/tcp, optional: needs the kernel's BTF) gives every socket its own limit back at once.
 *
 * The callbacks of one socket run under its lock, so nothing of a connection is touched by two CPUs at once.
 *
 * Source: schemes.md 3.2; callbacks: linux/bpf.h and net/ipv4/tcp_input.c (tcp_ack, bpf_skops_parse_hdr,
 * tcp_bpf_rtt). Needs Linux 6.11: older ones give BPF_SOCK_OPS_RTT_CB no sample. */
#include "host.h"
#include "kernel.h"
#include "rtt_wire.h"
#include <linux/errno.h>
#include <linux/tcp.h>

#define AF_INET 2
#define AF_INET6 10

#define LOOPBACK_NETWORK 127u /* RFC 1122, section 3.2.1.3 */
#define IPV4_MAPPED BE32(0xffff)

#define CALLBACKS                                                                                                      \
	(BPF_SOCK_OPS_PARSE_UNKNOWN_HDR_OPT_CB_FLAG | BPF_SOCK_OPS_WRITE_HDR_OPT_CB_FLAG | BPF_SOCK_OPS_RTT_CB_FLAG |  \
	 BPF_SOCK_OPS_RTO_CB_FLAG | BPF_SOCK_OPS_STATE_CB_FLAG)

/* asm-generic/socket.h; user space overwrites them with its architecture's numbers (MIPS and SPARC have others). */
const volatile __u32 sol_socket = 1;
const volatile __u32 so_max_pacing_rate = 47;

/* Sizes that user space replaces. Not LRU: a connection that is forgotten would keep its last limit for ever, one
 * that finds no place is merely not paced. Entries go when their connection does. */
struct {
	NUMBER(type, BPF_MAP_TYPE_HASH);
	NUMBER(max_entries, 16384);
	NUMBER(map_flags, BPF_F_NO_PREALLOC);
	TYPE(key, __u64);
	TYPE(value, struct connection);
} connections SEC(".maps");

struct {
	NUMBER(type, BPF_MAP_TYPE_HASH);
	NUMBER(max_entries, 16384);
	NUMBER(map_flags, BPF_F_NO_PREALLOC);
	TYPE(key, __u64);
	TYPE(value, struct order);
} orders SEC(".maps");

struct {
	NUMBER(type, BPF_MAP_TYPE_ARRAY);
	NUMBER(max_entries, 1);
	TYPE(key, __u32);
	TYPE(value, struct settings);
} settings SEC(".maps");

struct {
	NUMBER(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	NUMBER(max_entries, COUNTERS);
	TYPE(key, __u32);
	TYPE(value, __u64);
} counters SEC(".maps");

struct {
	NUMBER(type, BPF_MAP_TYPE_RINGBUF);
	NUMBER(max_entries, 1 << 20);
} reports SEC(".maps");

INLINE void count(__u32 counter)
{
	__u64 *value = bpf_map_lookup_elem(&counters, &counter);

	if (value)
		(*value)++;
}

INLINE void tell(struct report *report)
{
	if (bpf_ringbuf_output(&reports, report, sizeof(*report), 0))
		count(LOST);
}

/* The context's fields are read word by word, as the kernel's checker demands. */
INLINE void read_ends(struct bpf_sock_ops *ctx, struct ends *ends)
{
	if (ctx->family == AF_INET6) {
		ends->local[0] = ctx->local_ip6[0];
		ends->local[1] = ctx->local_ip6[1];
		ends->local[2] = ctx->local_ip6[2];
		ends->local[3] = ctx->local_ip6[3];
		ends->remote[0] = ctx->remote_ip6[0];
		ends->remote[1] = ctx->remote_ip6[1];
		ends->remote[2] = ctx->remote_ip6[2];
		ends->remote[3] = ctx->remote_ip6[3];
	} else {
		ends->local[2] = ends->remote[2] = IPV4_MAPPED;
		ends->local[3] = ctx->local_ip4;
		ends->remote[3] = ctx->remote_ip4;
	}
	ends->local_port = ctx->local_port;
	ends->remote_port = BE32(ctx->remote_port);
}

INLINE bool is_loopback(const struct ends *ends)
{
	if (ends->remote[0] || ends->remote[1])
		return false;
	if (ends->remote[2] == IPV4_MAPPED)
		return BE32(ends->remote[3]) >> 24 == LOOPBACK_NETWORK;
	return !ends->remote[2] && ends->remote[3] == BE32(1);
}

/* Starts to follow a connection: a new one, or one that an earlier program followed, whose limit is taken for that
 * program's and not for the application's own. */
INLINE struct connection *follow(struct bpf_sock_ops *ctx, __u64 cookie, bool adopted)
{
	struct connection connection = {.own = UNLIMITED, .srtt = ctx->srtt_us};
	struct order order = {.rate = UNLIMITED};

	read_ends(ctx, &connection.ends);
	if ((ctx->family != AF_INET && ctx->family != AF_INET6) || is_loopback(&connection.ends))
		return NULL;
	if (bpf_getsockopt(ctx, sol_socket, so_max_pacing_rate, &connection.in_force, sizeof(connection.in_force)))
		connection.in_force = UNLIMITED;
	if (!adopted)
		connection.own = connection.in_force;
	if (bpf_map_update_elem(&connections, &cookie, &connection, BPF_ANY)) {
		count(NO_PLACE);
		return NULL;
	}
	if (bpf_map_update_elem(&orders, &cookie, &order, BPF_ANY)) {
		bpf_map_delete_elem(&connections, &cookie);
		count(NO_PLACE);
		return NULL;
	}
	count(CONNECTIONS);
	struct report report = {
		.at = bpf_ktime_get_ns(),
		.cookie = cookie,
		.ends = connection.ends,
		.mss = ctx->mss_cache,
		.kind = OPENED,
		.adopted = adopted,
	};
	tell(&report);
	return bpf_map_lookup_elem(&connections, &cookie);
}

/* Gives the socket the limit that is ordered, or its own if user space is silent. */
INLINE void obey(struct bpf_sock_ops *ctx, struct connection *connection, const struct order *order, __u64 now)
{
	__u32 zero = 0;
	struct settings *set = bpf_map_lookup_elem(&settings, &zero);
	bool expired = !set || now > set->alive_until;
	__u32 rate = order && !expired ? order->rate : UNLIMITED;

	if (connection->own < rate)
		rate = connection->own;
	if (rate == connection->in_force)
		return;
	if (bpf_setsockopt(ctx, sol_socket, so_max_pacing_rate, &rate, sizeof(rate))) {
		count(REFUSED);
		return;
	}
	connection->in_force = rate;
	count(expired ? EXPIRED : SET);
}

INLINE void tell_sample(struct bpf_sock_ops *ctx, __u64 cookie, struct connection *connection, __u64 now, __u32 rtt, bool paired)
{
	struct report report = {
		.at = now,
		.cookie = cookie,
		.ends = connection->ends,
		.rtt = rtt,
		.mss = ctx->mss_cache,
		.wired = paired ? connection->wired : 0,
		.kind = SAMPLE,
		.has_wired = paired,
	};
	if (paired)
		count(SAMPLES);
	else if (connection->has_wired)
		count(UNPAIRED);
	connection->has_wired = 0;
	tell(&report);
}

/* True if the round trip that the kernel took last is of the acknowledgement whose option is kept: nothing was
 * acknowledged after it, no selective acknowledgement gave a sample of its own. */
INLINE bool is_paired(struct bpf_sock_ops *ctx, const struct connection *connection)
{
	return connection->has_wired && connection->wired_ack == ctx->snd_una && !ctx->sacked_out;
}

/* Tells the round trips that come without a callback of their own.
 *
 * The kernel calls BPF_SOCK_OPS_RTT_CB for one sample a window, yet it folds every sample into srtt_us, which is kept
 * eightfold: srtt += sample - (srtt >> 3) (tcp_rtt_estimator, net/ipv4/tcp_input.c). After one acknowledgement its sample
 * follows from the two values exactly; on_round_trip checks that the kernel still does so. */
INLINE void settle(struct bpf_sock_ops *ctx, __u64 cookie, struct connection *connection, const struct order *order, __u64 now)
{
	__u32 srtt = ctx->srtt_us, before = connection->srtt;

	if (srtt == before)
		return;
	connection->srtt = srtt;
	if (before && !connection->opaque && is_paired(ctx, connection))
		tell_sample(ctx, cookie, connection, now, srtt - before + (before >> 3), true);
	else if (ctx->data_segs_out && order && !order->quiet) /* else the handshake's */
		tell_sample(ctx, cookie, connection, now, srtt >> 3, false);
}

/* An acknowledgement with options that TCP does not know. Its round trip is taken next, if it gives one. */
INLINE void on_options(struct bpf_sock_ops *ctx, struct connection *connection)
{
	struct tcphdr *tcp = ctx->skb_data;
	__u8 option[8] = {OPTION_EXPERIMENT, 4, RTT_EXPERIMENT >> 8, RTT_EXPERIMENT & 0xff};

	if ((void *)(tcp + 1) > ctx->skb_data_end)
		return;
	/* The search pattern is overwritten by the option found; -ENOMSG if there is none (bpf-helpers(7)). */
	long length = bpf_load_hdr_opt(ctx, option, sizeof(option), 0);
	if (length < 0 && length != -ENOSPC)
		return;
	if (length != RTT_LENGTH) {
		count(MALFORMED);
		return;
	}
	count(OPTIONS);
	if (connection->has_wired)
		count(UNPAIRED);
	connection->wired_ack = BE32(tcp->ack_seq);
	connection->wired = (__u16)(option[4] << 8 | option[5]);
	connection->has_wired = 1;
}

/* A round trip of the oldest segment that an acknowledgement newly covers; snd_una is that acknowledgement's, srtt_us
 * still the value before it, args[1] the new one. */
INLINE void on_round_trip(struct bpf_sock_ops *ctx, __u64 cookie, struct connection *connection, const struct order *order, __u64 now)
{
	__u32 rtt = ctx->args[0], srtt = ctx->args[1], before = ctx->srtt_us;

	if (!rtt) {
		count(UNMEASURED);
		return;
	}
	if (before && srtt != before + rtt - (before >> 3)) {
		connection->opaque = 1;
		count(OPAQUE);
	}
	connection->srtt = srtt ? srtt : 1;
	if (is_paired(ctx, connection))
		tell_sample(ctx, cookie, connection, now, rtt, true);
	else if (ctx->data_segs_out && order && !order->quiet)
		tell_sample(ctx, cookie, connection, now, srtt >> 3, false);
}

INLINE void forget(__u64 cookie)
{
	struct connection *connection = bpf_map_lookup_elem(&connections, &cookie);

	if (!connection)
		return;
	struct report report = {
		.at = bpf_ktime_get_ns(),
		.cookie = cookie,
		.ends = connection->ends,
		.kind = CLOSED,
	};
	tell(&report);
	bpf_map_delete_elem(&orders, &cookie);
	bpf_map_delete_elem(&connections, &cookie);
}

SEC("sockops")
int meshpace_host(struct bpf_sock_ops *ctx)
{
	__u64 cookie = bpf_get_socket_cookie(ctx);
	__u64 now = bpf_ktime_get_ns();
	struct connection *connection;
	struct order *order;

	switch (ctx->op) {
	case BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB:
	case BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB:
		if (follow(ctx, cookie, false))
			bpf_sock_ops_cb_flags_set(ctx, ctx->bpf_sock_ops_cb_flags | CALLBACKS);
		return 1;
	case BPF_SOCK_OPS_STATE_CB:
		if (ctx->args[1] == BPF_TCP_CLOSE)
			forget(cookie);
		return 1;
	case BPF_SOCK_OPS_PARSE_HDR_OPT_CB: /* an acknowledgement, before it is looked at */
	case BPF_SOCK_OPS_RTT_CB:           /* in the middle of one */
	case BPF_SOCK_OPS_HDR_OPT_LEN_CB:   /* before a segment is sent; no room for options is asked for */
	case BPF_SOCK_OPS_RTO_CB:
		break;
	default:
		return 1;
	}
	connection = bpf_map_lookup_elem(&connections, &cookie);
	if (!connection) {
		/* Only sockets that were followed once have these callbacks. */
		connection = follow(ctx, cookie, true);
		if (!connection)
			return 1;
	}
	order = bpf_map_lookup_elem(&orders, &cookie);
	obey(ctx, connection, order, now);
	if (ctx->op == BPF_SOCK_OPS_RTT_CB) {
		on_round_trip(ctx, cookie, connection, order, now);
	} else {
		settle(ctx, cookie, connection, order, now);
		if (ctx->op == BPF_SOCK_OPS_PARSE_HDR_OPT_CB)
			on_options(ctx, connection);
	}
	return 1;
}

/* The arguments of the iterator over TCP sockets, as net/ipv4/tcp_ipv4.c passes them. */
struct bpf_iter__tcp {
	__bpf_md_ptr(struct bpf_iter_meta *, meta);
	__bpf_md_ptr(struct sock_common *, sk_common);
	__u32 uid;
};

SEC("iter/tcp")
int meshpace_lift(struct bpf_iter__tcp *ctx)
{
	struct sock_common *sk = ctx->sk_common;

	if (!sk)
		return 0;
	struct tcp_sock *tcp = bpf_skc_to_tcp_sock(sk);
	if (!tcp)
		return 0;
	__u64 cookie = bpf_get_socket_cookie(tcp);
	struct connection *connection = bpf_map_lookup_elem(&connections, &cookie);
	if (!connection || connection->in_force == connection->own)
		return 0;
	__u32 own = connection->own;
	if (bpf_setsockopt(tcp, sol_socket, so_max_pacing_rate, &own, sizeof(own))) {
		count(REFUSED);
		return 0;
	}
	connection->in_force = own;
	count(EXPIRED);
	return 0;
}

SEC("license") const char LICENSE[] = "Dual MIT/GPL";
