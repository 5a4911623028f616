/* The log-update pairs of StrandWeaver (ISCA 2020), V and Figure 5, as the runtime `txn` writes them on x86
 * with `runtime.log_unit=line`.
 *
 * A pair is an entry with old words of a line, flushed and ordered before the update. A transaction has an entry at its
 * begin and one at its end; then its lines are flushed, once each, and its entries are marked and made invalid. A word
 * is logged once. Without LOGGED, the program only updates.
 */
#ifndef TXN_H
#define TXN_H

#include "twin.h"

#ifdef LOGGED

#define ENTRIES 1024
#define ENTRY_WORDS 4
#define MOST_LINES 512
#define SLOTS 256

enum kind { STORE = 1, TX_BEGIN, TX_END };
enum { VALID = 1, MARKER = 2 };

struct entry {
    word *at;
    word clock;
    word old[ENTRY_WORDS];
    word info, state;
};

/* Lines that the transaction has updated, by hash, and which of their words it has logged. */
struct updated {
    word *line;
    word words;
    word before;
};

static struct entry ring[ENTRIES] ALIGNED;
static word head ALIGNED;
static word tail, position, region_clock;
static struct updated updated[MOST_LINES];
static word slots[SLOTS], updated_count;

static inline struct entry *entry_new(word *at)
{
    tail = tail + 1 == ENTRIES ? 0 : tail + 1;
    position++;
    ring[tail].at = at;
    ring[tail].clock = region_clock;
    return &ring[tail];
}

static inline void entry_seal(struct entry *entry, enum kind kind, word count)
{
    entry->info = count << 8 | kind;
    entry->state = position << 2 | VALID;
    flush(entry);
}

static inline void region_begin(void)
{
    region_clock++;
    entry_seal(entry_new(NULL), TX_BEGIN, 0);
}

static inline word line_slot(word *line)
{
    return (uintptr_t)line / LINE % SLOTS;
}

static inline struct updated *updated_find(word *line)
{
    word slot = line_slot(line);
    for (word i = slots[slot]; i < updated_count; i = updated[i].before) {
        if (updated[i].line == line)
            return &updated[i];
        if (line_slot(updated[i].line) != slot)
            break;
    }
    return NULL;
}

static inline struct updated *updated_add(word *line)
{
    word slot = line_slot(line);
    struct updated *item = &updated[updated_count];
    *item = (struct updated){line, 0, slots[slot] < updated_count ? slots[slot] : MOST_LINES};
    slots[slot] = updated_count++;
    return item;
}

static inline void log_words(word *at, word count)
{
    struct entry *entry = entry_new(at);
    for (word i = 0; i < count; i++)
        entry->old[i] = at[i];
    entry_seal(entry, STORE, count);
}

/* What follows updates some of the `count` words at `at`, which are in one line. */
static inline void region_pair(void *at, word count)
{
    word *from = at, *line = (word *)((uintptr_t)at & ~(uintptr_t)(LINE - 1));
    struct updated *item = updated_find(line);
    if (!item)
        item = updated_add(line);
    word wanted = (((word)1 << count) - 1) << (from - line), known = item->words & wanted;
    item->words |= wanted;
    if (known == wanted)
        return;
    if (known == 0) {
        for (word i = 0; i < count; i += ENTRY_WORDS)
            log_words(from + i, count - i < ENTRY_WORDS ? count - i : ENTRY_WORDS);
    } else {
        for (word i = 0; i < count; i++)
            if (!(known >> (from - line + i) & 1))
                log_words(from + i, 1);
    }
    fence();
}

static inline void region_retire(word until)
{
    do {
        head = head + 1 == ENTRIES ? 0 : head + 1;
        ring[head].state = head == until ? position << 2 | MARKER : position << 2;
        flush(&ring[head]);
    } while (head != until);
    fence();
    flush(&head);
}

static inline void region_end(void)
{
    entry_seal(entry_new(NULL), TX_END, 0);
    fence();
    for (word i = 0; i < updated_count; i++)
        flush(updated[i].line);
    updated_count = 0;
    fence();
    ring[tail].state = position << 2 | VALID | MARKER;
    flush(&ring[tail]);
    fence();
    region_retire(tail);
}

#else

#define region_begin() ((void)0)
#define region_pair(at, count) ((void)0)
#define region_end() ((void)0)

#endif

#endif
