// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sends what nobody should send to a member of a rack: random datagrams, and weft
 * messages of all types in which some fields are wrong but all sums are right.
 *
 *	system-hostile random|mutated PACKETS SEED REGION SPARED SOCKET FROM TO
 *
 * They go to the network interface of the guest whose address is TO, through the
 * unix socket that is its wire (weft-rack), as if the member with the address FROM
 * had sent them.  The socket takes a frame when the guest has taken one before it,
 * so that none gets lost on the way to the guest.
 *
 * Mutated messages are mostly about lines of REGION, and never about those of the
 * region SPARED: who can make messages with right sums in the rack's network can
 * change data there, as any of its nodes can.  With one seed, the same packets.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <net/ethernet.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "call.h"
#include "tests/common/argument.h"
#include "tools/common/random.h"
#include "types.h"
#include "weft_wire.h"
#include "wire.h"

#define BATCH		32
#define PAUSE_US	500	/* after each batch: the guest has other work, too */
#define PACKET_MAX	(WEFT_WIRE_HDR_LEN + 8192)
#define HEADERS		(ETHER_HDR_LEN + sizeof(struct iphdr) + sizeof(struct udphdr))

static uint64_t state;
static uint8_t sender;	/* the member that the address is that of */

static uint64_t draw(void)
{
	return random_u64(&state);
}

static uint32_t below(uint32_t n)
{
	return (uint32_t)random_below(&state, n);
}

static int chance(uint32_t percent)
{
	return below(100) < percent;
}

static void fill(uint8_t *buf, size_t len)
{
	for (size_t i = 0; i < len; i++)
		buf[i] = (uint8_t)(draw() >> 56);
}

/* Garbage; half of it begins as a weft message does. */
static size_t make_random(uint8_t *buf)
{
	size_t len = chance(50) ? below(200) : below(1400);

	fill(buf, len);
	if (len > 2 && chance(50)) {
		buf[0] = WEFT_WIRE_MAGIC;
		buf[1] = WEFT_WIRE_VERSION;
	}
	return len;
}

static const uint8_t types[] = {
	WEFT_MSG_GETS, WEFT_MSG_GETM, WEFT_MSG_PUT, WEFT_MSG_COMMIT, WEFT_MSG_ABORT,
	WEFT_MSG_QUERY, WEFT_MSG_ADD, WEFT_MSG_REMOVE, WEFT_MSG_DROP, WEFT_MSG_MEMBERS,
	WEFT_MSG_COUNT, WEFT_MSG_ACQUIRE, WEFT_MSG_HAND, WEFT_MSG_PASS, WEFT_MSG_INV,
	WEFT_MSG_FWD, WEFT_MSG_READ, WEFT_MSG_GRANT, WEFT_MSG_NACK, WEFT_MSG_COMMIT_ACK,
	WEFT_MSG_INFO, WEFT_MSG_ADD_ACK, WEFT_MSG_REMOVE_ACK, WEFT_MSG_DROP_ACK,
	WEFT_MSG_MEMBERS_ACK, WEFT_MSG_COUNT_ACK, WEFT_MSG_ENQUEUE, WEFT_MSG_HANDED,
	WEFT_MSG_PASSED, WEFT_MSG_DATA, WEFT_MSG_INV_ACK, WEFT_MSG_WB, WEFT_MSG_WB_ACK,
	WEFT_MSG_CHASE, WEFT_MSG_HAND_ACK, WEFT_MSG_CALL, WEFT_MSG_REPLY,
};

static int is_about_lock(uint8_t type)
{
	return type == WEFT_MSG_ACQUIRE || type == WEFT_MSG_HAND ||
	       type == WEFT_MSG_ENQUEUE || type == WEFT_MSG_HANDED ||
	       type == WEFT_MSG_HAND_ACK;
}

static int has_block(uint8_t type)
{
	return type == WEFT_MSG_DATA || type == WEFT_MSG_WB || type == WEFT_MSG_PASS ||
	       type == WEFT_MSG_PASSED;
}

static uint32_t any_region(uint32_t region, uint32_t spared)
{
	uint32_t r = chance(90) ? region : below(WEFT_REGION_MAX + 1);

	return r == spared ? region : r;
}

/* Pages are numbered; a lock has the offset of the variable that it is in the region. */
static uint64_t any_line(uint8_t type, uint32_t region, uint32_t spared)
{
	int lock = chance(95) ? is_about_lock(type) : chance(50);
	uint64_t index = lock ? 64 * below(128) : below(64);

	return weft_line_key(any_region(region, spared),
			     chance(97) ? (lock ? WEFT_KIND_LOCK : WEFT_KIND_PAGE) : below(16),
			     chance(90) ? index : draw() & 0xFFFFFFFFF);
}

static uint8_t any_member(void)
{
	/* what another address names is not even looked at, mostly */
	if (chance(50))
		return sender;
	return (uint8_t)(chance(80) ? 1 + below(4) : chance(50) ? WEFT_BLADE_MIN :
			 1 + below(WEFT_BLADE_MAX));
}

static uint32_t any_bits(void)
{
	return chance(70) ? below(16) : (uint32_t)draw();
}

/* Of a call, too, some fields make sense and some do not. */
static uint32_t make_call(uint8_t *buf, uint32_t region, uint32_t spared)
{
	static struct weft_call call;
	uint32_t len;

	memset(&call, 0, sizeof(call));
	/* members may take each other for dead: what the others do is to go on */
	do
		call.op = (uint16_t)below(WEFT_CALL_MAX + 2);
	while (call.op == WEFT_CALL_FENCE_NODE);
	call.err = (uint16_t)(chance(50) ? 0 : below(200));
	call.node = any_member();
	call.valid = (uint32_t)draw();
	call.region = any_region(region, spared);
	call.mode = (uint32_t)draw();
	call.block = chance(50) ? 1u << below(32) : (uint32_t)draw();
	call.members = any_bits();
	call.addr = (uint32_t)draw();
	call.life = (uint32_t)draw();
	call.size = chance(50) ? below(1 << 20) : draw();
	call.cookie = chance(50) ? below(64) : draw();
	call.name_len = (uint16_t)below(WEFT_NAME_MAX + 1);
	fill((uint8_t *)call.name, call.name_len);
	call.list_len = (uint16_t)(chance(50) ? 0 : below(WEFT_CALL_LIST_MAX + 1));
	fill(call.list, call.list_len);
	len = weft_call_pack(&call, buf);
	if (chance(20))
		len = below(len + 1);
	return len;
}

static size_t make_mutated(uint8_t *buf, uint32_t region, uint32_t spared)
{
	uint8_t *payload = buf + WEFT_WIRE_HDR_LEN;
	struct weft_msg m = { 0 };

	m.type = (uint8_t)(chance(97) ? types[below(sizeof(types))] : below(256));
	m.flags = (uint8_t)draw();
	m.src = any_member();
	m.status = (uint8_t)below(3);
	m.info = (uint16_t)(chance(50) ? below(9) : 64 * below(1024));
	m.txn = weft_txn(any_member(), chance(50) ? below(4096) : below(1 << 26));
	m.line = any_line(m.type, region, spared);
	m.copyset = any_bits();
	m.provider = chance(70) ? 1u << below(4) : any_bits();
	m.holder = weft_txn(any_member(), below(4096));
	m.nonce = (uint32_t)draw();
	m.grant = chance(70) ? below(64) : (uint32_t)draw();
	m.version = chance(80) ? below(100) : draw();
	m.offset = 64 * below(chance(80) ? 65 : 65536);
	m.size = chance(80) ? 4096 : 1u << below(32);
	if (m.type == WEFT_MSG_CALL || m.type == WEFT_MSG_REPLY) {
		m.len = make_call(payload, region, spared);
	} else if (chance(has_block(m.type) ? 95 : 10)) {
		m.len = chance(70) ? 4096 : 64 * below(64);
		m.info = (uint16_t)(chance(70) ? m.len : m.info);
		memset(payload, (int)below(256), m.len);
	}
	m.payload = m.len ? payload : NULL;
	weft_wire_pack_plain(&m, buf);
	return WEFT_WIRE_HDR_LEN + m.len;
}

/* --- frames ----------------------------------------------------------------- */

static uint16_t ip_sum(const uint8_t *header)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < sizeof(struct iphdr); i += 2)
		sum += (uint32_t)(header[i] << 8 | header[i + 1]);
	sum = (sum & 0xFFFF) + (sum >> 16);
	return (uint16_t)~((sum & 0xFFFF) + (sum >> 16));
}

/* weft-rack's guests have the last byte of their address in that of the interface. */
static void mac_of(uint32_t address, uint8_t *mac)
{
	const uint8_t all[] = { 0x02, 0x57, 0x45, 0x46, 0x00, (uint8_t)address };

	memcpy(mac, all, sizeof(all));
}

static void make_headers(uint8_t *buf, uint32_t from, uint32_t to, size_t payload)
{
	struct udphdr udp = {
		.source = htons(WEFT_WIRE_UDP_PORT),
		.dest = htons(WEFT_WIRE_UDP_PORT),
		.len = htons((uint16_t)(sizeof(udp) + payload)),
		/* no sum, as members send it */
	};
	struct iphdr ip = {
		.version = 4,
		.ihl = sizeof(ip) / 4,
		.tot_len = htons((uint16_t)(sizeof(ip) + sizeof(udp) + payload)),
		.frag_off = htons(IP_DF),
		.ttl = 64,
		.protocol = IPPROTO_UDP,
		.saddr = htonl(from),
		.daddr = htonl(to),
	};
	uint8_t *at = buf;

	mac_of(to, at);
	mac_of(from, at + ETHER_ADDR_LEN);
	at += (size_t)2 * ETHER_ADDR_LEN;
	*at++ = ETHERTYPE_IP >> 8;
	*at++ = ETHERTYPE_IP & 0xFF;
	memcpy(at, &ip, sizeof(ip));
	ip.check = htons(ip_sum(at));
	memcpy(at, &ip, sizeof(ip));
	memcpy(at + sizeof(ip), &udp, sizeof(udp));
}

static int connect_to(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	if (strlen(path) >= sizeof(a.sun_path)) {
		fprintf(stderr, "system-hostile: the path %s is too long\n", path);
		return -1;
	}
	strcpy(a.sun_path, path);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&a, sizeof(a))) {
		perror("system-hostile: cannot reach the guest's wire");
		return -1;
	}
	return fd;
}

static int send_all(int fd, int mutated, unsigned long packets, uint32_t region,
		    uint32_t spared, uint32_t from, uint32_t to)
{
	static uint8_t buf[HEADERS + PACKET_MAX];
	uint8_t *payload = buf + HEADERS;

	for (unsigned long i = 0; i < packets; i++) {
		size_t len = mutated ? make_mutated(payload, region, spared) :
				       make_random(payload);

		make_headers(buf, from, to, len);
		/* blocks until there is room */
		while (send(fd, buf, HEADERS + len, 0) < 0) {
			if (errno != EINTR) {
				perror("system-hostile: cannot send");
				return 1;
			}
		}
		if (i % BATCH == BATCH - 1)
			usleep(PAUSE_US);
	}
	printf("%lu sent\n", packets);
	return 0;
}

static int address(const char *text, uint32_t *a)
{
	struct in_addr in;

	if (inet_pton(AF_INET, text, &in) != 1) {
		fprintf(stderr, "system-hostile: '%s' is no address\n", text);
		return -1;
	}
	*a = ntohl(in.s_addr);
	return 0;
}

int main(int argc, char **argv)
{
	int fd, mutated = argc > 1 && !strcmp(argv[1], "mutated");
	uint32_t from, to;

	if (argc != 9 || (!mutated && strcmp(argv[1], "random") != 0)) {
		fprintf(stderr, "usage: system-hostile random|mutated PACKETS SEED REGION SPARED SOCKET FROM TO\n");
		return 2;
	}
	if (address(argv[7], &from) || address(argv[8], &to))
		return 2;
	sender = (uint8_t)from;
	state = argument(argv[3], 0, UINT64_MAX);
	fd = connect_to(argv[6]);
	if (fd < 0)
		return 1;
	return send_all(fd, mutated, argument(argv[2], 1, UINT64_MAX),
			argument_u32(argv[4]),
			argument_u32(argv[5]), from, to);
}
