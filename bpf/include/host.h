/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the host's program and user space share. crates/daemon/src/shared/host.rs has these structs in Rust, field by field; a test has
 * the compiler assert that each field stands where it does here. Integers in the machine's byte order but where a type
 * says __be; times in nanoseconds of CLOCK_MONOTONIC; rates in
 * bytes a second of payload. */
#ifndef MESHPACE_HOST_H
#define MESHPACE_HOST_H

#include <linux/types.h>

/* A rate that is none, as SO_MAX_PACING_RATE has it (net/core/sock.c). */
#define UNLIMITED 0xffffffffu

/* A connection by its ends; IPv4 addresses as IPv4-mapped IPv6 ones (RFC 4291, section 2.5.5.2). */
struct ends {
	__be32 local[4];
	__be32 remote[4];
	__u16 local_port;
	__u16 remote_port;
};

/* What the program knows of a connection, by its socket's cookie. Only the program writes it. */
struct connection {
	struct ends ends;
	__u32 own;         /* the limit that the application itself had set */
	__u32 in_force;    /* the limit that the socket has */
	__u32 wired_ack;   /* the acknowledgement that an option came with */
	__u32 srtt;        /* the kernel's srtt_us when it was last looked at */
	__u16 wired;       /* that option's RTT_wired, milliseconds */
	__u8 has_wired;    /* wired_ack and wired hold, and no round trip was told of them */
	__u8 opaque;       /* the kernel's srtt_us is not made of samples as expected */
};

/* What user space wants of a connection. The program makes and removes it, user space overwrites it. */
struct order {
	__u32 rate;
	__u8 quiet;        /* round trips without the option need not be reported */
	__u8 unused[3];
};

/* The one entry of `settings`. Only user space writes it, again and again: a program that outlives it lifts all
 * limits once `alive_until` has passed. */
struct settings {
	__u64 alive_until;
};

enum report_kind {
	OPENED = 0,
	SAMPLE = 1, /* an acknowledgement of a timed segment */
	CLOSED = 2,
};

struct report {
	__u64 at;
	__u64 cookie;
	struct ends ends;
	__u32 rtt;      /* microseconds; SAMPLE; smoothed if not has_wired */
	__u32 mss;      /* payload of a full segment */
	__u16 wired;    /* milliseconds; SAMPLE with has_wired */
	__u8 kind;      /* enum report_kind */
	__u8 has_wired;
	__u8 adopted;   /* OPENED: in the middle of the connection */
	__u8 unused[7];
};

/* Indices of `counters`. */
enum counter {
	CONNECTIONS,     /* followed so far */
	NO_PLACE,        /* not followed: the table was full */
	SAMPLES,         /* round trips that belong to an option */
	UNMEASURED,      /* round-trip callbacks without a sample */
	OPAQUE,          /* round-trip callbacks whose srtt_us does not follow from the sample */
	OPTIONS,         /* RTT options read */
	MALFORMED,       /* of another length */
	UNPAIRED,        /* options without a round trip */
	LOST,            /* reports: the ring was full */
	SET,             /* limits set */
	REFUSED,         /* by the kernel */
	EXPIRED,         /* limits lifted because user space was silent */
	COUNTERS,
};

#endif
