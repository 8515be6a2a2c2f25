/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A small P4 program for the tests, as the text that a compiler would make of
 * it: forwards by the destination address, floods with mirrored copies, counts
 * the packets of each port in a register, and answers a "directory" message
 * (type 0x88b6) with the old contents of a register cell that it increments.
 */
#ifndef WEFT_TESTS_SWITCHD_PROGRAM_H
#define WEFT_TESTS_SWITCHD_PROGRAM_H

#include <stdio.h>
#include <stdlib.h>

#include "p4names.h"

#define PROGRAM_PORTS	8

static const char program_head[] =
"// made by hand\n"
"# another comment\n"
"\n"
"struct eth_t {\n"
"	bit<48> dst\n"
"	bit<48> src\n"
"	bit<16> type\n"
"}\n"
"\n"
"struct cell_t {\n"
"	bit<32> index\n"
"	bit<32> value\n"
"	bit<8> nodes\n"
"}\n"
"\n"
"struct port_arg_t {\n"
"	bit<32> " P4_ACTION_L2_PORT "\n"
"}\n"
"struct mask_arg_t {\n"
"	bit<64> " P4_ACTION_FLOOD_MASK "\n"
"}\n"
"struct empty_t {\n"
"}\n"
"\n"
"header eth instanceof eth_t\n"
"header cell instanceof cell_t\n"
"\n"
"struct meta_t {\n"
"	bit<32> port_in\n"
"	bit<32> port_out\n"
"	bit<64> mask\n"
"	bit<64> bit\n"
"	bit<8> slot\n"
"	bit<16> session\n"
"	bit<32> value\n"
"}\n"
"metadata instanceof meta_t\n"
"\n"
"regarray seen size 0x40 initval 0\n"
"regarray " P4_REG_GEN " size 0x100 initval 0x5 ; the epoch comes over it\n"
"regarray " P4_REG_STAT " size 16 initval 0\n"
"regarray cells size 0x100 initval 7\n"
"\n"
"action " P4_ACTION_L2 " args instanceof port_arg_t {\n"
"	mov m.port_out t.port\n"
"	return\n"
"}\n"
"\n"
"action " P4_ACTION_FLOOD " args instanceof mask_arg_t {\n"
"	mov m.mask t.mask\n"
"	return\n"
"}\n"
"\n"
"action NoAction args none {\n"
"	return\n"
"}\n"
"\n"
"table " P4_TABLE_L2 " {\n"
"	key {\n"
"		h.eth.dst exact\n"
"	}\n"
"	actions {\n"
"		" P4_ACTION_L2 " @tableonly\n"
"		NoAction @defaultonly\n"
"	}\n"
"	default_action NoAction args none const\n"
"	size 0x100\n"
"}\n"
"\n"
"table " P4_TABLE_FLOOD " {\n"
"	key {\n"
"		m.port_in exact\n"
"	}\n"
"	actions {\n"
"		" P4_ACTION_FLOOD "\n"
"		NoAction\n"
"	}\n"
"	default_action NoAction args none\n"
"	size 0x40\n"
"}\n"
"\n"
"apply {\n"
"	rx m.port_in\n"
"	extract h.eth\n"
"	mov m.port_out 63\n"
"	mov m.mask 0\n"
"	regadd seen m.port_in 1\n"
"	jmpeq CELL h.eth.type 0x88b6\n"
"	jmpeq DROP h.eth.type 0x88b7\n"
"	table " P4_TABLE_L2 "\n"
"	jmph SEND\n"
"	table " P4_TABLE_FLOOD "\n";

/* One for each bit of the mask: label, bit, slot, session. */
static const char program_copy[] =
"	AFTER_%u : mov m.bit m.mask\n"
"	and m.bit 0x%x\n"
"	jmpeq AFTER_%u m.bit 0\n"
"	mov m.slot %u\n"
"	mov m.session %u\n"
"	mirror m.slot m.session\n";

/* A label, the sessions of nodes 1 and 2. */
static const char program_tail[] =
"	AFTER_%u : jmp SEND\n"
"	DROP : drop\n"
"	CELL : extract h.cell\n"
"	regrd m.value cells h.cell.index\n"
"	regadd cells h.cell.index 1\n"
"	regadd " P4_REG_STAT " 0 1\n"
"	mov h.cell.value m.value\n"
"	mov m.slot 1\n"
"	mov m.session %u\n"
"	mirror m.slot m.session\n"
"	mov m.slot 2\n"
"	mov m.session %u\n"
"	mirror m.slot m.session\n"
"	emit h.eth\n"
"	emit h.cell\n"
"	tx m.port_out\n"
"	SEND : emit h.eth\n"
"	tx m.port_out\n"
"}\n";

/* The text; the caller frees it. */
static inline char *program_text(void)
{
	char *text = NULL;
	size_t len;
	/* Not constants: compilers look at both sides of P4_SESSION_NODE(). */
	unsigned int i, node = 1;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	fputs(program_head, f);
	for (i = 0; i < PROGRAM_PORTS; i++)
		fprintf(f, program_copy, i, 1u << i, i + 1, i, P4_SESSION_FLOOD + i);
	fprintf(f, program_tail, PROGRAM_PORTS, P4_SESSION_NODE(node), P4_SESSION_NODE(node + 1));
	fclose(f);
	return text;
}

#endif /* WEFT_TESTS_SWITCHD_PROGRAM_H */
