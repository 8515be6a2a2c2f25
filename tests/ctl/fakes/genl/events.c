// SPDX-License-Identifier: GPL-2.0-only
/* Events of the kernel that genl.c here plays. */
#include <arpa/inet.h>
#include <errno.h>
#include <netlink/genl/genl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tests/ctl/fakes/genl/answer.h"
#include "weft_netlink.h"

static int events = -1;

int genl_listen(const char *group)
{
	(void)group;
	if (!strcmp(scenario(), "old-module"))
		return -ENOENT;
	events = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK);
	return events;
}

static int answer_event(struct answering *a, uint32_t kind)
{
	begin(a);
	nla_put_u32(a->msg, WEFT_A_EVENT_KIND, kind);
	nla_put_u32(a->msg, WEFT_A_EVENT_RACK, has_two_racks() && kind % 2 ? UINT32_MAX : 7);
	nla_put_u64(a->msg, WEFT_A_EVENT_TIME, 1000000001002003004 + kind);
	if (kind == WEFT_EVENT_KIND_ACCESS_FAILED)
		nla_put_u32(a->msg, WEFT_A_EVENT_MISSED, 12);
	if (kind <= WEFT_EVENT_KIND_MEMBER_HEARD || kind == WEFT_EVENT_KIND_NODE_DEAD ||
	    kind == WEFT_EVENT_KIND_BLADE_MOVED)
		nla_put_u32(a->msg, WEFT_A_EVENT_MEMBER,
			    kind < 2 || kind == WEFT_EVENT_KIND_NODE_DEAD ? 3 : 33);
	if (kind == WEFT_EVENT_KIND_BLADE_MOVED)
		nla_put_u32(a->msg, WEFT_A_EVENT_ADDRESS, inet_addr("10.0.0.133"));
	if ((kind > WEFT_EVENT_KIND_MEMBER_HEARD && kind < WEFT_EVENT_KIND_DIRECTORY) ||
	    kind == WEFT_EVENT_KIND_LOCK_OWNER_DIED)
		nla_put_u32(a->msg, WEFT_A_EVENT_REGION,
			    kind == WEFT_EVENT_KIND_BLOCKS_LOST ? 4711 : 7);
	if (kind == WEFT_EVENT_KIND_REGION_CREATED || kind == WEFT_EVENT_KIND_REGION_REMOVED)
		nla_put_string(a->msg, WEFT_A_EVENT_NAME, "new \033[2J");
	if (kind == WEFT_EVENT_KIND_LOCK_OWNER_DIED ||
	    (kind >= WEFT_EVENT_KIND_LOCK_ABANDONED && kind <= WEFT_EVENT_KIND_UNANSWERED &&
	     kind != WEFT_EVENT_KIND_BLOCKS_LOST))
		nla_put_u64(a->msg, WEFT_A_EVENT_OFFSET, 65536 + kind);
	if (kind >= WEFT_EVENT_KIND_LOCK_ABANDONED && kind != WEFT_EVENT_KIND_ACCESS_FAILED &&
	    kind != WEFT_EVENT_KIND_LOCK_OWNER_DIED && kind != WEFT_EVENT_KIND_NODE_DEAD &&
	    kind != WEFT_EVENT_KIND_BLADE_MOVED)
		nla_put_u64(a->msg, WEFT_A_EVENT_COUNT, kind);
	if (kind == WEFT_EVENT_KIND_ACCESS_FAILED)
		nla_put_u32(a->msg, WEFT_A_EVENT_ERRNO, ETIMEDOUT);
	if (kind == WEFT_EVENT_KIND_REGION_CREATED || kind == WEFT_EVENT_KIND_LOCK_ABANDONED ||
	    kind == WEFT_EVENT_KIND_ACCESS_FAILED) {
		nla_put_u32(a->msg, WEFT_A_EVENT_PID, 312);
		nla_put_string(a->msg, WEFT_A_EVENT_COMM, "who\007");
	}
	if (kind == WEFT_EVENT_KIND_DIRECTORY)
		nla_put_flag(a->msg, WEFT_A_EVENT_SWITCH);
	return end(a);
}

/* One of each kind, and one of a newer module; in scenario "lossy" some were lost. */
int genl_take(int max, genl_answer_fn *answer, void *arg)
{
	struct answering a = { NULL, max, answer, arg };
	static bool lost;
	uint32_t kind;
	uint64_t n;
	int err = 0;

	if (!strcmp(scenario(), "lossy") && !lost) {
		lost = true;
		return -ENOBUFS;
	}
	if (read(events, &n, sizeof(n)) < 0)
		return 0;
	for (kind = 0; kind <= __WEFT_EVENT_KIND_MAX && !err; kind++)
		err = answer_event(&a, kind);
	return err;
}
