/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The generic netlink family "weft" (uapi/weft_netlink.h): its commands, policies and set-up.
 * control/main registers it.
 */
#ifndef WEFT_KMOD_NETLINK_H
#define WEFT_KMOD_NETLINK_H

/* Last of all parts: a command may arrive at once.  Return: 0 or a negative errno. */
int weft_netlink_init(void);

/* Waits for commands that run. */
void weft_netlink_exit(void);

#endif /* WEFT_KMOD_NETLINK_H */
