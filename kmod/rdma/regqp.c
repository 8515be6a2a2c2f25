// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registration QP: makes and destroys it, and posts registrations and invalidations.  Called
 * by main.c, mr.c and fault.c.  No work request in it depends on another member.
 */
#include <rdma/ib_cache.h>

#include "rdma/regqp.h"

#define HOPS	64

static int to_init(struct weft_card *card, struct ib_qp *qp)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT, .port_num = card->listener->port_num,
	};

	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			    IB_QP_ACCESS_FLAGS);
}

/* Ready to receive, with itself as its peer. */
static int to_receive(struct weft_card *card, struct ib_qp *qp)
{
	const struct ib_gid_attr *own = card->listener->route.addr.dev_addr.sgid_attr;
	u32 port = card->listener->port_num;
	struct ib_port_attr port_attr;
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTR, .dest_qp_num = qp->qp_num, .max_dest_rd_atomic = 1,
	};
	union ib_gid gid;
	int err;

	if (!own)
		return -ENODEV;
	err = ib_query_port(card->device, port, &port_attr);
	if (err)
		return err;
	attr.path_mtu = port_attr.active_mtu;
	attr.ah_attr.type = rdma_ah_find_type(card->device, port);
	gid = own->gid;
	rdma_ah_set_grh(&attr.ah_attr, &gid, 0, own->index, HOPS, 0);
	rdma_ah_set_port_num(&attr.ah_attr, port);
	if (attr.ah_attr.type == RDMA_AH_ATTR_TYPE_IB)
		rdma_ah_set_dlid(&attr.ah_attr, port_attr.lid);
	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
			    IB_QP_DEST_QPN | IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC |
			    IB_QP_MIN_RNR_TIMER);
}

static int to_send(struct ib_qp *qp)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7,
		.max_rd_atomic = 1,
	};

	return ib_modify_qp(qp, &attr, IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
			    IB_QP_RNR_RETRY | IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC);
}

int weft_regqp_open(struct weft_card *card)
{
	struct ib_qp_init_attr attr = {
		.send_cq = card->cq, .recv_cq = card->cq, .qp_type = IB_QPT_RC,
		.sq_sig_type = IB_SIGNAL_REQ_WR, .port_num = card->listener->port_num,
		/* one work request for each MR at a time, and one to drain the queue */
		.cap = { .max_send_wr = WEFT_MRS + 1, .max_recv_wr = 1,
			 .max_send_sge = 1, .max_recv_sge = 1 },
	};
	struct ib_qp *qp = ib_create_qp(card->pd, &attr);
	int err;

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	err = to_init(card, qp);
	if (!err)
		err = to_receive(card, qp);
	if (!err)
		err = to_send(qp);
	if (err) {
		ib_destroy_qp(qp);
		return err;
	}
	spin_lock_bh(&card->lock);
	card->regqp.qp = qp;
	card->regqp.broken = false;
	spin_unlock_bh(&card->lock);
	return 0;
}

void weft_regqp_close(struct weft_card *card)
{
	struct ib_qp *qp;

	spin_lock_bh(&card->lock);
	qp = card->regqp.qp;
	/* from here on nothing is posted */
	card->regqp.qp = NULL;
	card->regqp.broken = false;
	spin_unlock_bh(&card->lock);
	if (!qp)
		return;
	ib_drain_sq(qp);
	ib_destroy_qp(qp);
}

static bool ask(struct weft_mr *mr, const struct ib_send_wr *wr)
{
	struct weft_regqp *regqp = &mr->card->regqp;

	lockdep_assert_held(&mr->card->lock);
	if (!regqp->qp || regqp->broken || ib_post_send(regqp->qp, wr, NULL))
		return false;
	mr->since = jiffies;
	return true;
}

bool weft_regqp_register(struct weft_mr *mr)
{
	struct ib_reg_wr wr = {
		.wr = { .wr_cqe = &mr->reg, .opcode = IB_WR_REG_MR,
			.send_flags = IB_SEND_SIGNALED },
		.mr = mr->ib, .key = mr->ib->rkey,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
	};

	return ask(mr, &wr.wr);
}

bool weft_regqp_revoke(struct weft_mr *mr, struct ib_cqe *done)
{
	struct ib_send_wr wr = {
		.wr_cqe = done, .opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED, .ex.invalidate_rkey = mr->ib->rkey,
	};

	return ask(mr, &wr);
}
