// SPDX-License-Identifier: GPL-2.0-only
/*
 * Faults that tests inject by module parameters.  The mender injects them, mr.c asks for two
 * that hold.  Changes no state of the other files: they have to find out by completions.
 */
#include <linux/delay.h>
#include <linux/moduleparam.h>

#include "rdma/fault.h"
#include "rdma/regqp.h"

#define HOLD_MAX_MS	60000
#define HOLD_MS		20

static unsigned int fail_queues;
module_param(fail_queues, uint, 0600);
MODULE_PARM_DESC(fail_queues, "for tests: whenever this changes the queue pairs of all connections fail");

static unsigned int fail_keys;
module_param(fail_keys, uint, 0600);
MODULE_PARM_DESC(fail_keys, "for tests: whenever this changes the keys of all open landings count no more");

static bool fail_opens;
module_param(fail_opens, bool, 0600);
MODULE_PARM_DESC(fail_opens, "for tests: no landing can be opened");

static bool hold_keys;
module_param(hold_keys, bool, 0600);
MODULE_PARM_DESC(hold_keys, "for tests: no key of a landing ends with its registration, for a minute");

bool weft_fault_open(void)
{
	return READ_ONCE(fail_opens);
}

void weft_fault_hold(void)
{
	unsigned int ms;

	if (READ_ONCE(hold_keys))
		pr_notice("weft_rdma: for a test a key is held\n");
	for (ms = 0; READ_ONCE(hold_keys) && ms < HOLD_MAX_MS; ms += HOLD_MS)
		msleep(HOLD_MS);
}

/*
 * Put a queue pair into the error state.  The connection stays UP: the next work request fails.
 */
static bool fail_queue(struct weft_conn *conn)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	bool up;

	spin_lock_bh(&conn->card->lock);
	up = conn->state == WEFT_CONN_UP;
	spin_unlock_bh(&conn->card->lock);
	/* only the mender clears conn->id, and this is the mender */
	return up && !ib_modify_qp(conn->id->qp, &attr, IB_QP_STATE);
}

static u32 fail_all_queues(struct weft_card *card)
{
	u32 i, n = 0;

	for (i = 0; i < ARRAY_SIZE(card->conns); i++)
		n += fail_queue(&card->conns[i]);
	return n;
}

static void key_failed(struct ib_cq *cq, struct ib_wc *wc)
{
	struct weft_card *card = container_of(wc->wr_cqe, struct weft_card, fault.told);

	if (wc->status == IB_WC_SUCCESS)
		return;
	/* the key was invalidated before: some devices take that for an error, see mr.c */
	spin_lock_bh(&card->lock);
	card->regqp.broken = true;
	weft_card_wake(card);
	spin_unlock_bh(&card->lock);
}

static u32 fail_all_keys(struct weft_card *card)
{
	u32 i, n = 0;

	spin_lock_bh(&card->lock);
	for (i = 0; i < WEFT_MRS; i++)
		if (card->mrs[i].state == WEFT_MR_OPEN)
			n += weft_regqp_revoke(&card->mrs[i], &card->fault.told);
	spin_unlock_bh(&card->lock);
	return n;
}

void weft_fault_mend(struct weft_card *card)
{
	struct weft_fault *fault = &card->fault;

	if (fault->queues != READ_ONCE(fail_queues)) {
		fault->queues = READ_ONCE(fail_queues);
		pr_notice("weft_rdma: for a test %u queue pairs fail\n", fail_all_queues(card));
	}
	if (fault->keys != READ_ONCE(fail_keys)) {
		fault->keys = READ_ONCE(fail_keys);
		pr_notice("weft_rdma: for a test %u keys fail\n", fail_all_keys(card));
	}
}

void weft_fault_init(struct weft_card *card)
{
	card->fault.queues = READ_ONCE(fail_queues);
	card->fault.keys = READ_ONCE(fail_keys);
	card->fault.told.done = key_failed;
}
