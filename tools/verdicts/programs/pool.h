/* What the programs share: a pool, its flushes and fences, and main.
 *
 * PROGRAM POOL          runs on a new pool
 * PROGRAM POOL check    recovers, and exits with 1 if the pool is not as promised
 * PROGRAM POOL recover  recovers alone, where a program has PROGRAM_WITH(recover, again)
 * PROGRAM POOL again    recovers, and does the next operation
 *
 * -DHOW=NAME chooses a variant: a name of the program's enum. Comments BUG, MAY and NOT mark lines (corpus.toml). */
#pragma once
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <strandline/markers.h>

#define LINE _Alignas(64)
#define ALWAYS static inline __attribute__((always_inline))
#define APART static __attribute__((noinline))

/* Each store and load of the source is one of the program, in its order. */
typedef volatile uint64_t word;

struct pool;

ALWAYS void flush(const volatile void *at) {
    __asm__ volatile("clwb %0" ::"m"(*(const volatile char *)at) : "memory");
}

ALWAYS void fence(void) {
    __asm__ volatile("sfence" ::: "memory");
}

ALWAYS void flush_all(const volatile void *from, size_t bytes) {
    for (uintptr_t at = (uintptr_t)from & ~(uintptr_t)63; at < (uintptr_t)from + bytes; at += 64) {
        flush((const volatile void *)at);
    }
}

ALWAYS void persist(const volatile void *from, size_t bytes) {
    flush_all(from, bytes);
    fence();
}

ALWAYS void store_nt(word *to, uint64_t value) {
    __asm__ volatile("movnti %1, %0" : "=m"(*to) : "r"(value) : "memory");
}

/* Tasks of a thread that had ended at the crash. */
static inline uint64_t acknowledged(int thread) {
    const char *text = getenv("STRANDLINE_TASKS_DONE");
    for (; text && thread > 0; thread--) {
        text = strchr(text, ',');
        text = text ? text + 1 : NULL;
    }
    return text ? strtoull(text, NULL, 10) : 0;
}

#define REQUIRE(truth)                                    \
    do {                                                  \
        if (!(truth)) {                                   \
            fprintf(stderr, "does not hold: %s\n", #truth); \
            exit(1);                                      \
        }                                                 \
    } while (0)

struct task {
    void *(*function)(void *);
    struct pool *pool;
};

static void *start(void *at) {
    static volatile int started;
    struct task *task = at;
    __atomic_fetch_add(&started, 1, __ATOMIC_SEQ_CST);
    while (started < 2) {}
    return task->function(task->pool);
}

/* Runs two functions as threads, both to their ends. Neither ends before the other one has begun: a thread's end comes before
 * the beginning of one that is made later, which would order all that they do. */
static inline void both(void *(*first)(void *), void *(*second)(void *), struct pool *pool) {
    struct task tasks[2] = {{first, pool}, {second, pool}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, start, &tasks[i]);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

static inline void *open_pool(const char *path, size_t bytes) {
    int file = open(path, O_RDWR | O_CREAT, 0644);
    if (file < 0 || ftruncate(file, (off_t)bytes) != 0) {
        perror(path);
        exit(9);
    }
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED) {
        perror("mmap");
        exit(9);
    }
    close(file);
    return at;
}

#define PROGRAM_WITH(recover, again)                                             \
    int main(int count, char **words) {                                          \
        struct pool *pool = open_pool(words[1], (sizeof *pool + 4095) / 4096 * 4096); \
        const char *what = count > 2 ? words[2] : "run";                         \
        if (strcmp(what, "run") != 0) {                                          \
            recover(pool);                                                       \
        }                                                                        \
        if (strcmp(what, "check") == 0) {                                        \
            check(pool);                                                         \
        } else if (strcmp(what, "again") == 0) {                                 \
            again(pool);                                                         \
        } else if (strcmp(what, "run") == 0) {                                   \
            run(pool);                                                           \
        }                                                                        \
        return 0;                                                                \
    }
#define PROGRAM PROGRAM_WITH((void), (void))
