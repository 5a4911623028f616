/* An undo log of words, for the programs whose bug is in its use. */
#pragma once
#include "pool.h"

#ifndef ENTRIES
#define ENTRIES 16
#endif

struct entry {
    LINE uint64_t place; /* offset in the pool */
    uint64_t before;
};

struct log {
    LINE uint64_t count;
    struct entry entries[ENTRIES];
};

/* Saves what a word was. */
static inline void save_as(struct log *log, void *pool, uint64_t *word, uint64_t before) {
    struct entry *entry = &log->entries[log->count % ENTRIES];
    entry->place = (uint64_t)((char *)word - (char *)pool);
    entry->before = before;
    persist(entry, sizeof *entry);
    log->count += 1;
    persist(&log->count, 8);
}

/* Saves a word before its update. */
static inline void save(struct log *log, void *pool, uint64_t *word) {
    save_as(log, pool, word, *word);
}

/* Ends the transaction: its updates are durable, and its log is empty. */
static inline void commit(struct log *log) {
    log->count = 0;
    persist(&log->count, 8);
}

/* Undoes what was not committed, the youngest first. */
static inline void undo(struct log *log, void *pool) {
    while (log->count > 0) {
        struct entry *entry = &log->entries[(log->count - 1) % ENTRIES];
        uint64_t *word = (uint64_t *)((char *)pool + entry->place);
        *word = entry->before;
        persist(word, 8);
        log->count -= 1;
        persist(&log->count, 8);
    }
}
