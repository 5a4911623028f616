/* The check of a map: what it must hold after a crash. Nothing here needs a change; map.c has what is yours.
 *
 * Durable linearizability, key by key: each acknowledged operation is there; the one under way of each thread is there
 * whole or not at all; nothing else is there. Operations of several threads on one key may come in any order. */
#pragma once
#include <stdint.h>

#ifndef KEYS
#define KEYS 5
#endif
#ifndef PUT_REPLACES
#define PUT_REPLACES 1 /* 0: a put of a key that is there changes nothing */
#endif

/* Opens the map in the file, or creates it, and recovers it. NULL if that is not possible. */
void *map_open(const char *path, int create);
/* The key has the value from here on, also after a crash. Returns 0, or another number if that is not possible. */
int map_put(void *map, uint64_t key, uint64_t value);
/* The map does not hold the key from here on. A key that is not there is no error. */
int map_remove(void *map, uint64_t key);
/* Whether the map holds the key, and its value. */
int map_get(void *map, uint64_t key, uint64_t *value);
/* How many keys there are; -1 if the map does not count. */
long map_count(void *map);
void map_close(void *map);

#include "driver.h"

#define ALL_KEYS (PUT_REPLACES ? KEYS : KEYS * THREADS) /* of a map that does not replace, each thread has its own keys */
enum { ABSENT = -1, UNKNOWN = -2, UNTOUCHED = -3 }; /* what a key has instead of an operation's value */

struct change {
    uint64_t key;
    int puts; /* or removes */
};

/* All bytes of a value differ from those of another one, so that a torn value is no other operation's. */
static inline uint64_t value_of(int operation) {
    return (uint64_t)(operation + 2) * UINT64_C(0x0123456789abcdef);
}

static inline struct change change_of(int thread, int number) {
    uint64_t random = random_of(thread, number);
    struct change change = {random % KEYS + 1, (random >> 32 & 3) != 0};
    change.key = PUT_REPLACES ? change.key : (change.key - 1) * THREADS + (uint64_t)thread + 1;
    return change;
}

/* Operations of all threads have one number each. Before the run, odd keys have the values of operations beyond. */
static inline int operation_of(int thread, int number) {
    return number * THREADS + thread;
}

static inline int at_first(uint64_t key) {
    return key % 2 ? OPERATIONS * THREADS + (int)key : ABSENT;
}

static inline void *subject_open(const char *path, int create) {
    return map_open(path, create);
}

static inline void subject_close(void *map) {
    map_close(map);
}

static inline void prepare(void *map) {
    for (uint64_t key = 1; key <= ALL_KEYS; key++) {
        if (at_first(key) != ABSENT) {
            map_put(map, key, value_of(at_first(key)));
        }
    }
}

static inline int operate(void *map, int thread, int number) {
    struct change change = change_of(thread, number);
    return change.puts ? map_put(map, change.key, value_of(operation_of(thread, number))) : map_remove(map, change.key);
}

/* What the first operations of a thread leave of a key. */
static inline int left_by(int thread, int operations, uint64_t key) {
    int left = at_first(key), touched = 0;
    for (int number = 0; number < operations; number++) {
        struct change change = change_of(thread, number);
        if (change.key == key) {
            touched = 1;
            if (!change.puts) {
                left = ABSENT;
            } else if (PUT_REPLACES || left == ABSENT) {
                left = operation_of(thread, number);
            }
        }
    }
    return touched ? left : UNTOUCHED;
}

/* Whether an order of the threads' operations leaves of a key what was found: any thread's may come last. */
static inline int is_explained(uint64_t key, int found, const int *done) {
    int untouched = 1;
    for (int thread = 0; thread < THREADS; thread++) {
        int acknowledged = left_by(thread, done[thread], key);
        if (found == acknowledged || found == left_by(thread, begun(done, thread), key)) {
            return 1;
        }
        untouched = untouched && acknowledged == UNTOUCHED;
    }
    return untouched && found == at_first(key);
}

/* The operation whose value a key has. */
static inline int found_of(void *map, uint64_t key) {
    uint64_t value = 0;
    if (!map_get(map, key, &value)) {
        return ABSENT;
    }
    for (int operation = 0; operation <= OPERATIONS * THREADS + ALL_KEYS; operation++) {
        if (value == value_of(operation)) {
            return operation;
        }
    }
    return UNKNOWN;
}

/* Says what a key has, and the last acknowledged operation on it of each thread. */
static inline int wrong_key(uint64_t key, int found, const int *done) {
    fprintf(stderr, "key %d ", (int)key);
    if (found == ABSENT) {
        fprintf(stderr, "is not there");
    } else if (found == UNKNOWN) {
        fprintf(stderr, "has a value that nobody stored");
    } else if (found >= OPERATIONS * THREADS) {
        fprintf(stderr, "has its value from before the run");
    } else {
        fprintf(stderr, "has the value of operation %d of thread %d", found / THREADS, found % THREADS);
    }
    for (int thread = 0; thread < THREADS; thread++) {
        int last = done[thread] - 1;
        while (last >= 0 && change_of(thread, last).key != key) {
            last--;
        }
        if (last >= 0) {
            const char *what = change_of(thread, last).puts ? "put" : "removal";
            fprintf(stderr, "; acknowledged last of thread %d: operation %d, a %s", thread, last, what);
        }
    }
    return wrong("");
}

/* The map goes on: a value of each key can be put, read and removed. */
static inline int goes_on(void *map, uint64_t key) {
    uint64_t value = 0;
    if (map_remove(map, key) != 0 || map_get(map, key, &value)) {
        return wrong("after recovery, key %d cannot be removed", (int)key);
    }
    if (map_put(map, key, key) != 0 || !map_get(map, key, &value) || value != key) {
        return wrong("after recovery, key %d cannot be put", (int)key);
    }
    return 0;
}

static inline int judge(void *map, const char *path, const int *done) {
    long there = 0, counted = map_count(map);
    (void)path;
    for (uint64_t key = 1; key <= ALL_KEYS; key++) {
        int found = found_of(map, key);
        there += found != ABSENT;
        if (!is_explained(key, found, done)) {
            return wrong_key(key, found, done);
        }
    }
    if (counted >= 0 && counted != there) {
        return wrong("the map counts %ld keys, and %ld are there", counted, there);
    }
    for (uint64_t key = 1; key <= ALL_KEYS; key++) {
        if (goes_on(map, key) != 0) {
            return 1;
        }
    }
    return 0;
}
