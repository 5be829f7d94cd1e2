/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* What the shaper of hosts and user space share. crates/daemon/src/shared/shaping.rs has these structs in Rust, field by field; a test has
 * the compiler assert that each field stands where it does here. Integers in the machine's byte order but where a type
 * says __be; times in nanoseconds of CLOCK_MONOTONIC. */
#ifndef MESHPACE_SHAPING_H
#define MESHPACE_SHAPING_H

#include <linux/types.h>

/* A mesh host, or whoever stands for several; IPv4 addresses as IPv4-mapped IPv6 ones (RFC 4291, section 2.5.5.2). */
struct host_key {
	__be32 address[4];
};

/* A prefix of mesh hosts, as the kernel's tries take it (struct bpf_lpm_trie_key). */
struct prefix_key {
	__u32 bits;
	__be32 address[4];
};

/* Fractions: of a nanosecond a byte, and of what a byte costs. */
#define BYTE_SHIFT 10
#define PRICE_SHIFT 8

/* What is agreed about a host. Only user space writes it. */
struct terms {
	__u64 cap;    /* time a byte may take at the least, >> BYTE_SHIFT; 0: it has no cap */
	__u32 weight; /* shares: at least 1 */
	__u32 price;  /* what a byte to it costs, >> PRICE_SHIFT */
	__u32 mask;   /* bits of the address that stand for all hosts of the prefix; 0: each for itself */
	__u32 unused;
};

/* The one entry of `settings`. Only user space writes it, again and again: programs that outlive the daemon let everything pass. */
struct shaping {
	__u64 alive_until;
	__u64 per_byte; /* time that a byte of cost takes at the rate of all, >> BYTE_SHIFT */
	__u64 longest;  /* what would wait longer is dropped */
	__u64 fewest;   /* unless all that waits takes no longer than this */
	__u64 target;   /* CoDel's */
	__u64 interval;
	__u32 overhead; /* bytes that a packet costs beside its own */
	__u32 places;   /* most packets that wait */
	__u32 shift;    /* how long slots are: 2 to the power of it, 31 at the most */
	__u32 finds;    /* user space finds the rate: it is told what leaves, and of spin bits */
	struct terms terms; /* of hosts of which nothing is agreed */
};

/* How busy hosts or flows are: their shares of a slot of time, by its number. */
struct slot {
	__u32 time;
	__u32 busy;
};

/* What one of those who share has of the slot that is now. */
struct own {
	__u32 time;
	__u32 busy;
};

/* Hosts by slots of about what a packet takes of the rate, and flows of a host by four times that. */
#define ALL_SLOTS 512
#define HOST_SLOTS 128
#define COARSER 2

/* How many packets wait, by slots of their departure. */
#define WAIT_SLOTS 16
#define COARSEST 5

/* Which packets wait for no turn: a call's (crates/gateway/src/shaper/calls.rs says why, and has the same numbers). A packet of a call is
 * longer than an acknowledgement of TCP, whatever its options, and no longer than that; calls have this part of their host's share; so many
 * bytes of that leave at once, and so many of the rate. */
#define ACK_MAX 100
#define CALL_MAX 400
#define CALLS_PART 3
#define CALLS_OF 4
#define CALLS_AHEAD 1500
#define CALLS_AHEAD_OF_ALL 3000

/* What was done with packets. Only the programs write it. */
struct shaped {
	__u64 packets;
	__u64 bytes;
	__u64 cost;
	__u64 dropped; /* as they would have waited too long */
	__u64 crowded; /* those of them for which there was no room, as CoDel had not dropped them */
	__u64 marked;
};

/* All hosts together: the one entry of `all`. */
struct all {
	struct shaped shaped;
	__u64 work;   /* when all that has come will have left, at the rate */
	__u64 latest; /* when the last flow will have had its share of that */
	__u64 passed; /* when what waited for no turn will have left, at the rate */
	struct slot waiting[WAIT_SLOTS];
	struct slot slots[ALL_SLOTS];
	__u64 uplink;  /* bytes that came out of the mesh, less those that went in again */
	__u64 tells;   /* when user space was told last of what leaves, */
	__u64 turned;  /* and of a spin bit that turned */
	__u64 alone;   /* since when no more than one connection sends into the mesh; 0: something else does, or nothing is known */
	__u64 calls;   /* packets that waited for no turn, and whose round trips nothing measures */
	__u32 flow;    /* of the latest packet */
	__u32 unused;
};

/* A host. */
struct host {
	struct shaped shaped;
	__u64 seen;   /* its latest packet */
	__u64 work;   /* when all that has come for it will have left, at its share */
	__u64 latest; /* when the last of its flows will have had its share of that */
	__u64 capped; /* when all will have left by its cap */
	__u64 passed; /* from when on the next packet of a call waits for no turn */
	__u64 talk;   /* what calls had of its share lately: time, of 2^TALK_SHIFT */
	__u64 talked; /* when that was looked at last */
	__u64 wait;   /* of its packets, smoothed */
	struct own own;
	struct slot flows[HOST_SLOTS];
	__u64 tells;  /* when user space was told last of what leaves for it */
};

/* The ends of a connection; as in gateway.h, whose programs are others. */
struct ends {
	__be32 wireless[4];
	__be32 wired[4];
	__be16 wireless_port;
	__be16 wired_port;
};

enum told_kind {
	LEFT = 0,      /* a packet leaves for a host */
	SPIN_INTO = 1, /* the spin bit of what goes into the mesh turned */
	SPIN_OUT = 2,  /* that of what comes out of it did */
};

/* What user space is told, that finds the rate by it. */
struct told {
	__u64 at;      /* when it happens; SPIN_INTO: when the packet leaves */
	__u64 cost;    /* LEFT: of all that came so far, as all.shaped */
	__u64 bytes;
	__u64 work;    /* all.work */
	__u64 uplink;  /* all.uplink */
	__u64 of_host; /* bytes for this host, as host.shaped */
	__u64 alone;   /* all.alone */
	__u64 calls;   /* all.calls */
	struct host_key host; /* LEFT, SPIN_INTO */
	struct ends ends;     /* LEFT: the packet's destination alone */
	__u8 kind;            /* enum told_kind */
	__u8 bit;             /* SPIN_* */
	__u16 unused;
};

#endif
