/* The driver of a check: threads that do operations, each of them a task, and a checker that knows which tasks had ended.
 *
 *     PROGRAM POOL create    makes the pool, and fills it a little
 *     PROGRAM POOL run       does the operations; record this
 *     PROGRAM POOL check     recovers and judges; exits with 1 and a line if what was acknowledged is not there
 *
 * Valid C and C++. Nothing here needs a change; set the sizes by -D. The operations are the same in each run, so the checker
 * knows them without a file. */
#pragma once
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strandline/markers.h>

#ifndef THREADS
#define THREADS 1
#endif
#ifndef OPERATIONS
#define OPERATIONS 12 /* of each thread */
#endif

/* What the kind of library has: its operation, its judgement, and what the pool holds before the run. */
static void *subject_open(const char *path, int create);
static void subject_close(void *subject);
static void prepare(void *subject);
static int operate(void *subject, int thread, int number); /* 0 if it was done */
static int judge(void *subject, const char *path, const int *done); /* 0 if what is left is right, else wrong(...) */

/* Says why a state is wrong. Returns 1. */
static inline int wrong(const char *format, ...) {
    va_list values;
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fputc('\n', stderr);
    return 1;
}

/* A number without a pattern, for each operation. */
static inline uint64_t random_of(int thread, int number) {
    uint64_t x = ((uint64_t)thread << 32) + (uint64_t)number + UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* The operations of a thread that a crash may have left: those that had ended, and the one under way. */
static inline int begun(const int *done, int thread) {
    return done[thread] < OPERATIONS ? done[thread] + 1 : OPERATIONS;
}

static void *driver_subject;
static pthread_barrier_t driver_exists, driver_opened;

static void *driver_thread(void *at) {
    int thread = (int)(intptr_t)at;
    if (thread > 0) {
        pthread_barrier_wait(&driver_exists);
    }
    pthread_barrier_wait(&driver_opened);
    for (int number = 0; number < OPERATIONS; number++) {
        STRANDLINE_TASK_BEGIN();
        if (operate(driver_subject, thread, number) != 0) {
            fprintf(stderr, "operation %d of thread %d failed\n", number, thread);
            exit(2);
        }
        STRANDLINE_TASK_END();
    }
    return NULL;
}

static inline int driver_cannot_open(const char *path) {
    fprintf(stderr, "%s cannot be opened\n", path);
    return 2;
}

static inline int driver_create(const char *path) {
    void *subject = subject_open(path, 1);
    if (subject == NULL) {
        return driver_cannot_open(path);
    }
    prepare(subject);
    subject_close(subject);
    return 0;
}

/* The main thread is thread 0. The others exist, one after the other, before the library can start threads of its own:
 * strandline numbers threads in this order. */
static inline int driver_run(const char *path) {
    static pthread_t threads[THREADS];
    pthread_barrier_init(&driver_exists, NULL, 2);
    pthread_barrier_init(&driver_opened, NULL, THREADS);
    for (int thread = 1; thread < THREADS; thread++) {
        pthread_create(&threads[thread], NULL, driver_thread, (void *)(intptr_t)thread);
        pthread_barrier_wait(&driver_exists);
    }
    driver_subject = subject_open(path, 0);
    if (driver_subject == NULL) {
        return driver_cannot_open(path);
    }
    STRANDLINE_REGION_BEGIN();
    driver_thread(NULL);
    for (int thread = 1; thread < THREADS; thread++) {
        pthread_join(threads[thread], NULL);
    }
    STRANDLINE_REGION_END();
    subject_close(driver_subject);
    return 0;
}

/* How many tasks of each thread had ended at the crash; all, if the environment does not say. */
static inline void driver_done(int *done) {
    char *text = getenv("STRANDLINE_TASKS_DONE");
    for (int thread = 0; thread < THREADS; thread++) {
        done[thread] = text == NULL ? OPERATIONS : (int)strtol(text, &text, 10);
        if (text != NULL && *text == ',') {
            text++;
        }
    }
}

static inline int driver_check(const char *path) {
    int done[THREADS];
    driver_done(done);
    void *subject = subject_open(path, 0);
    if (subject == NULL) {
        return driver_cannot_open(path);
    }
    int found = judge(subject, path, done);
    if (found == 0) {
        subject_close(subject);
    }
    return found;
}

int main(int count, char **words) {
    const char *what = count == 3 ? words[2] : "";
    if (strcmp(what, "create") == 0) {
        return driver_create(words[1]);
    }
    if (strcmp(what, "run") == 0) {
        return driver_run(words[1]);
    }
    if (strcmp(what, "check") == 0) {
        return driver_check(words[1]);
    }
    fprintf(stderr, "usage: %s POOL create|run|check\n", words[0]);
    return 2;
}
