/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Helpers of the netlink commands: the rack of a request, the state of a list, permissions, turns.
 * Used by control/netlink, netlink_list, netlink_ask and netlink_event.
 */
#ifndef WEFT_GENL_H
#define WEFT_GENL_H

#include <linux/netlink.h>
#include <net/genetlink.h>

/* Kernels before 6.7 use the flag of commands for groups as well. */
#ifndef GENL_MCAST_CAP_NET_ADMIN
#define GENL_MCAST_CAP_NET_ADMIN	GENL_UNS_ADMIN_PERM
#endif

/* The family, from weft_netlink_init() on. */
extern const struct genl_family *weft_genl_family;

struct weft_config;
struct weft_rack;

/**
 * weft_genl_rack() - find the rack of a request
 * @type: attribute that names it; without it, the only rack is meant
 *
 * Return: a reference for weft_racks_put(); ERR_PTR(-ENOTUNIQ): there are several;
 * ERR_PTR(-ENOTCONN): this machine is not in it.
 */
struct weft_rack *weft_genl_rack(const struct nlmsghdr *request, int type,
				 struct netlink_ext_ack *extack);

static inline int weft_genl_not_up(struct netlink_ext_ack *extack)
{
	NL_SET_ERR_MSG(extack, "the node is not set up");
	return -ENOTCONN;
}

/*
 * A list (dump) keeps three things in cb->args, from .start to .done: its state, its rack, and the
 * credentials of the process that opened the socket.
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
 * @size: bytes of its state
 * @type: attribute that names the rack; 0: the list has none
 *
 * A .start that fails after this calls weft_genl_list_done() itself.
 *
 * Return: the state, zeroed; ERR_PTR(-ENOMEM), or as weft_genl_rack().
 */
void *weft_genl_list_new(struct netlink_callback *cb, size_t size, int type);

/* Begin a message of a list.  Return: its header; NULL: the buffer is full. */
void *weft_genl_item(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd);

/* End a message; with @err, as an attribute had no room, remove it.  Return: !@err. */
bool weft_genl_item_end(struct sk_buff *skb, void *hdr, int err);

/* Set the sentence of an error; @text must stay. */
void weft_genl_say(struct netlink_ext_ack *extack, const char *text);

/*
 * The configuration of this node in the rack of a list.
 * Return: 0; -ENOTCONN: it is not up; -ENONET: it is to have @joined, and has not.
 */
int weft_genl_config(struct netlink_callback *cb, struct weft_config *cfg, bool joined);

/* Does this node know a blade @id in the rack of a list? */
bool weft_genl_has_blade(struct netlink_callback *cb, const struct weft_config *cfg, u32 id);

/* Explain an error of a blade to the reader.  Return: the error for the reader. */
int weft_genl_answered(int err, struct netlink_ext_ack *extack);

/* Have the opener of the socket and the reader CAP_NET_ADMIN? */
bool weft_genl_privileged(const struct netlink_callback *cb);

/* weft_inspect_allowed() for the opener of the socket. */
bool weft_genl_sees(const struct netlink_callback *cb, u32 region, bool contents);

/**
 * weft_genl_turn() - wait for the user's turn to send @n calls to blades or the switch
 *
 * Sleeps, killable: not in .start, nor in the first .dumpit.
 * Return: 0; -EINTR; -EBUSY: an unprivileged user asks too often.
 */
int weft_genl_turn(const struct netlink_callback *cb, u32 n);

/* genl_ops .done of all lists. */
int weft_genl_list_done(struct netlink_callback *cb);

#endif /* WEFT_GENL_H */
