// SPDX-License-Identifier: GPL-2.0-only
/* A life of the node ends, and with it what was under way by its connection, see lives.h. */
#include "lives.h"

#include "link.h"
#include "tests/common/check.h"
#include "tools/common/clock.h"
#include "tools/common/random.h"

#define HEALED		"/run/land-healed"
#define CUT		"/run/land-cut"
#define QUIET_MS	500	/* without a block: it may be cut off */

static u64 state = 1;

static void say(const char *what)
{
	puts(what);
	fflush(stdout);
}

static void wait_for(const char *file)
{
	u64 end = now_ms() + PLAYER_LIMIT_S * 1000;	/* a blade that stands still gives nodes time */

	while (access(file, F_OK) && now_ms() < end)
		usleep(20000);
	CHECK(now_ms() < end);
}

/* As many blocks as there are landings are under way.  Return: false: it is cut off. */
static bool lands_some(void)
{
	u32 txn[CARD_LANDINGS], i, got, k;
	u64 of, end;

	for (i = 0; i < CARD_LANDINGS; i++) {
		struct weft_landing landing = card_open(&card, i);

		txn[i] = player_txn();
		player_ask(random_u32(&state) % WRITTEN, txn[i], &landing);
	}
	for (i = 0; i < CARD_LANDINGS; i++) {
		/* one that is late says nothing: the machine may have stood still */
		for (end = now_ms() + WAIT_MS; !(got = landed_within(&of, QUIET_MS)); ) {
			if (!player_is_heard())
				return false;
			CHECK(now_ms() < end);
		}
		for (k = 0; k < CARD_LANDINGS && txn[k] != got; k++)
			;
		CHECK(k < CARD_LANDINGS);
	}
	return true;
}

/* What the former life had under way has ended with it. */
static void check_over(void)
{
	CHECK_EQ(counter("rdma_connections"), 0);
	CHECK_EQ(counter("rdma_under_way"), 0);
}

/* The node has joined in another life. */
static void use_anew(void)
{
	player_open();
	card_disconnect(&card);
	link_up();
	lands_one(2);
	card_disconnect(&card);
}

void case_dead(void)
{
	static u8 found[CARD_LANDINGS][BLOCK];
	u32 rounds = 0;

	link_up();
	say("connected");
	while (lands_some())
		if (!rounds++)
			say("landed");
	CHECK(rounds);
	say("cut off");
	wait_for(HEALED);
	/* for the blade it was another node that had these landings */
	player_join_anew();
	check_over();
	memcpy(found, card_memory, sizeof(found));
	usleep(QUIET_MS * 1000);
	CHECK(!memcmp(found, card_memory, sizeof(found)));
	use_anew();
}

void case_silent(void)
{
	link_up();
	lands_one(1);
	say("connected");
	wait_for(HEALED);
	player_join_anew();
	check_over();
	use_anew();
}

/*
 * The blade, not the first one, is cut off from all others as the node begins another life, of
 * which it hears when it is back.
 */
void case_anew(void)
{
	struct weft_landing landing;
	u32 txn;

	link_up();
	lands_one(1);
	landing = card_open(&card, 0);
	say("connected");
	wait_for(CUT);
	player_join_anew();
	check_over();
	player_open();
	txn = player_txn();
	player_ask(1, txn, &landing);
	CHECK(player_data_comes(txn, WAIT_MS));
	CHECK(card_memory[0][0] == 0xEE && card_memory[0][BLOCK - 1] == 0xEE);
	use_anew();
}

/* Another node, by which the blade knows that it is not cut off itself. */
void case_stays(void)
{
	u64 end = now_ms() + PLAYER_LIMIT_S * 1000;

	while (access(HEALED, F_OK) && now_ms() < end) {
		CHECK_EQ(counter("rdma_refused"), 0);
		usleep(100000);
	}
	CHECK(now_ms() < end);
}
