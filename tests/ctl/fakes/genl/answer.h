/* SPDX-License-Identifier: GPL-2.0-only */
/* Answers of the kernel that is played here. */
#ifndef WEFT_TEST_FAKE_ANSWER_H
#define WEFT_TEST_FAKE_ANSWER_H

#include "tools/weftctl/kernel/genl.h"

/* One answer being given. */
struct answering {
	struct nl_msg *msg;
	int max;
	genl_answer_fn *answer;
	void *arg;
};

/* Its next message: attributes are added between these.  Return: what the taker said. */
void begin(struct answering *a);
int end(struct answering *a);

/* How this kernel is to behave, from the environment. */
const char *scenario(void);
bool has_two_racks(void);

#endif /* WEFT_TEST_FAKE_ANSWER_H */
