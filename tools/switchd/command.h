/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands of the control socket; "help" lists them.
 */
#ifndef WEFT_SWITCHD_COMMAND_H
#define WEFT_SWITCHD_COMMAND_H

/**
 * command_run() - run one command
 * @sw: the switch (struct switchd)
 * @line: the command; is changed
 *
 * Return: malloc()ed answer, one line without newline: JSON, "ok", or "error: "
 * and a sentence; NULL without memory.
 */
char *command_run(void *sw, char *line);

#endif /* WEFT_SWITCHD_COMMAND_H */
