/* A pool of persistent memory, for programs that each plant one kind of bug.
 *
 * PROGRAM POOL       runs, on a new pool
 * PROGRAM POOL check recovers, and exits with 1 if the pool is not as promised
 *
 * -DMENDED builds the program without its bug. The line that must be found has the comment HERE. */
#pragma once
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <strandline/markers.h>

#define LINE _Alignas(64)

static inline void flush(const void *at) {
    __asm__ volatile("clwb %0" ::"m"(*(const char *)at) : "memory");
}

static inline void fence(void) {
    __asm__ volatile("sfence" ::: "memory");
}

/* A bound for the compiler alone. */
static inline void compiler_fence(void) {
    __asm__ volatile("" ::: "memory");
}

static inline void flush_all(const void *from, size_t bytes) {
    uintptr_t at = (uintptr_t)from & ~(uintptr_t)63;
    for (; at < (uintptr_t)from + bytes; at += 64) {
        flush((const void *)at);
    }
}

static inline void persist(const void *from, size_t bytes) {
    flush_all(from, bytes);
    fence();
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

/* What each program has: its work on a new pool, and its recovery and check. */
static void run(void *pool);
static int check(void *pool);

static inline int run_or_check(int count, char **words, size_t bytes) {
    if (count < 2) {
        fprintf(stderr, "usage: %s POOL [check]\n", words[0]);
        return 9;
    }
    void *pool = open_pool(words[1], bytes);
    if (count > 2) {
        return check(pool);
    }
    run(pool);
    return 0;
}

#define PROGRAM(bytes) \
    int main(int count, char **words) { return run_or_check(count, words, bytes); }
