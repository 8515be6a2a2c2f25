/* SPDX-License-Identifier: GPL-2.0-only */
/* What all commands of the netlink family need. */
#ifndef WEFT_GENL_H
#define WEFT_GENL_H

#include <linux/netlink.h>
#include <net/genetlink.h>

/* Of a group of messages; kernels before 6.7 have only the flag of commands for it. */
#ifndef GENL_MCAST_CAP_NET_ADMIN
#define GENL_MCAST_CAP_NET_ADMIN	GENL_UNS_ADMIN_PERM
#endif

/* The family, from weft_netlink_init() on. */
extern const struct genl_family *weft_genl_family;

struct weft_config;
struct weft_rack;

/**
 * weft_genl_rack() - which rack a request is about
 * @type: the attribute that names it
 *
 * Return: a reference to it; the only one, if the request names none; ERR_PTR(-ENOTUNIQ),
 * ERR_PTR(-ENOTCONN).
 */
struct weft_rack *weft_genl_rack(const struct nlmsghdr *request, int type,
				 struct netlink_ext_ack *extack);

static inline int weft_genl_not_up(struct netlink_ext_ack *extack)
{
	NL_SET_ERR_MSG(extack, "the node is not set up");
	return -ENOTCONN;
}

/*
 * Every list keeps its state in memory of its own, from start to done; it is filled at the
 * start or by the first question, so that all messages of a list tell of the same moment.
 */

/*
 * State of a list, zeroed memory that weft_genl_list_done() frees, and the rack it is of.
 * cb->args: these two, and the credentials of who opened the socket.
 */
void *weft_genl_list(const struct netlink_callback *cb);
struct weft_rack *weft_genl_list_rack(const struct netlink_callback *cb);

/* The command that asked for a list. */
static inline u8 weft_genl_cmd(const struct netlink_callback *cb)
{
	return ((const struct genlmsghdr *)nlmsg_data(cb->nlh))->cmd;
}

/**
 * weft_genl_list_new() - begin a list
 * @size: of the state
 * @type: the attribute that names the rack; 0: it is of none
 *
 * Who cannot start after all ends with weft_genl_list_done().
 *
 * Return: the state, or ERR_PTR() of what weft_genl_rack() says or -ENOMEM.
 */
void *weft_genl_list_new(struct netlink_callback *cb, size_t size, int type);

/* Begins a message of a list.  Return: NULL if the buffer is full. */
void *weft_genl_item(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd);

/* Ends it, or takes it out again: @err, there was no room.  Return: whether there was. */
bool weft_genl_item_end(struct sk_buff *skb, void *hdr, int err);

/* The reason of an error; @text stays. */
void weft_genl_say(struct netlink_ext_ack *extack, const char *text);

/* How this node takes part in the rack of a list.  Return: 0, -ENOTCONN. */
int weft_genl_config(struct netlink_callback *cb, struct weft_config *cfg);

/* ... if it has joined.  Return: 0, -ENOTCONN, -ENONET. */
int weft_genl_member_config(struct netlink_callback *cb, struct weft_config *cfg);

/* Has the rack of a list this blade, as far as this node knows? */
bool weft_genl_has_blade(struct netlink_callback *cb, const struct weft_config *cfg, u32 id);

/* What a blade has answered, for who asked here. */
int weft_genl_answered(int err, struct netlink_ext_ack *extack);

/* Has who opened the socket, and who reads, CAP_NET_ADMIN? */
bool weft_genl_privileged(const struct netlink_callback *cb);

/* May who opened the socket see a region, or its @contents: see weft_inspect_allowed(). */
bool weft_genl_sees(const struct netlink_callback *cb, u32 region, bool contents);

/**
 * weft_genl_turn() - before @n questions to members of the rack
 *
 * Sleeps, can be killed: not where a list begins.  Return: 0, -EINTR; -EBUSY: a user without
 * privileges has asked too much.
 */
int weft_genl_turn(const struct netlink_callback *cb, u32 n);

/* The end of any of them. */
int weft_genl_list_done(struct netlink_callback *cb);

#endif /* WEFT_GENL_H */
