/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The gateway's maps: what its two programs share with each other and with user space. */
#ifndef MESHPACE_MAPS_H
#define MESHPACE_MAPS_H

#include "gateway.h"
#include "interfaces.h"
#include "kernel.h"
#include "rtt_option.h"

/* Sizes that user space replaces by those of the configuration (gap_flows_max, gap_segments_total). */
struct {
	NUMBER(type, BPF_MAP_TYPE_LRU_HASH);
	NUMBER(max_entries, 65536);
	TYPE(key, struct flow_key);
	TYPE(value, struct flow);
} flows SEC(".maps");

struct {
	NUMBER(type, BPF_MAP_TYPE_HASH);
	NUMBER(max_entries, 65536);
	NUMBER(map_flags, BPF_F_NO_PREALLOC);
	TYPE(key, struct flow_key);
	TYPE(value, struct pace);
} paces SEC(".maps");

/* T1: when a segment passes or passed. Downwards by the end, upwards by the start of it: what an ACK of the newest
 * and of the oldest segment names (schemes.md 1.3, rule 3). */
struct departure_key {
	__u32 flow; /* flow.id, plus 1 upwards */
	__u32 seq;
};

struct {
	NUMBER(type, BPF_MAP_TYPE_LRU_HASH);
	NUMBER(max_entries, 1 << 18);
	TYPE(key, struct departure_key);
	TYPE(value, __u64);
} departures SEC(".maps");

/* When a round trip of a mesh host was told last, where not all are (settings.apart). */
struct mesh_host {
	__be32 address[4];
};

struct {
	NUMBER(type, BPF_MAP_TYPE_LRU_HASH);
	NUMBER(max_entries, 1024);
	TYPE(key, struct mesh_host);
	TYPE(value, __u64);
} told SEC(".maps");

/* What SYNs offered, until data make the connection one to keep: a flood of SYNs fills only this. */
struct handshake {
	__u8 seen[2];   /* by enum side */
	__u8 offers[2]; /* a window scale */
	__u8 scale[2];
	__u8 unused[2];
};

struct {
	NUMBER(type, BPF_MAP_TYPE_LRU_HASH);
	NUMBER(max_entries, 16384);
	TYPE(key, struct flow_key);
	TYPE(value, struct handshake);
} handshakes SEC(".maps");

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

/* How many packets wait in sch_fq: departures that lie ahead, by slots of time. Two processors that begin a slot at once
 * may lose each other's first packets. */
#define SLOT_SHIFT 28 /* 268 ms */
#define SLOTS 64      /* 17 s: farther than the horizon */

struct waiting {
	struct slot {
		__u64 time; /* >> SLOT_SHIFT */
		__u64 packets;
	} slots[SLOTS];
};

struct {
	NUMBER(type, BPF_MAP_TYPE_ARRAY);
	NUMBER(max_entries, 1);
	TYPE(key, __u32);
	TYPE(value, struct waiting);
} waiting SEC(".maps");

/* A new connection is a copy of this; too large for the stack beside the rest. */
struct {
	NUMBER(type, BPF_MAP_TYPE_ARRAY);
	NUMBER(max_entries, 1);
	TYPE(key, __u32);
	TYPE(value, struct flow);
} blank SEC(".maps");

/* The options of the packet at hand; a processor works on one packet at a time. */
struct {
	NUMBER(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	NUMBER(max_entries, 1);
	TYPE(key, __u32);
	TYPE(value, struct options);
} workplace SEC(".maps");

struct {
	NUMBER(type, BPF_MAP_TYPE_RINGBUF);
	NUMBER(max_entries, 1 << 20);
} events SEC(".maps");

#endif
