/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the edge's program and user space share. crates/daemon/src/shared/edge.rs has these structs in Rust, field by field; a test has
 * the compiler assert that each field stands where it does here. Integers in the machine's byte order but where a type
 * says __be; times in nanoseconds of CLOCK_MONOTONIC. */
#ifndef MESHPACE_EDGE_H
#define MESHPACE_EDGE_H

#include "gateway.h"

/* What user space sends in place of what the program kept bears this mark (SO_MARK): "MPED". */
#define SENT_MARK 0x4d504544u
/* The longest frame that is kept: Ethernet, two VLAN tags, the longest headers of IPv4 and TCP have 142 bytes. */
#define FRAME_MAX 160

/* One way of a connection, as its acknowledgements go; IPv4 addresses as IPv4-mapped IPv6 ones (RFC 4291, section
 * 2.5.5.2). */
struct ends {
	__be32 source[4];
	__be32 destination[4];
	__be16 source_port;
	__be16 destination_port;
};

/* `scale` of a connection whose SYN was not seen. */
#define SCALE_UNKNOWN 0xff

/* What is known of it. Only the program writes it. */
struct thin_flow {
	__u64 at;             /* when the newest acknowledgement came */
	__u64 passed_at;      /* when the newest that passed did */
	__u64 half_at;        /* when `half` was found */
	__u64 since;          /* bytes acknowledged since the sender began */
	__u32 newest;
	__u32 passed;
	__u32 stuck;          /* what the last brought that waited for its tail; 0 once one has passed by its count or the wait */
	__u32 half;           /* of a sender's window that was found small; 0 if none was */
	__u16 window;         /* the newest window field */
	__u16 passed_window;  /* that of the newest that passed */
	__u8 held;            /* it was kept, and nothing has passed since */
	__u8 scale;           /* by how many bits window fields are scaled */
	__u8 begins;          /* nothing but its SYN was seen */
	__u8 lasts;           /* for how many waits for the tail `half` counts */
};

/* The newest acknowledgement, which goes on if nothing newer comes. The program writes it, user space sends it. */
struct held {
	__u64 at;             /* when it came */
	__u32 interface;      /* where it was to leave */
	__u32 ack;
	__u16 length;         /* of the frame */
	__u16 ip;             /* where its IP header begins */
	__be16 vlan_protocol; /* of a VLAN tag that the kernel keeps beside it; 0 if there is none */
	__u16 vlan_tci;
	__u8 frame[FRAME_MAX];
};

/* The one entry of `settings`. User space writes it, again and again: a program that outlives the daemon lets everything pass.
 * The program ends it where what is kept is not sent. */
struct thinning {
	__u64 alive_until;
	__u64 bytes;          /* an acknowledgement that brings so many passes, */
	__u64 wait;           /* and one so long after the last that passed; */
	__u64 tail;           /* others wait so long for a newer one */
	__u32 share;          /* one that brings so large a part, one in so many, of `since`, passes */
	__u32 unused;
};

enum told {
	KEPT = 0,   /* an acknowledgement waits, and none of its connection did */
	YIELDS = 1, /* what waits goes on at once: something passed that does not stand for it */
};

struct edge_event {
	__u64 at;
	struct ends ends;
	__u32 ack;            /* of what waits */
	__u8 told;            /* enum told */
	__u8 unused[7];
};

/* Indices of `counters`; what a packet was not read for stands where `enum counter` has it. */
enum edge_counter {
	EDGE_PACKETS,
	EDGE_ACKS,            /* pure acknowledgements of connections that are known */
	EDGE_FRAGMENTS,
	EDGE_OTHER_PROTOCOL,
	EDGE_TRUNCATED,
	EDGE_MALFORMED,
	EDGE_NEWS,            /* passed, as they say more than that more has arrived */
	EDGE_WITHHELD,
	EDGE_SENT,            /* of these, sent later */
	EDGE_OVERTAKEN,       /* sent later and too late: a newer one had passed */
	EDGE_NO_PLACE,        /* passed, as there was no place to keep them */
	EDGE_LOST_EVENTS,     /* passed, as user space could not be told */
	EDGE_LATE,            /* user space was found not to send what is kept */
	EDGE_COUNTERS,
};
_Static_assert((int)EDGE_FRAGMENTS == (int)FRAGMENTS && (int)EDGE_MALFORMED == (int)MALFORMED, "as enum counter");

#endif
