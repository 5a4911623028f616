/* An undo log of words, for the programs whose bug is in its use. */
#pragma once
#include "pool.h"

#ifndef ENTRIES
#define ENTRIES 16
#endif

struct log {
    LINE word count;
    struct {
        LINE word place; /* offset in the pool */
        word before;
        word sum; /* of logs with checksums */
    } entries[ENTRIES];
};

/* Saves what a word was. */
static inline void save_as(struct log *log, void *pool, word *at, uint64_t before) {
    uint64_t number = log->count % ENTRIES;
    log->entries[number].place = (uint64_t)((char *)at - (char *)pool);
    log->entries[number].before = before;
    persist(&log->entries[number], 16);
    log->count += 1;
    persist(&log->count, 8);
}

/* Saves a word before its update. */
static inline void save(struct log *log, void *pool, word *at) {
    save_as(log, pool, at, *at);
}

/* Ends the transaction: its updates are durable, and its log is empty. */
static inline void commit(struct log *log) {
    log->count = 0;
    persist(&log->count, 8);
}

/* Undoes what was not committed, the youngest first. */
static inline void undo(struct log *log, void *pool) {
    while (log->count > 0) {
        uint64_t number = (log->count - 1) % ENTRIES;
        word *at = (word *)((char *)pool + log->entries[number].place);
        *at = log->entries[number].before;
        persist(at, 8);
        log->count -= 1;
        persist(&log->count, 8);
    }
}
