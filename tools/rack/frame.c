// SPDX-License-Identifier: GPL-2.0-only
/*
 * Byte queues, and the frames in them. See frame.h.
 */
#include "frame.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void bytes_reserve(struct bytes *b, size_t length)
{
	size_t left = bytes_left(b);

	if (b->room - b->end >= length)
		return;
	if (b->start) {
		memmove(b->data, b->data + b->start, left);
		b->start = 0;
		b->end = left;
	}
	if (b->room - left < length) {
		size_t room = (left + length) * 2;
		char *data = realloc(b->data, room);

		/* All queues are bounded by windows, so this is a full machine. */
		if (!data) {
			fprintf(stderr, "weft-rackio: no memory for %zu bytes\n", room);
			exit(125);
		}
		b->data = data;
		b->room = room;
	}
}

/**
 * bytes_add() - append to a queue
 * @b: the queue
 * @data: what to append
 * @length: its size
 */
void bytes_add(struct bytes *b, const void *data, size_t length)
{
	if (!length)
		return;
	bytes_reserve(b, length);
	memcpy(b->data + b->end, data, length);
	b->end += length;
}

/**
 * bytes_take() - forget bytes from the front of a queue
 * @b: the queue
 * @length: how many; at most bytes_left()
 */
void bytes_take(struct bytes *b, size_t length)
{
	b->start += length;
	if (b->start == b->end)
		b->start = b->end = 0;
}

/**
 * bytes_free() - empty a queue and give its memory back
 * @b: the queue, which may be used again
 */
void bytes_free(struct bytes *b)
{
	free(b->data);
	memset(b, 0, sizeof(*b));
}

/**
 * bytes_write() - write the front of a queue
 * @b: the queue
 * @fd: where to
 * @most: write no more than this
 *
 * Return: bytes written, 0 if the file can take nothing now, -errno.
 */
int bytes_write(struct bytes *b, int fd, size_t most)
{
	size_t length = bytes_left(b);
	ssize_t n;

	if (length > most)
		length = most;
	if (!length)
		return 0;
	n = write(fd, b->data + b->start, length);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	bytes_take(b, n);
	return n;
}

/**
 * bytes_read() - read to the end of a queue
 * @b: the queue
 * @fd: where from
 * @most: read no more than this
 *
 * Return: bytes read, 0 at the end of the file, -errno (-EAGAIN: nothing now).
 */
ssize_t bytes_read(struct bytes *b, int fd, size_t most)
{
	ssize_t n;

	bytes_reserve(b, most);
	n = read(fd, b->data + b->end, most);
	if (n < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	b->end += n;
	return n;
}

/**
 * frame_add() - append a frame, or several if the payload is longer than one takes
 * @b: the queue
 * @session: the session it belongs to
 * @type: what it says
 * @payload: its payload
 * @length: size of the payload; 0 makes one empty frame
 */
void frame_add(struct bytes *b, uint32_t session, enum frame_type type,
	       const void *payload, size_t length)
{
	const char *p = payload;

	do {
		struct frame_head head = {
			.session = session,
			.type = type,
			.length = length < FRAME_PAYLOAD_MAX ? length : FRAME_PAYLOAD_MAX,
		};

		bytes_add(b, &head, sizeof(head));
		bytes_add(b, p, head.length);
		p += head.length;
		length -= head.length;
	} while (length);
}

/**
 * frame_add_u32() - append a frame that carries one number
 * @b: the queue
 * @session: the session it belongs to
 * @type: what it says
 * @value: the number
 */
void frame_add_u32(struct bytes *b, uint32_t session, enum frame_type type,
		   uint32_t value)
{
	frame_add(b, session, type, &value, sizeof(value));
}

/**
 * frame_next() - look at the first frame of a queue
 * @b: the queue; the frame stays until bytes_take(b, sizeof(*head) + head->length)
 * @head: filled in
 * @payload: filled in; points into the queue
 *
 * Return: 1, 0 if the frame is not complete yet, -EPROTO if it is none.
 */
int frame_next(struct bytes *b, struct frame_head *head, const char **payload)
{
	if (bytes_left(b) < sizeof(*head))
		return 0;
	memcpy(head, b->data + b->start, sizeof(*head));
	if (head->length > FRAME_PAYLOAD_MAX)
		return -EPROTO;
	if (bytes_left(b) < sizeof(*head) + head->length)
		return 0;
	*payload = b->data + b->start + sizeof(*head);
	return 1;
}

/**
 * frame_u32() - the number that a frame carries
 * @head: its head
 * @payload: its payload
 *
 * Return: the number, 0 if there is none.
 */
uint32_t frame_u32(const struct frame_head *head, const char *payload)
{
	uint32_t value = 0;

	if (head->length == sizeof(value))
		memcpy(&value, payload, sizeof(value));
	return value;
}
