/* sp-hashmap: Speculative Persistence (ISCA 2017), Table 1 "Hash-Map", and 3.2. Linear probing, tombstones, and a table
 * of twice the size where three quarters are not empty. */
#include "wal.h"

#ifndef KEYS
#define KEYS 2000
#endif
#ifndef ENTRIES
#define ENTRIES 1024
#endif
#ifndef INIT_OPS
#define INIT_OPS 6000
#endif

#define SPREAD 0x9e3779b97f4a7c15

enum state { EMPTY, FULL, TOMBSTONE };

struct entry {
    word state, key, value;
} ALIGNED;

static struct table {
    word used;
    struct entry *entries;
    word size, shift;
} ALIGNED table;

static struct table new_table(word size)
{
    struct table new = {0, lines(size * sizeof(struct entry)), size, 64 - (word)__builtin_ctzl(size)};
    for (word i = 0; i < size; i++)
        new.entries[i].state = EMPTY;
    return new;
}

/* The key's entry, or else the first tombstone on the way to an empty entry, or that. */
static struct entry *probe(word key)
{
    struct entry *tombstone = NULL;
    word at = key * SPREAD >> table.shift;
    for (;; at = at + 1 == table.size ? 0 : at + 1) {
        struct entry *entry = &table.entries[at];
        if (entry->state == EMPTY)
            return tombstone ? tombstone : entry;
        if (entry->state == TOMBSTONE) {
            if (!tombstone)
                tombstone = entry;
        } else if (entry->key == key) {
            return entry;
        }
    }
}

/* Each copied record is flushed; a region switches to the new table. */
static void grow(void)
{
    struct table old = table;
    table = new_table(2 * old.size);
    for (word i = 0; i < old.size; i++)
        if (old.entries[i].state == FULL) {
            struct entry *to = probe(old.entries[i].key);
            *to = old.entries[i];
            table.used++;
#ifdef LOGGED
            flush(to);
#endif
        }
    free(old.entries);
}

static void insert(word key, struct entry *entry)
{
    if (entry->state == EMPTY && table.used >= table.size / 4 * 3) {
        grow();
        entry = probe(key);
    }
    region_log(entry, LINE - 8);
    region_log(&table, 8);
    region_order();
    table.used += entry->state == EMPTY;
    entry->key = key;
    entry->value = key + 1;
    entry->state = FULL;
    region_finish();
}

void operation(void)
{
    word key = random_below(KEYS);
    struct entry *entry = probe(key);
    if (entry->state != FULL) {
        insert(key, entry);
        return;
    }
    region_log(entry, LINE - 8);
    region_order();
    entry->state = TOMBSTONE;
    region_finish();
}

void build(void)
{
    table = new_table(ENTRIES);
    for (word i = 0; i < INIT_OPS; i++)
        operation();
}

/* Each key is where a probe finds it, with its value. */
int check(void)
{
    word used = 0;
    for (word i = 0; i < table.size; i++) {
        struct entry *entry = &table.entries[i];
        used += entry->state != EMPTY;
        if (entry->state == FULL && (probe(entry->key) != entry || entry->value != entry->key + 1))
            return 0;
    }
    return used == table.used;
}
