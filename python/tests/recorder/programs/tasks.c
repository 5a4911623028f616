/* Functions that are called in several ways; tests record them as tasks.
 *
 * tasks POOL HOW: each way makes three calls of `once`, but `threads` six. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <strandline/markers.h>

#define CALLS 3

struct pool {
    _Alignas(64) uint64_t done[2][CALLS + 1];
};

static struct pool *pool;
static jmp_buf away;

__attribute__((noinline)) void persist(const void *at) {
    __asm__ volatile("clwb %0\n\tsfence" ::"m"(*(const char *)at) : "memory");
}

/* Its last call is a jump, if it is compiled so: the persist belongs to the task. */
__attribute__((noinline)) void once(int thread, int call) {
    pool->done[thread][call] = 1;
    persist(&pool->done[thread][call]);
}

__attribute__((noinline)) void nested(int call) {
    if (call > 0) {
        nested(call - 1);
    }
    once(0, call);
}

__attribute__((noinline)) void leaves(int call) {
    pool->done[0][call] = 1;
    if (call == 1) {
        longjmp(away, 1);
    }
    persist(&pool->done[0][call]);
}

static void *thread(void *number) {
    for (int call = 0; call < CALLS; call++) {
        once(number != NULL, call);
    }
    return NULL;
}

int main(int count, char **words) {
    int file = open(count == 3 ? words[1] : "", O_RDWR | O_CREAT, 0644);
    if (file < 0 || ftruncate(file, sizeof *pool) != 0) {
        return 9;
    }
    pool = mmap(NULL, sizeof *pool, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (strcmp(words[2], "nested") == 0) {
        nested(CALLS - 1);
    } else if (strcmp(words[2], "leaves") == 0) {
        for (volatile int call = 0; call < CALLS; call++) {
            if (setjmp(away) == 0) {
                leaves(call);
                pool->done[1][call] = 1; /* where the call returns to is not where it is left to */
            }
        }
    } else if (strcmp(words[2], "pointer") == 0) {
        void (*volatile function)(int, int) = once;
        for (int call = 0; call < CALLS; call++) {
            function(0, call);
        }
    } else if (strcmp(words[2], "region") == 0) {
        STRANDLINE_REGION_BEGIN();
        once(0, 0);
        once(0, 1);
        once(0, 2);
        STRANDLINE_REGION_END();
    } else {
        pthread_t other;
        pthread_create(&other, NULL, thread, pool);
        thread(NULL);
        pthread_join(other, NULL);
    }
    return 0;
}
