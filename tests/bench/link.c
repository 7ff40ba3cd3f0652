/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A link with a fixed delay between two network namespaces that exist as long as this program does.
 *
 * usage: link DELAY_US WINDOW      one way; prints "ready PID NEAR FAR": the namespaces are /proc/PID/fd/NEAR and FAR
 *
 * Every packet, those of handshakes too, is read from the TUN device of one side, waits, and is written to the
 * other's.  No loss, no limit of bandwidth.  WINDOW: how many packets TCP sends on a new connection before it waits
 * for the other side; 10 is what Linux does, and with a large one only the round trips are left that the protocols
 * above it take.  The near side is 10.77.0.1, the far one 10.77.0.2; both have a loopback.  Needs root.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define MOST_PACKETS 16384U /* under way in one direction; beyond, packets are lost as on any link */
#define PACKET_BYTES 1500
#define LINUX_WINDOW 10
#define LARGE_BUFFERS "4096 4194304 16777216\n" /* smallest, first and largest */

struct packet {
	int64_t due;
	size_t len;
	unsigned char *data;
};

/* One direction: a ring. */
struct line {
	struct packet *packets;
	unsigned first, last;
};

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "link: cannot %s: %s\n", what, strerror(errno));
	exit(1);
}

static int64_t now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* ------------------------------------------------------------------ devices */

static void set_address(int control, const char *device, unsigned long request, const char *address)
{
	struct ifreq r = {0};
	struct sockaddr_in in = {.sin_family = AF_INET};

	(void)inet_pton(AF_INET, address, &in.sin_addr);
	memcpy(&r.ifr_addr, &in, sizeof(in));
	(void)snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", device);
	if (ioctl(control, request, &r) < 0)
		fail("give the device its address");
}

static void bring_up(int control, const char *device)
{
	struct ifreq r = {0};

	(void)snprintf(r.ifr_name, sizeof(r.ifr_name), "%s", device);
	r.ifr_qlen = (int)MOST_PACKETS;
	(void)ioctl(control, SIOCSIFTXQLEN, &r);
	r.ifr_flags = IFF_UP | IFF_RUNNING;
	if (ioctl(control, SIOCSIFFLAGS, &r) < 0)
		fail("bring the device up");
}

/* The route over the link anew, with another first window. */
static void set_window(unsigned window)
{
	struct {
		struct nlmsghdr head;
		struct rtmsg route;
		struct rtattr to_head;
		uint32_t to;
		struct rtattr device_head;
		uint32_t device;
		struct rtattr metrics_head, window_head;
		uint32_t window;
		struct rtattr receive_head;
		uint32_t receive;
	} message = {
		.head = {.nlmsg_len = sizeof(message), .nlmsg_type = RTM_NEWROUTE,
		         .nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_REPLACE},
		.route = {.rtm_family = AF_INET, .rtm_dst_len = 24, .rtm_table = RT_TABLE_MAIN, .rtm_protocol = RTPROT_KERNEL,
		          .rtm_scope = RT_SCOPE_LINK, .rtm_type = RTN_UNICAST},
		.to_head = {RTA_LENGTH(4), RTA_DST}, .to = inet_addr("10.77.0.0"),
		.device_head = {RTA_LENGTH(4), RTA_OIF}, .device = if_nametoindex("link0"),
		.metrics_head = {RTA_LENGTH(2 * RTA_SPACE(4)), RTA_METRICS},
		.window_head = {RTA_LENGTH(4), RTAX_INITCWND}, .window = window,
		.receive_head = {RTA_LENGTH(4), RTAX_INITRWND}, .receive = window,
	};
	int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (netlink < 0 || send(netlink, &message, sizeof(message), 0) < 0)
		fail("set the first window");
	(void)close(netlink);
}

/* A setting of TCP in this namespace. */
static void set_tcp(const char *which, const char *value)
{
	FILE *out = fopen(which, "we");

	if (!out || fputs(value, out) < 0 || fclose(out) != 0)
		fail("make a setting of TCP");
}

static int open_tun(void)
{
	struct ifreq r = {.ifr_flags = IFF_TUN | IFF_NO_PI, .ifr_name = "link0"};
	int tun = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);

	if (tun < 0 || ioctl(tun, TUNSETIFF, &r) < 0)
		fail("open /dev/net/tun");
	return tun;
}

/* A namespace of its own with one end of the link; *space holds it open. */
static int make_side(const char *address, unsigned window, int *space)
{
	int control, tun;

	if (unshare(CLONE_NEWNET) < 0)
		fail("make a network namespace");
	*space = open("/proc/self/ns/net", O_RDONLY);
	control = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (*space < 0 || control < 0)
		fail("use a network namespace");
	tun = open_tun();
	bring_up(control, "lo");
	set_address(control, "link0", SIOCSIFADDR, address);
	set_address(control, "link0", SIOCSIFNETMASK, "255.255.255.0");
	bring_up(control, "link0");
	/* the same everywhere, whatever this machine prefers: the window doubles with each round trip */
	set_tcp("/proc/sys/net/ipv4/tcp_congestion_control", "reno\n");
	if (window > LINUX_WINDOW) {
		set_window(window);
		set_tcp("/proc/sys/net/ipv4/tcp_rmem", LARGE_BUFFERS);
		set_tcp("/proc/sys/net/ipv4/tcp_wmem", LARGE_BUFFERS);
	}
	(void)close(control);
	return tun;
}

/* ------------------------------------------------------------------ packets */

static void take(struct line *line, int tun, int64_t delay)
{
	for (;;) {
		struct packet *p = &line->packets[line->last % MOST_PACKETS];
		unsigned char data[PACKET_BYTES];
		ssize_t n;

		if (line->last - line->first == MOST_PACKETS)
			return;
		n = read(tun, data, sizeof(data));
		if (n <= 0)
			return;
		p->len = (size_t)n;
		p->data = malloc(p->len);
		if (!p->data)
			fail("keep a packet");
		memcpy(p->data, data, p->len);
		p->due = now_ns() + delay;
		line->last++;
	}
}

/* Writes what is due; nanoseconds until the next is, -1 for none. */
static int64_t give(struct line *line, int tun)
{
	while (line->first != line->last) {
		struct packet *p = &line->packets[line->first % MOST_PACKETS];
		int64_t left = p->due - now_ns();

		if (left > 0)
			return left;
		if (write(tun, p->data, p->len) < 0 && errno != EIO)
			fail("write to the link");
		free(p->data);
		line->first++;
	}
	return -1;
}

static void carry(const int tun[2], int64_t delay)
{
	struct line lines[2] = {{0}, {0}};

	for (int i = 0; i < 2; i++) {
		lines[i].packets = malloc(MOST_PACKETS * sizeof(struct packet));
		if (!lines[i].packets)
			fail("keep packets");
	}
	for (;;) {
		struct pollfd ready[2] = {{tun[0], POLLIN, 0}, {tun[1], POLLIN, 0}};
		int64_t there = give(&lines[0], tun[1]), back = give(&lines[1], tun[0]);
		int64_t wait = there < 0 || (back >= 0 && back < there) ? back : there;
		struct timespec t = {wait / 1000000000, wait % 1000000000};

		(void)ppoll(ready, 2, wait < 0 ? NULL : &t, NULL);
		for (int i = 0; i < 2; i++)
			take(&lines[i], tun[i], delay);
	}
}

int main(int argc, char **argv)
{
	int tun[2], space[2];
	long delay_us = argc == 3 ? strtol(argv[1], NULL, 10) : -1;
	unsigned window = argc == 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;

	if (delay_us < 0 || window == 0) {
		fprintf(stderr, "usage: link DELAY_US WINDOW\n");
		return 2;
	}
	(void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
	tun[0] = make_side("10.77.0.1", window, &space[0]);
	tun[1] = make_side("10.77.0.2", window, &space[1]);
	printf("ready %ld %d %d\n", (long)getpid(), space[0], space[1]);
	(void)fflush(stdout);
	carry(tun, delay_us * 1000);
}
