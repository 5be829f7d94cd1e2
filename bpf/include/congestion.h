/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What calm.bpf.c and user space share. crates/daemon/src/shared/congestion.rs has these structs in Rust, field by field; a test has
 * the compiler assert that each field stands where it does here. Integers in the machine's byte order but where a type
 * says __be. */
#ifndef MESHPACE_CONGESTION_H
#define MESHPACE_CONGESTION_H

#include "calm.h"
#include "tcp.h"

/* The one entry of `calm_settings`. Only user space writes it. */
struct settings {
	__u32 over;                        /* connections go on with `instead` */
	__u32 unit;                        /* segments that travel together */
	char instead[TCP_CA_NAME_MAX];
	char cgroup[256];                  /* whose connections to `calm_subnets` are switched; empty: none */
};

/* A key of `calm_subnets` (BPF_MAP_TYPE_LPM_TRIE); IPv4 as IPv4-mapped IPv6 (RFC 4291, section 2.5.5.2). */
struct subnet {
	__u32 bits;
	__be32 address[4];
};

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

#endif
