/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The out-of-band channel of a rack: what the programs on it say to each other.
 *
 *	client  <-- unix stream -->  keeper  <-- virtio-serial -->  agent
 *	(weft-rack exec)             (one a guest, on the host)     (guest, PID 1)
 *
 * A session is one command run in a guest. Its number is chosen by the keeper;
 * clients leave the field zero. Each of a session's three byte streams has a
 * window: a sender stops after WINDOW bytes until the reader has granted more,
 * so that a client that does not read holds up nobody but its own command.
 *
 * Both ends are built from the same tree for the same machine: native byte order.
 */
#ifndef WEFT_RACK_FRAME_H
#define WEFT_RACK_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Raised with any change of the frames; HELLO carries it. */
#define FRAME_VERSION		2

#define FRAME_PAYLOAD_MAX	16384
#define FRAME_WINDOW		(256 * 1024)
/*
 * How far the keeper may be ahead of the agent on a serial line: user-mode kernels lose
 * the thread when the line's buffers, of 4 KiB, are full.
 */
#define FRAME_LINE_ROOM		3072
/* What a command line, its environment and directory may take together. */
#define FRAME_COMMAND_MAX	(4 * 1024 * 1024)

enum frame_type {
	FRAME_HELLO = 1,	/* agent->keeper: the guest is up; u32 version */
	FRAME_COMMAND,		/* client->agent: a piece of the command */
	FRAME_START,		/* client->agent: the command is complete */
	FRAME_STDIN,		/* client->agent: bytes; none: end of file */
	FRAME_STDOUT,		/* agent->client: bytes */
	FRAME_STDERR,		/* agent->client: bytes */
	FRAME_GRANT_STDIN,	/* agent->client: u32 more bytes may come */
	FRAME_GRANT_STDOUT,	/* client->agent: likewise */
	FRAME_GRANT_STDERR,	/* client->agent: likewise */
	FRAME_SIGNAL,		/* client->agent: u32 signal for the command */
	FRAME_EXIT,		/* agent->client: u32 wait status; ends the session */
	FRAME_KILL,		/* keeper->agent: the client is gone */
	FRAME_TAKEN,		/* agent->keeper: u32 bytes were read from the line */
};

/*
 * A command is a sequence of strings, each a tag, the text and a NUL: one
 * FRAME_TAG_DIRECTORY, and any number of arguments and of variables NAME=VALUE.
 */
#define FRAME_TAG_DIRECTORY	'd'
#define FRAME_TAG_ARGUMENT	'a'
#define FRAME_TAG_VARIABLE	'e'

struct frame_head {
	uint32_t session;
	uint16_t type;
	uint16_t length;	/* of the payload that follows */
};

/**
 * struct bytes - a queue of bytes
 * @data: the allocation
 * @start: first byte that was not taken yet
 * @end: behind the last byte added
 * @room: size of the allocation
 */
struct bytes {
	char	*data;
	size_t	start;
	size_t	end;
	size_t	room;
};

static inline size_t bytes_left(const struct bytes *b)
{
	return b->end - b->start;
}

void bytes_add(struct bytes *b, const void *data, size_t length);
void bytes_take(struct bytes *b, size_t length);
void bytes_free(struct bytes *b);
int bytes_write(struct bytes *b, int fd, size_t most);
ssize_t bytes_read(struct bytes *b, int fd, size_t most);

void frame_add(struct bytes *b, uint32_t session, enum frame_type type,
	       const void *payload, size_t length);
void frame_add_u32(struct bytes *b, uint32_t session, enum frame_type type,
		   uint32_t value);
int frame_next(struct bytes *b, struct frame_head *head, const char **payload);
uint32_t frame_u32(const struct frame_head *head, const char *payload);

#endif
