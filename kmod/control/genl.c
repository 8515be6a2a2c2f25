// SPDX-License-Identifier: GPL-2.0-only
/* Helpers of the netlink commands, see genl.h. */
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/hash.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <net/sock.h>

#include "control/genl.h"
#include "control/inspect.h"
#include "fs/rack.h"
#include "fs/racks.h"

const struct genl_family *weft_genl_family __ro_after_init;

/* Of an attribute that is given more than once the last one counts. */
static const struct nlattr *last_of(const struct nlmsghdr *request, int type)
{
	const struct nlattr *attr, *last = NULL;
	int rem;

	nlmsg_for_each_attr(attr, request, GENL_HDRLEN, rem) {
		if (nla_type(attr) == type)
			last = attr;
	}
	return last;
}

struct weft_rack *weft_genl_rack(const struct nlmsghdr *request, int type,
				 struct netlink_ext_ack *extack)
{
	const struct nlattr *attr = last_of(request, type);
	struct weft_rack *rack;

	/* the policy has checked that it is a u32 */
	rack = attr ? weft_racks_find(nla_get_u32(attr)) : weft_racks_only();
	if (rack)
		return rack;
	if (attr) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "RACK: this machine is not in this rack");
		return ERR_PTR(-ENOTCONN);
	}
	NL_SET_ERR_MSG(extack, "RACK is missing: this machine is in several racks");
	return ERR_PTR(-ENOTUNIQ);
}

void *weft_genl_list(const struct netlink_callback *cb)
{
	return (void *)cb->args[0];
}

struct weft_rack *weft_genl_list_rack(const struct netlink_callback *cb)
{
	return (void *)cb->args[1];
}

/* Credentials of the opener count for all readers, as with files. */
static const struct cred *opener(const struct netlink_callback *cb)
{
	const struct socket *socket = NETLINK_CB(cb->skb).sk->sk_socket;

	return socket && socket->file ? socket->file->f_cred : current_cred();
}

static const struct cred *reader(const struct netlink_callback *cb)
{
	return (void *)cb->args[2];
}

void *weft_genl_list_new(struct netlink_callback *cb, size_t size, int type)
{
	struct weft_rack *rack = type ? weft_genl_rack(cb->nlh, type, cb->extack) : NULL;
	void *list;

	if (IS_ERR(rack))
		return rack;
	cb->args[1] = (long)rack;
	cb->args[2] = (long)get_cred(opener(cb));
	list = kzalloc(size, GFP_KERNEL);
	cb->args[0] = (long)list;
	if (list)
		return list;
	weft_genl_list_done(cb);
	return ERR_PTR(-ENOMEM);
}

void weft_genl_say(struct netlink_ext_ack *extack, const char *text)
{
	if (extack)
		extack->_msg = text;
}

int weft_genl_config(struct netlink_callback *cb, struct weft_config *cfg, bool joined)
{
	struct weft_member *m = &weft_genl_list_rack(cb)->member;
	struct weft_member_status status;

	if (weft_member_config(m, cfg) || weft_member_status(m, &status))
		return weft_genl_not_up(cb->extack);
	if (!joined || status.joined)
		return 0;
	NL_SET_ERR_MSG(cb->extack, "the node has not joined its rack");
	return -ENONET;
}

bool weft_genl_has_blade(struct netlink_callback *cb, const struct weft_config *cfg, u32 id)
{
	const struct weft_peers *peers = &weft_genl_list_rack(cb)->node.peers;

	return id - WEFT_BLADE_MIN < cfg->homes || weft_peer_addr(peers, id);
}

int weft_genl_answered(int err, struct netlink_ext_ack *extack)
{
	if (err == -ETIMEDOUT)
		NL_SET_ERR_MSG(extack, "the blade does not answer");
	if (err != -ENOTCONN)
		return err;
	NL_SET_ERR_MSG(extack, "the rack does not know this node any more");
	return -ENONET;
}

/* --- permissions --------------------------------------------------------------------------- */

bool weft_genl_privileged(const struct netlink_callback *cb)
{
	return netlink_capable(cb->skb, CAP_NET_ADMIN);
}

bool weft_genl_sees(const struct netlink_callback *cb, u32 region, bool contents)
{
	const struct cred *old = override_creds(reader(cb));
	bool sees = weft_inspect_allowed(weft_genl_list_rack(cb), region, contents);

	revert_creds(old);
	return sees;
}

/*
 * Token buckets: an unprivileged user has one call to blades or the switch every GAP_NS, saves up
 * SAVED_NS of them, and waits WAIT_NS at most.  Users with the same hash share a bucket.
 */
#define TURNS_BITS	6
#define GAP_NS		(10 * NSEC_PER_MSEC)
#define SAVED_NS	(640 * NSEC_PER_MSEC)
#define WAIT_NS		(5 * NSEC_PER_SEC)

static DEFINE_SPINLOCK(turns_lock);
static u64 turns[1 << TURNS_BITS];	/* when the next one is; under the lock */

/* Take @n calls.  Return: ns to wait before them; more than WAIT_NS: none was taken. */
static u64 take_turns(kuid_t uid, u32 n)
{
	u64 *next = &turns[hash_32(__kuid_val(uid), TURNS_BITS)];
	u64 now = ktime_get_ns(), at, wait;

	spin_lock(&turns_lock);
	at = max(*next + SAVED_NS, now) - SAVED_NS;
	wait = at > now ? at - now : 0;
	if (wait <= WAIT_NS)
		*next = at + n * GAP_NS;
	spin_unlock(&turns_lock);
	return wait;
}

int weft_genl_turn(const struct netlink_callback *cb, u32 n)
{
	u64 wait;

	if (weft_genl_privileged(cb))
		return 0;
	wait = take_turns(reader(cb)->uid, n);
	if (wait > WAIT_NS) {
		NL_SET_ERR_MSG(cb->extack, "this user asks members of the rack too often: ask again later, or as root");
		return -EBUSY;
	}
	if (wait)
		schedule_timeout_killable(nsecs_to_jiffies(wait) + 1);
	return fatal_signal_pending(current) ? -EINTR : 0;
}

int weft_genl_list_done(struct netlink_callback *cb)
{
	if (weft_genl_list_rack(cb))
		weft_racks_put(weft_genl_list_rack(cb));
	kfree(weft_genl_list(cb));
	put_cred(reader(cb));
	return 0;
}

void *weft_genl_item(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	return genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
			   weft_genl_family, NLM_F_MULTI, cmd);
}

bool weft_genl_item_end(struct sk_buff *skb, void *hdr, int err)
{
	if (err)
		genlmsg_cancel(skb, hdr);
	else
		genlmsg_end(skb, hdr);
	return !err;
}
