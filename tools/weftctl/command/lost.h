/* SPDX-License-Identifier: GPL-2.0-only */
/* Blocks that are lost as a node has died: listed, accepted. */
#ifndef WEFTCTL_LOST_H
#define WEFTCTL_LOST_H

/* Both return an exit status, after they have said what is wrong. */

/* Of a region, by its name, number or path; NULL: of all. */
int lost_show(const char *region);

/* Accept their present contents; the owner of the region and root may. */
int lost_accept(const char *region);

#endif /* WEFTCTL_LOST_H */
