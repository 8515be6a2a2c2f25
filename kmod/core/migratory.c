// SPDX-License-Identifier: GPL-2.0-only
/* Lines that are read, then written, by one node after the other; see migratory.h. */
#include "migratory.h"

static u32 needed(const struct weft_migratory *m)
{
	return WEFT_MIGRATORY_FIRST + m->needed;
}

u8 weft_migratory_ask(const struct weft_migratory *m)
{
	return m->seen >= needed(m) ? WEFT_M : WEFT_S;
}

void weft_migratory_came(struct weft_migratory *m, enum weft_came how)
{
	/* what comes to be written only is no turn of reading and writing */
	if (how == WEFT_CAME_UPGRADE) {
		m->wrote = true;
		return;
	}
	m->read = how == WEFT_CAME_READ || how == WEFT_CAME_GUESSED;
	m->guessed = how == WEFT_CAME_GUESSED;
	m->wrote = false;
}

static void guessed_wrong(struct weft_migratory *m)
{
	m->seen /= 2;
	if (m->seen >= needed(m))
		return;
	m->needed = 2 * needed(m) > WEFT_MIGRATORY_MOST ?
		    WEFT_MIGRATORY_MOST - WEFT_MIGRATORY_FIRST :
		    (u8)(2 * needed(m) - WEFT_MIGRATORY_FIRST);
}

bool weft_migratory_ends(struct weft_migratory *m, bool taken)
{
	bool right = !m->guessed || m->wrote;

	if (!right)
		guessed_wrong(m);
	else if (m->read && taken && !m->wrote)
		m->seen /= 2;
	else if (m->read && taken && m->seen < WEFT_MIGRATORY_MOST)
		m->seen++;
	if (m->guessed && m->wrote && m->needed)
		m->needed--;
	m->read = m->wrote = m->guessed = false;
	return right;
}
