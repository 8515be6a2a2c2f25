/* SPDX-License-Identifier: GPL-2.0-only */
/* Generic netlink family "weft": set-up and statistics, see weft_netlink.h. */
#ifndef WEFT_KMOD_NETLINK_H
#define WEFT_KMOD_NETLINK_H

/* After everything that commands ask; a command may come at once. */
int weft_netlink_init(void);

/* No command runs, and no list is half read, when it returns. */
void weft_netlink_exit(void);

#endif /* WEFT_KMOD_NETLINK_H */
