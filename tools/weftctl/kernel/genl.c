// SPDX-License-Identifier: GPL-2.0-only
/* Generic netlink by libnl-3, see genl.h. */
#include "kernel/genl.h"

#include <errno.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <string.h>
#include <sys/socket.h>

#include "weft_netlink.h"

static struct nl_sock *sock;
static struct nl_sock *listener;
static int family;

/* One request under way. */
struct exchange {
	struct nl_msg *request;
	int max;
	genl_answer_fn *answer;
	void *arg;
	struct genl_refusal *why;
	bool ended;
};

/* libnl has errors of its own; few can happen here. */
static int to_errno(int err)
{
	switch (-err) {
	case NLE_SUCCESS:		return 0;
	case NLE_OBJ_NOTFOUND:		return -ENOENT;
	case NLE_NOMEM:			return -ENOMEM;
	case NLE_INTR:			return -EINTR;
	case NLE_PERM:
	case NLE_NOACCESS:		return -EPERM;
	case NLE_AF_NOSUPPORT:
	case NLE_PROTO_MISMATCH:	return -EPROTONOSUPPORT;
	case NLE_MSG_TRUNC:
	case NLE_DUMP_INTR:		return -EAGAIN;
	default:			return -EIO;
	}
}

int genl_open(void)
{
	const int on = 1;
	int err;

	if (!sock) {
		sock = nl_socket_alloc();
		if (!sock)
			return -ENOMEM;
		err = genl_connect(sock);
		if (err < 0) {
			genl_close();
			return to_errno(err);
		}
		/* Sentences are a comfort: go on without. */
		(void)setsockopt(nl_socket_get_fd(sock), SOL_NETLINK,
				 NETLINK_EXT_ACK, &on, sizeof(on));
		nl_socket_disable_auto_ack(sock);
	}
	family = genl_ctrl_resolve(sock, WEFT_GENL_NAME);
	return family < 0 ? to_errno(family) : 0;
}

void genl_close(void)
{
	nl_socket_free(sock);
	sock = NULL;
	nl_socket_free(listener);
	listener = NULL;
}

struct nl_msg *genl_request(uint8_t cmd, bool dump)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (msg && !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0,
				dump ? NLM_F_DUMP : NLM_F_ACK, cmd, WEFT_GENL_VERSION)) {
		nlmsg_free(msg);
		msg = NULL;
	}
	return msg;
}

/* The attribute of the request that begins @offset bytes into it. */
static unsigned int attr_at(struct nl_msg *request, uint32_t offset)
{
	struct nlmsghdr *h = nlmsg_hdr(request);
	struct nlattr *a;
	int rem;

	nlmsg_for_each_attr(a, h, GENL_HDRLEN, rem) {
		if ((char *)a - (char *)h == (ptrdiff_t)offset)
			return (unsigned int)nla_type(a);
	}
	return 0;
}

/* Read the extended acknowledgement of an error: @len bytes of attributes. */
static void read_refusal(struct exchange *x, struct nlattr *attrs, int len)
{
	/* Newer than some libc's headers: NLMSGERR_ATTR_MISS_TYPE. */
	enum { ATTR_MSG = 1, ATTR_OFFS = 2, ATTR_MISS_TYPE = 5, ATTR_LAST = 5 };
	struct nlattr *tb[ATTR_LAST + 1];

	if (nla_parse(tb, ATTR_LAST, attrs, len, NULL) < 0)
		return;
	if (tb[ATTR_MSG])
		nla_strlcpy(x->why->text, tb[ATTR_MSG], sizeof(x->why->text));
	if (tb[ATTR_OFFS] && nla_len(tb[ATTR_OFFS]) == sizeof(uint32_t))
		x->why->attr = attr_at(x->request, nla_get_u32(tb[ATTR_OFFS]));
	if (tb[ATTR_MISS_TYPE] && nla_len(tb[ATTR_MISS_TYPE]) == sizeof(uint32_t)) {
		x->why->attr = nla_get_u32(tb[ATTR_MISS_TYPE]);
		x->why->missing = true;
	}
}

/* The end of an answer that is no list, and of a request that was refused. */
static int on_error(struct sockaddr_nl *from, struct nlmsgerr *e, void *arg)
{
	struct nlmsghdr *h = (void *)((char *)e - NLMSG_HDRLEN);
	struct exchange *x = arg;
	size_t skip = NLMSG_HDRLEN + sizeof(*e);

	(void)from;
	x->ended = true;
	x->why->code = e->error;
	/* The refused request stands before the attributes, unless capped. */
	if (!(h->nlmsg_flags & NLM_F_CAPPED))
		skip += e->msg.nlmsg_len - NLMSG_HDRLEN;
	skip = NLMSG_ALIGN(skip);
	if (h->nlmsg_flags & NLM_F_ACK_TLVS && skip < h->nlmsg_len)
		read_refusal(x, (void *)((char *)h + skip), (int)(h->nlmsg_len - skip));
	return NL_STOP;
}

static int on_ack(struct nl_msg *msg, void *arg)
{
	struct exchange *x = arg;

	(void)msg;
	x->ended = true;
	return NL_STOP;
}

/* The end of a list, or an error in the middle of it. */
static int on_done(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *h = nlmsg_hdr(msg);
	struct exchange *x = arg;
	const int skip = NLMSG_ALIGN(sizeof(int));

	x->ended = true;
	if (nlmsg_datalen(h) >= (int)sizeof(int))
		memcpy(&x->why->code, nlmsg_data(h), sizeof(int));
	if (x->why->code > 0)
		x->why->code = 0;
	if (h->nlmsg_flags & NLM_F_ACK_TLVS && nlmsg_datalen(h) > skip)
		read_refusal(x, (void *)((char *)nlmsg_data(h) + skip), nlmsg_datalen(h) - skip);
	return NL_STOP;
}

static int on_valid(struct nl_msg *msg, void *arg)
{
	struct nlmsghdr *h = nlmsg_hdr(msg);
	struct exchange *x = arg;
	struct nlattr *attrs[x->max + 1];
	int err;

	/* Types beyond max are of a newer module, and passed over. */
	if (!x->answer || genlmsg_parse(h, 0, attrs, x->max, NULL) < 0)
		err = -EPROTO;
	else
		err = x->answer(attrs, h, x->arg);
	if (!err)
		return NL_OK;
	x->ended = true;
	x->why->code = err;
	return NL_STOP;
}

int genl_call(struct nl_msg *msg, int max, genl_answer_fn *answer, void *arg,
	      struct genl_refusal *why)
{
	struct exchange x = { msg, max, answer, arg, why, false };
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int err = -NLE_NOMEM;

	*why = (struct genl_refusal){ 0 };
	if (msg && cb) {
		nl_cb_err(cb, NL_CB_CUSTOM, on_error, &x);
		nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_ack, &x);
		nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_done, &x);
		nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_valid, &x);
		err = nl_send_auto(sock, msg);
		while (err >= 0 && !x.ended)
			err = nl_recvmsgs(sock, cb);
	}
	/* After NL_STOP libnl's own result says nothing more. */
	if (!x.ended)
		why->code = err < 0 ? to_errno(err) : -EIO;
	if (cb)
		nl_cb_put(cb);
	nlmsg_free(msg);
	return why->code;
}

/* --- Groups -------------------------------------------------------------- */

#define LISTEN_BUFFER	(1 << 20)	/* bytes of messages that wait to be read */

int genl_listen(const char *group)
{
	int err, id;

	listener = nl_socket_alloc();
	if (!listener)
		return -ENOMEM;
	/* Events have no sequence numbers of requests. */
	nl_socket_disable_seq_check(listener);
	err = genl_connect(listener);
	if (!err)
		err = nl_socket_set_nonblocking(listener);
	if (err)
		return to_errno(err);
	/* Less than asked for is enough, too. */
	(void)nl_socket_set_buffer_size(listener, LISTEN_BUFFER, 0);
	id = genl_ctrl_resolve_grp(listener, WEFT_GENL_NAME, group);
	if (id < 0)
		return to_errno(id);
	err = nl_socket_add_membership(listener, id);
	return err ? to_errno(err) : nl_socket_get_fd(listener);
}

static int on_any_sequence(struct nl_msg *msg, void *arg)
{
	(void)msg;
	(void)arg;
	return NL_OK;
}

int genl_take(int max, genl_answer_fn *answer, void *arg)
{
	struct genl_refusal why = { 0 };
	struct exchange x = { NULL, max, answer, arg, &why, false };
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int err;

	if (!cb)
		return -ENOMEM;
	nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, on_valid, &x);
	nl_cb_set(cb, NL_CB_SEQ_CHECK, NL_CB_CUSTOM, on_any_sequence, NULL);
	do {
		err = nl_recvmsgs(listener, cb);
	} while (err >= 0 && !x.ended);
	nl_cb_put(cb);
	if (x.ended)
		return why.code;
	/* The library says so for ENOBUFS. */
	if (err == -NLE_NOMEM)
		return -ENOBUFS;
	return err == -NLE_AGAIN ? 0 : to_errno(err);
}
