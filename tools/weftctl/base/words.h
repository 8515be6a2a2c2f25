/* SPDX-License-Identifier: GPL-2.0-only */
/* Words for numbers of the netlink family. */
#ifndef WEFTCTL_WORDS_H
#define WEFTCTL_WORDS_H

#include <stdint.h>

/* enum weft_state, enum weft_line_op, enum weft_event_kind. */
const char *word_state(uint32_t state);
const char *word_op(uint32_t op);
const char *word_event(uint32_t kind);

#endif /* WEFTCTL_WORDS_H */
