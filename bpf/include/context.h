/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What every step of the gateway's programs needs: the packet with its connection, counters, events, and whether anybody is
 * there to act for. */
#ifndef MESHPACE_CONTEXT_H
#define MESHPACE_CONTEXT_H

#include "gateway.h"
#include "kernel.h"
#include "maps.h"
#include "packet.h"
#include "rtt_option.h"

INLINE void add(__u32 counter, __u64 n)
{
	__u64 *value = bpf_map_lookup_elem(&counters, &counter);

	if (value)
		*value += n;
}

INLINE void tell_of(enum event_kind kind, __u64 now, __u64 rtt, bool single, const struct flow_key *key, const struct flow *flow)
{
	struct event event = {
		.at = now,
		.rtt = rtt,
		.segment = flow->segment,
		.window = flow->window,
		.kind = kind,
		.ttl = flow->ttl,
		.single = single,
	};

	memcpy(&event.key, key, sizeof(*key));
	if (bpf_ringbuf_output(&events, &event, sizeof(event), 0))
		add(LOST_EVENTS, 1);
}

INLINE void tell(enum event_kind kind, __u64 now, __u64 rtt, const struct flow_key *key, const struct flow *flow)
{
	tell_of(kind, now, rtt, false, key, flow);
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
	__u64 shaped; /* the departure that the shaper of hosts has given it; 0: none */
};

#endif
