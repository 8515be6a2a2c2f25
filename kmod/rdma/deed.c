// SPDX-License-Identifier: GPL-2.0-only
/* Deeds, see deed.h. */
#include <linux/hash.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>

#include "rdma/deed.h"

#define OTHER_WAY	32	/* of so many misses one takes the way that seems slower */
#define WEIGHT		8	/* of what was before, against the last one */

enum { NEVER, FASTER, ALWAYS };

static unsigned int direct = FASTER;
module_param(direct, uint, 0644);
MODULE_PARM_DESC(direct, "read blocks of blades without their program: 0 never, 1 if it is faster (default), 2 always");

void weft_deeds_make(struct weft_card *card)
{
	card->deeds = kvcalloc(1u << WEFT_DEEDS_BITS, sizeof(*card->deeds), GFP_KERNEL);
}

void weft_deeds_drop(struct weft_card *card)
{
	kvfree(card->deeds);
	card->deeds = NULL;
}

static struct weft_deed_note *note_of(struct weft_card *card, u64 line)
{
	return &card->deeds[hash_64(line, WEFT_DEEDS_BITS)];
}

void weft_deed_take(struct weft_card *card, const struct weft_msg *landed,
		    const struct weft_deed *deed)
{
	struct weft_deed_note *note;

	lockdep_assert_held(&card->lock);
	if (!card->deeds)
		return;
	note = note_of(card, landed->line);
	note->line = landed->line;
	note->version = landed->version;
	note->deed = *deed;
	note->home = landed->src;
	note->life = card->links[landed->src].life;
}

const struct weft_deed_note *weft_deed_find(struct weft_card *card, u32 home, u64 line)
{
	const struct weft_link *link = &card->links[home];
	const struct weft_deed_note *note;

	lockdep_assert_held(&card->lock);
	if (!card->deeds || link->state != WEFT_LINK_UP)
		return NULL;
	note = note_of(card, line);
	return note->line == line && note->home == home && note->life == link->life ? note : NULL;
}

void weft_deeds_void(struct weft_link *link)
{
	lockdep_assert_held(&link->card->lock);
	link->life++;
}

void weft_deed_forget(struct weft_card *card, u64 line)
{
	lockdep_assert_held(&card->lock);
	if (card->deeds && note_of(card, line)->line == line)
		note_of(card, line)->line = 0;
}

bool weft_deed_wanted(struct weft_card *card, u32 home, u64 line)
{
	struct weft_pace *pace = &card->links[home].pace;
	unsigned int mode = READ_ONCE(direct);
	bool faster;

	if (mode == NEVER || !weft_deed_find(card, home, line))
		return false;
	if (mode == ALWAYS)
		return true;
	/* of what was never measured 0 is known, which is the faster one */
	faster = pace->direct < pace->asked;
	return faster != (++pace->misses % OTHER_WAY == 0);
}

void weft_deed_took(struct weft_card *card, u32 home, bool by_card, u64 ns)
{
	struct weft_pace *pace = &card->links[home].pace;
	u64 *took = by_card ? &pace->direct : &pace->asked;

	lockdep_assert_held(&card->lock);
	*took = *took ? (*took * WEIGHT - *took + ns) / WEIGHT : ns;
}
