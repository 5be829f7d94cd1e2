/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* bpf/include/plausible.h for fuzz/src/plausible.rs. */
#include "plausible.h"

/* Judges a segment and learns from it, as bpf/gateway.bpf.c does. What begins anew begins with nothing known. */
int meshpace_plausible_pass(struct windows *windows, int wireless, __u32 seq, __u32 ack, __u32 payload, __u16 window, __u8 flags,
			    __u8 offers, __u8 scale)
{
	const struct packet packet = {.seq = seq, .ack = ack, .payload = payload, .window = window, .flags = flags};
	enum side side = wireless ? WIRELESS : WIRED;
	enum judgement judgement = judge(windows, side, &packet);

	if (judgement == ANEW)
		memset(windows, 0, sizeof(*windows));
	/* A RST ends the connection there and tells nothing, whatever other flags it has. */
	if (judgement != PLAUSIBLE || flags & TCP_RST)
		return judgement;
	if (flags & TCP_SYN)
		offer(windows, side, offers, scale);
	learn(windows, side, &packet);
	return judgement;
}
