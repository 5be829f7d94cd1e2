/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What calm.bpf.c and user space share. crates/daemon/src/congestion/layout.rs reads these structs by offset; the assertions here and the
 * constants there must say the same. Integers in the machine's byte order but where a type says __be. */
#ifndef MESHPACE_CONGESTION_H
#define MESHPACE_CONGESTION_H

#include "calm.h"
#include "tcp.h"
#include <stddef.h>

/* The one entry of `calm_settings`. Only user space writes it. */
struct settings {
	__u32 over;                        /* connections go on with `instead` */
	__u32 unit;                        /* segments that travel together */
	char instead[TCP_CA_NAME_MAX];
	char cgroup[256];                  /* whose connections to `calm_subnets` are switched; empty: none */
};
_Static_assert(sizeof(struct settings) == 280, "settings");
_Static_assert(offsetof(struct settings, instead) == 8, "settings.instead");
_Static_assert(offsetof(struct settings, cgroup) == 24, "settings.cgroup");

/* A key of `calm_subnets` (BPF_MAP_TYPE_LPM_TRIE); IPv4 as IPv4-mapped IPv6 (RFC 4291, section 2.5.5.2). */
struct subnet {
	__u32 bits;
	__be32 address[4];
};
_Static_assert(sizeof(struct subnet) == 20, "subnet");

/* A connection, as `calm_list` tells of it. */
struct flow {
	__be32 local[4];
	__be32 remote[4];
	__u16 local_port;
	__be16 remote_port;
	__u32 segment;       /* payload of a full one */
	__u64 pace;          /* bytes a second */
	__u32 window;
	__u32 in_flight;
	__u32 delivered;     /* segments */
	__u32 sent_again;
	__u32 base;          /* the empty path's round trip, ticks */
	__u32 floor;         /* packets a second, in units of 1/256; 0: none */
	__u32 burst;         /* segments that the kernel hands down at once */
	__u32 spare;
	struct calm law;
};
_Static_assert(offsetof(struct flow, local_port) == 32, "flow.local_port");
_Static_assert(offsetof(struct flow, segment) == 36, "flow.segment");
_Static_assert(offsetof(struct flow, pace) == 40, "flow.pace");
_Static_assert(offsetof(struct flow, window) == 48, "flow.window");
_Static_assert(offsetof(struct flow, base) == 64, "flow.base");
_Static_assert(offsetof(struct flow, burst) == 72, "flow.burst");
_Static_assert(offsetof(struct flow, law) == 80, "flow.law");
_Static_assert(sizeof(struct flow) == 184, "flow");
_Static_assert(offsetof(struct calm, rate) == 8, "calm.rate");
_Static_assert(offsetof(struct calm, queue) == 24, "calm.queue");
_Static_assert(offsetof(struct calm, wire) == 92, "calm.wire");
_Static_assert(offsetof(struct calm, trains) == 94, "calm.trains");
_Static_assert(offsetof(struct calm, losses) == 99, "calm.losses");
_Static_assert(offsetof(struct calm, flags) == 100, "calm.flags");

#endif
