/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Completes a configuration before it is used: defaults, and what the interface says.  Called by
 * rack/member only.  The netlink policy has checked the values one by one.
 */
#ifndef WEFT_SETUP_H
#define WEFT_SETUP_H

#include <linux/netlink.h>

#include "net/config.h"

/**
 * weft_setup_complete() - fill in defaults, and name, address and MTU of the interface
 * @extack: receives a sentence for an error; may be NULL
 *
 * Return: 0; -EINVAL, -ENODEV, -EADDRNOTAVAIL.
 */
int weft_setup_complete(struct weft_config *cfg, struct netlink_ext_ack *extack);

#endif /* WEFT_SETUP_H */
