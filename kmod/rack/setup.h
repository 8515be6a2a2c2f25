/* SPDX-License-Identifier: GPL-2.0-only */
/* A configuration before it is used: whether it can be, and what it leaves open. */
#ifndef WEFT_SETUP_H
#define WEFT_SETUP_H

#include <linux/netlink.h>

#include "net/config.h"

/**
 * weft_setup_complete() - fill in what is usual, and what the interface says
 * @cfg: name, address and MTU are the interface's afterwards
 * @extack: receives a sentence in case of an error; may be NULL
 *
 * Return: 0; -EINVAL, -ENODEV, -EADDRNOTAVAIL.
 */
int weft_setup_complete(struct weft_config *cfg, struct netlink_ext_ack *extack);

#endif /* WEFT_SETUP_H */
