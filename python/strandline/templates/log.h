/* The check of a log: what it must hold after a crash. Nothing here needs a change; log.c has what is yours.
 *
 * Prefix property: of each thread, the log has the entries that were acknowledged, in their order, perhaps the one under way,
 * whole, and nothing else. Entries of several threads may stand in any order. */
#pragma once
#include <stddef.h>

/* Opens the log in the file, or creates it, and recovers it. NULL if that is not possible. */
void *log_open(const char *path, int create);
/* The log ends with this entry from here on, also after a crash. Returns 0, or another number if that is not possible. */
int log_append(void *log, const void *bytes, size_t size);
/* Copies the entry of this number, the first of which is 0, into `bytes`, which has room for more. Returns its size; -1 if
 * there is no such entry. */
long log_read(void *log, long number, void *bytes, size_t room);
void log_close(void *log);

#include "driver.h"

#ifndef ENTRY_BYTES
#define ENTRY_BYTES 72 /* more than any entry has */
#endif
#define FIRST 2 /* entries from before the run, as if a thread more had appended them */

struct entry {
    size_t size;
    unsigned char bytes[ENTRY_BYTES];
};

static inline struct entry entry_of(int thread, int number) {
    struct entry entry = {8 + random_of(thread, number) % (ENTRY_BYTES - 8), {0}};
    uint64_t name = (uint64_t)(number * (THREADS + 2) + thread + 1) * UINT64_C(0x0123456789abcdef);
    for (size_t i = 0; i < entry.size; i++) {
        entry.bytes[i] = (unsigned char)((name >> i % 8 * 8) + i / 8);
    }
    return entry;
}

static inline int append(void *log, int thread, int number) {
    struct entry entry = entry_of(thread, number);
    return log_append(log, entry.bytes, entry.size);
}

static inline int holds(void *log, long at, int thread, int number) {
    struct entry entry = entry_of(thread, number);
    unsigned char bytes[ENTRY_BYTES] = {0};
    return log_read(log, at, bytes, sizeof bytes) == (long)entry.size && memcmp(bytes, entry.bytes, entry.size) == 0;
}

static inline void *subject_open(const char *path, int create) {
    return log_open(path, create);
}

static inline void subject_close(void *log) {
    log_close(log);
}

static inline void prepare(void *log) {
    for (int number = 0; number < FIRST; number++) {
        append(log, THREADS, number);
    }
}

static inline int operate(void *log, int thread, int number) {
    return append(log, thread, number);
}

/* The thread whose next entry stands there; -1 if it is nobody's. */
static inline int next_of(void *log, long at, const int *next, const int *done) {
    for (int thread = 0; thread < THREADS; thread++) {
        if (next[thread] < begun(done, thread) && holds(log, at, thread, next[thread])) {
            return thread;
        }
    }
    return -1;
}

static inline int judge(void *log, const char *path, const int *done) {
    int next[THREADS] = {0};
    unsigned char bytes[ENTRY_BYTES];
    long at = 0;
    (void)path;
    for (; at < FIRST; at++) {
        if (!holds(log, at, THREADS, (int)at)) {
            return wrong("entry %ld, from before the run, is lost or damaged", at);
        }
    }
    for (; log_read(log, at, bytes, sizeof bytes) != -1; at++) {
        int thread = next_of(log, at, next, done);
        if (thread < 0) {
            return wrong("entry %ld is damaged, or not the next one of a thread", at);
        }
        next[thread]++;
    }
    for (int thread = 0; thread < THREADS; thread++) {
        if (next[thread] < done[thread]) {
            return wrong("entry %d of thread %d was acknowledged and is lost", next[thread], thread);
        }
    }
    if (append(log, THREADS + 1, 0) != 0 || !holds(log, at, THREADS + 1, 0)) {
        return wrong("after recovery, no entry can be appended");
    }
    return 0;
}
