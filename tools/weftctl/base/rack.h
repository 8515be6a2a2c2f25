/* SPDX-License-Identifier: GPL-2.0-only */
/* The rack that all requests are about, if --rack, a file or a loop has chosen one. */
#ifndef WEFTCTL_RACK_H
#define WEFTCTL_RACK_H

#include <stdbool.h>
#include <stdint.h>

void rack_choose(uint32_t number);
void rack_choose_none(void);

/* Has one been chosen?  Else requests are about the only one. */
bool rack_chosen(uint32_t *number);

/* Has one been chosen that is not @number? */
bool rack_is_other(uint32_t number);

#endif /* WEFTCTL_RACK_H */
