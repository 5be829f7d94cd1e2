/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the gateway's programs and user space share. crates/daemon/src/shared/gateway.rs has these structs in Rust, field by field; a test has
 * the compiler assert that each field stands where it does here. Integers in the machine's byte order but where a type
 * says __be; times in nanoseconds of CLOCK_MONOTONIC. */
#ifndef MESHPACE_GATEWAY_H
#define MESHPACE_GATEWAY_H

#include "announced.h"
#include "codel.h"
#include <linux/types.h>

/* A connection by its ends; IPv4 addresses as IPv4-mapped IPv6 ones (RFC 4291, section 2.5.5.2). */
struct flow_key {
	__be32 wireless[4];
	__be32 wired[4];
	__be16 wireless_port;
	__be16 wired_port;
};

enum side {
	WIRED = 0,
	WIRELESS = 1,
};

/* What numbers a segment of one side can have (plausible.h). */
struct window {
	__u32 next;       /* behind the highest byte it sent */
	__u32 edge;       /* as far as the other side lets it send */
	__u32 acked;      /* of its bytes, what the other side has acknowledged */
	__u32 window;     /* largest that it announced, bytes */
	__u32 stray_from; /* what it sent last that was implausible */
	__u32 stray_to;
	__u8 has_next;
	__u8 has_edge;
	__u8 has_acked;
	__u8 has_stray;
	__u8 seen;        /* its SYN */
	__u8 offers;      /* a window scale in it */
	__u8 scale;
	__u8 unused;
};

struct windows {
	struct window halves[2]; /* by enum side */
};

/* What is missing of the data towards the mesh, as it never left: it was lost before it came here, or the shaper dropped it. */
struct hole {
	__u32 from;
	__u32 to;
	__u64 filled; /* when a segment of it leaves that the receiver waits for; 0: none is on its way */
	__u32 end;    /* of that */
	__u32 unused;
};

/* The data of one direction. */
struct half {
	__u32 una;       /* the cumulative acknowledgement */
	__u32 end;       /* the end of the highest segment that passed */
	__u32 late_from; /* bytes that passed again or out of order: */
	__u32 late_to;   /* their acknowledgement tells no round trip (Karn's rule) */
	__u64 packets;   /* of this direction, with and without data */
	__u64 bytes;     /* their IP lengths */
	__u64 payload;
	__u64 acked;     /* bytes cumulatively acknowledged */
	__u32 fin;       /* the sequence number after its FIN */
	__u8 begun;      /* data were seen: una and end hold */
	__u8 has_fin;
	__u8 fin_acked;
	__u8 unused;
};

/* One connection. Only the programs write it. */
struct flow {
	__u64 opened;
	__u64 active;    /* its latest packet */
	__u64 departure; /* of its latest data towards the mesh; may lie ahead */
	struct half down;
	struct half up;
	__u64 wired_rtt; /* the latest; 0 before the first */
	__u64 options;   /* RTT options written */
	__u64 delayed;   /* packets given a departure in the future */
	__u64 drops;     /* packets dropped because too much would wait */
	__u32 id;        /* chosen at random, even; names it in `departures` */
	__u32 segment;   /* largest payload towards the mesh, in place of the MSS */
	__u32 window;    /* largest window the wireless end announced, bytes; 0 before the first */
	__u8 ignored;    /* does not cross the gateway */
	__u8 ttl;        /* of the wireless end's latest packet */
	__u16 unused;
	struct windows windows;
	__u64 aged;      /* packets dropped because packets waited too long (CoDel) */
	__u64 marks;     /* packets marked for that */
	struct codel codel;
	struct announced announced;
	__u32 limited;   /* window last announced in the receiver's stead, bytes; 0: its own */
	__u64 turn;      /* of the packet at hand, and what CoDel said of it, enum fate */
	__u64 fate;
	__u64 used;      /* packets that came as soon as the window announced here let them, and did not wait */
	__u64 again_at;  /* when the latest segment towards the mesh leaves that was sent again; 0: none was */
	__u32 again_end; /* its end */
	__u32 untimed;   /* and how far data had gone then */
	struct hole hole;
};

enum treatment {
	OBSERVE = 0,
	PACE = 1,
	OFF = 2, /* as if it were not there */
};

/* How a connection is to be treated. Only user space writes it. */
struct pace {
	__u64 interval;  /* between departures; 0 before the first sample */
	__u32 packets;   /* most that may wait */
	__u32 treatment; /* enum treatment */
	__u64 target;    /* CoDel's; 0: what waits is dropped by its number alone */
	__u64 stands;    /* CoDel's interval */
	__u32 window;    /* most bytes that the wired sender is to have on its way; 0: as its receiver says */
	__u32 segment;   /* that they are counted in */
};

/* The one entry of `settings`. Only user space writes it, again and again: programs that outlive the daemon let
 * everything pass. */
struct settings {
	__u64 alive_until;
	__u64 horizon;   /* farthest departure ahead; sch_fq drops beyond its own, 10 s by default */
	__u32 treatment; /* of packets whose connection has no `pace` (yet) */
	__u32 places;    /* most packets of all connections that may wait for their departure */
	__u64 apart;     /* of connections that no law paces, a host's wireless round trips are told no closer; 0: all are */
	__u32 finds;     /* the rate of hosts is found: what is sent again is told, too, and the round trip of what fills a hole */
	__u32 unused;
};

enum event_kind {
	OPENED = 0, /* first data of a connection */
	SAMPLE = 1, /* a wireless round trip */
	CLOSED = 2, /* FINs acknowledged both ways, a RST, another connection between the same ports */
	WIRED_SAMPLE = 3, /* a wired round trip */
	AGAIN = 4, /* data towards the mesh pass again, and have been gone for so long */
};

struct event {
	__u64 at;
	__u64 rtt;       /* SAMPLE, WIRED_SAMPLE, AGAIN */
	struct flow_key key;
	__u32 segment;   /* flow.segment */
	__u32 window;    /* flow.window */
	__u8 kind;       /* enum event_kind */
	__u8 ttl;        /* flow.ttl */
	__u8 single;     /* SAMPLE: no other segment was acknowledged with it */
	__u8 unused;
};

/* Indices of `counters`. */
enum counter {
	PACKETS,
	BYTES,
	FRAGMENTS,
	OTHER_PROTOCOL,
	TRUNCATED,
	MALFORMED,
	NOT_CROSSING,
	OFF_PACKETS,
	SIGNED,          /* by TCP-MD5 or TCP-AO */
	UNBELIEVED,      /* cannot be of their connection: passed on, nothing learned */
	UNTRACKED,       /* data of connections for which there was no place */
	FORWARDED,       /* at once */
	DELAYED,         /* given a departure in the future */
	DROPPED,
	OVERFLOWED,      /* sent on unpaced, as all places were taken */
	LOST_EVENTS,     /* the ring was full */
	COUNTERS,
};

#endif
