/* A medium for two radios of mac80211_hwsim that loses frames by rate: what the kernel's rate control makes of it.
 *
 * medium FROM TO <CASES >RATES
 *
 * A line of CASES is a case: the share of data frames that arrive in each of MCS 0 to 15 with the long guard interval, then with the short
 * one. For the length of a case, MILLISECONDS, FROM sends a frame of 1,200 bytes to TO every millisecond. A line of RATES is what the kernel
 * gave most of the last frames of a case: four rates, each as MCS, guard interval and attempts. All other frames arrive.
 *
 * Frames go as voice, which the kernel does not aggregate. Source: drivers/net/wireless/virtual/mac80211_hwsim.h (Linux 6.1:
 * drivers/net/wireless/mac80211_hwsim.h), genetlink.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { CMD_REGISTER = 1, CMD_FRAME = 2, CMD_TX_INFO = 3 };
enum { ADDR_RECEIVER = 1, ADDR_TRANSMITTER, FRAME, FLAGS, RX_RATE, SIGNAL, TX_INFO, COOKIE, FREQ = 19, TX_INFO_FLAGS = 21 };
enum { STAT_ACK = 1 << 2, RC_MCS = 1 << 3, RC_SHORT_GI = 1 << 7 };
enum { STAGES = 4, MODES = 32, MILLISECONDS = 3000, LAST = 500, ETHERTYPE = 0x88b5, SIZE = 1200, MAC = 6 };

struct stage { int8_t idx; uint8_t count; } __attribute__((packed));
struct stage_flags { int8_t idx; uint16_t flags; } __attribute__((packed));

static int generic;
static uint16_t family;
static uint8_t out[8192];

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void open_message(uint16_t type, uint8_t command)
{
	struct nlmsghdr *header = (void *)out;
	struct genlmsghdr *of_family = NLMSG_DATA(header);

	memset(out, 0, NLMSG_HDRLEN + GENL_HDRLEN);
	header->nlmsg_len = NLMSG_HDRLEN + GENL_HDRLEN;
	header->nlmsg_type = type;
	header->nlmsg_flags = NLM_F_REQUEST;
	of_family->cmd = command;
	of_family->version = 1;
}

static void attribute(uint16_t type, const void *value, size_t length)
{
	struct nlmsghdr *header = (void *)out;
	struct nlattr *attribute = (void *)(out + header->nlmsg_len);

	if (header->nlmsg_len + NLA_HDRLEN + NLA_ALIGN(length) > sizeof(out)) {
		fprintf(stderr, "an attribute of %zu bytes\n", length);
		exit(1);
	}
	attribute->nla_type = type;
	attribute->nla_len = NLA_HDRLEN + length;
	memcpy((uint8_t *)attribute + NLA_HDRLEN, value, length);
	header->nlmsg_len += NLA_HDRLEN + NLA_ALIGN(length);
}

static void send_message(void)
{
	struct nlmsghdr *header = (void *)out;

	if (send(generic, out, header->nlmsg_len, 0) < 0)
		die("netlink");
}

static const uint8_t *find(const struct nlmsghdr *header, uint16_t type, size_t least)
{
	const uint8_t *at = (const uint8_t *)header + NLMSG_HDRLEN + GENL_HDRLEN;
	const uint8_t *end = (const uint8_t *)header + header->nlmsg_len;

	while (at + NLA_HDRLEN <= end) {
		const struct nlattr *attribute = (const void *)at;

		if (attribute->nla_len < NLA_HDRLEN || at + attribute->nla_len > end)
			break;
		if ((attribute->nla_type & NLA_TYPE_MASK) == type && attribute->nla_len >= NLA_HDRLEN + least)
			return at + NLA_HDRLEN;
		at += NLA_ALIGN(attribute->nla_len);
	}
	return NULL;
}

static size_t length_of(const uint8_t *value)
{
	return ((const struct nlattr *)(value - NLA_HDRLEN))->nla_len - NLA_HDRLEN;
}

static void open_generic(void)
{
	static uint8_t in[8192];
	struct sockaddr_nl address = { .nl_family = AF_NETLINK };
	const char name[] = "MAC80211_HWSIM";
	int size = 4 << 20;
	const uint8_t *id;

	generic = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (generic < 0 || bind(generic, (void *)&address, sizeof(address)) < 0 ||
	    connect(generic, (void *)&address, sizeof(address)) < 0)
		die("netlink");
	setsockopt(generic, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	open_message(GENL_ID_CTRL, CTRL_CMD_GETFAMILY);
	attribute(CTRL_ATTR_FAMILY_NAME, name, sizeof(name));
	send_message();
	if (recv(generic, in, sizeof(in), 0) < (ssize_t)(NLMSG_HDRLEN + GENL_HDRLEN))
		die("no answer of the kernel's");
	id = find((void *)in, CTRL_ATTR_FAMILY_ID, 2);
	if (!id) {
		fprintf(stderr, "the kernel knows no %s\n", name);
		exit(1);
	}
	memcpy(&family, id, sizeof(family));
	open_message(family, CMD_REGISTER);
	send_message();
}

/* Sends from one interface: its socket, and the two addresses. */
static int open_packets(const char *from, const char *to, uint8_t addresses[2][MAC])
{
	int packets = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	/* 256 and the user priority 6: voice (cfg80211_classify8021d). */
	int priority = 256 + 6;
	struct sockaddr_ll address = { .sll_family = AF_PACKET, .sll_ifindex = if_nametoindex(from) };
	const char *names[2] = { from, to };

	if (packets < 0 || setsockopt(packets, SOL_SOCKET, SO_PRIORITY, &priority, sizeof(priority)) < 0)
		die("packets");
	for (int at = 0; at < 2; at++) {
		struct ifreq request = { 0 };

		snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", names[at]);
		if (ioctl(packets, SIOCGIFHWADDR, &request) < 0)
			die(names[at]);
		memcpy(addresses[at], request.ifr_hwaddr.sa_data, MAC);
	}
	if (bind(packets, (void *)&address, sizeof(address)) < 0)
		die(from);
	return packets;
}

/* Data of ours, behind the header of 802.11 and of SNAP. */
static int is_ours(const uint8_t *frame, size_t length)
{
	/* Type 2 is data, subtype 8 has QoS control behind its 24 bytes. */
	size_t header = frame[0] & 0x80 ? 26 : 24;

	return (frame[0] & 0x0c) == 0x08 && length >= header + 8 && frame[header + 6] == ETHERTYPE >> 8 &&
	       frame[header + 7] == (ETHERTYPE & 0xff);
}

static int mode_of(const struct stage *stage, const struct stage_flags *flags)
{
	if (!(flags->flags & RC_MCS) || stage->idx < 0 || stage->idx >= MODES / 2)
		return -1;
	return stage->idx + (flags->flags & RC_SHORT_GI ? MODES / 2 : 0);
}

/* What most of the last frames of a case were given. */
struct tally { struct stage stages[STAGES]; struct stage_flags flags[STAGES]; int count; };
static struct tally tallies[256];
static int different;

static void tally(const struct stage *stages, const struct stage_flags *flags)
{
	for (int at = 0; at < different; at++) {
		if (!memcmp(tallies[at].stages, stages, sizeof(tallies[at].stages)) &&
		    !memcmp(tallies[at].flags, flags, sizeof(tallies[at].flags))) {
			tallies[at].count++;
			return;
		}
	}
	if (different < (int)(sizeof(tallies) / sizeof(*tallies))) {
		memcpy(tallies[different].stages, stages, sizeof(tallies->stages));
		memcpy(tallies[different].flags, flags, sizeof(tallies->flags));
		tallies[different++].count = 1;
	}
}

static void print_rates(void)
{
	struct tally *most = tallies;

	for (int at = 1; at < different; at++)
		if (tallies[at].count > most->count)
			most = &tallies[at];
	for (int at = 0; different && at < STAGES; at++) {
		int mode = mode_of(&most->stages[at], &most->flags[at]);

		printf("%s%d/%s/%d", at ? " " : "", mode < 0 ? -1 : mode % 16, mode < 16 ? "long" : "short",
		       most->stages[at].count);
	}
	printf("\n");
	fflush(stdout);
	different = 0;
}

/* A frame has been sent: it arrives in the end or not, and its sender is told what it took. */
static void carry(const struct nlmsghdr *header, const double *arrives, int counting)
{
	const uint8_t *transmitter = find(header, ADDR_TRANSMITTER, MAC), *frame = find(header, FRAME, 24);
	const uint8_t *info = find(header, TX_INFO, STAGES * sizeof(struct stage));
	const uint8_t *info_flags = find(header, TX_INFO_FLAGS, STAGES * sizeof(struct stage_flags));
	const uint8_t *flags_at = find(header, FLAGS, 4), *cookie = find(header, COOKIE, 8);
	struct stage stages[STAGES];
	struct stage_flags flags[STAGES];
	/* Of two radios the other one; hwsim knows them by their second address. */
	uint8_t receiver[MAC];
	uint32_t status, rate = 0, signal = -50;
	int arrived = 0, ours;

	if (!transmitter || !frame || !info || !info_flags || !flags_at || !cookie)
		return;
	memcpy(stages, info, sizeof(stages));
	memcpy(flags, info_flags, sizeof(flags));
	memcpy(&status, flags_at, sizeof(status));
	memcpy(receiver, transmitter, MAC);
	receiver[4] ^= 1;
	ours = is_ours(frame, length_of(frame));
	if (ours && counting)
		tally(stages, flags);
	for (int at = 0; at < STAGES && !arrived && stages[at].idx >= 0; at++) {
		int mode = mode_of(&stages[at], &flags[at]), tries = stages[at].count;
		double share = !ours ? 1 : mode < 0 ? 0 : arrives[mode];

		for (int try = 1; try <= tries && !arrived; try++) {
			arrived = drand48() < share;
			stages[at].count = try;
		}
		if (arrived)
			for (int rest = at + 1; rest < STAGES; rest++)
				stages[rest].idx = -1;
	}
	if (arrived || !ours) {
		open_message(family, CMD_FRAME);
		attribute(ADDR_RECEIVER, receiver, MAC);
		attribute(FRAME, frame, length_of(frame));
		attribute(RX_RATE, &rate, sizeof(rate));
		attribute(SIGNAL, &signal, sizeof(signal));
		send_message();
		status |= STAT_ACK;
	}
	open_message(family, CMD_TX_INFO);
	attribute(ADDR_TRANSMITTER, transmitter, MAC);
	attribute(FLAGS, &status, sizeof(status));
	attribute(SIGNAL, &signal, sizeof(signal));
	attribute(TX_INFO, stages, sizeof(stages));
	attribute(COOKIE, cookie, 8);
	send_message();
}

static int64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

/* So long, with a frame every millisecond from a socket on, if there is one. */
static void run(int packets, uint8_t addresses[2][MAC], const double *arrives, int milliseconds)
{
	static uint8_t in[65536];
	uint8_t packet[SIZE] = { 0 };
	int64_t begun = now_us(), next = begun;

	memcpy(packet, addresses[1], MAC);
	memcpy(packet + MAC, addresses[0], MAC);
	packet[12] = ETHERTYPE >> 8;
	packet[13] = ETHERTYPE & 0xff;
	for (;;) {
		int64_t now = now_us(), passed = (now - begun) / 1000;
		struct pollfd ready = { .fd = generic, .events = POLLIN };

		if (passed >= milliseconds)
			return;
		if (packets >= 0 && now >= next) {
			if (send(packets, packet, sizeof(packet), MSG_DONTWAIT) < 0 && errno != EAGAIN && errno != ENOBUFS)
				die("send");
			next += 1000;
			if (next < now)
				next = now;
		}
		if (poll(&ready, 1, 1) > 0) {
			ssize_t length = recv(generic, in, sizeof(in), MSG_DONTWAIT);
			struct nlmsghdr *header = (void *)in;

			if (length >= (ssize_t)(NLMSG_HDRLEN + GENL_HDRLEN) && header->nlmsg_type == family &&
			    ((struct genlmsghdr *)NLMSG_DATA(header))->cmd == CMD_FRAME)
				carry(header, arrives, passed >= milliseconds - LAST);
		}
	}
}

int main(int count, char **words)
{
	uint8_t addresses[2][MAC];
	double arrives[MODES] = { 0 };
	int packets;

	if (count != 3) {
		fprintf(stderr, "usage: medium FROM TO <CASES >RATES\n");
		return 2;
	}
	srand48(1);
	open_generic();
	packets = open_packets(words[1], words[2], addresses);
	/* Until the two have heard each other's beacons. */
	run(-1, addresses, arrives, 8000);
	for (;;) {
		for (int at = 0; at < MODES; at++)
			if (scanf("%lf", &arrives[at]) != 1)
				return at == 0 ? 0 : 1;
		run(packets, addresses, arrives, MILLISECONDS);
		print_rates();
	}
}
