
#define _GNU_SOURCE
#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file of yours that defines what to do around the run, such as a checkpoint or a work item of the simulator. */
#ifdef HOOKS
#include HOOKS
#endif
#ifndef AT_BEGIN
#define AT_BEGIN()
#endif
#ifndef AT_END
#define AT_END()
#endif

#ifdef ONLY_CLFLUSH
#define WRITES_BACK "clflush"
#define FLUSHES "clflush"
#else
#define WRITES_BACK "clwb"
#define FLUSHES "clflushopt"
#endif

struct line {
    _Alignas(64) uint64_t word[8];
};

/* One instruction each. A volatile asm keeps its place among the others. */
#define STORE(at, value) __asm__ volatile("movq %1, %0" : "=m"(at) : "re"((uint64_t)(value)) : "memory")
#define STORE_NT(at, value) __asm__ volatile("movnti %1, %0" : "=m"(at) : "r"((uint64_t)(value)) : "memory")
#define LOAD(reg, at) __asm__ volatile("movq %1, %0" : "=r"(reg) : "m"(at) : "memory")
#define STORE_AT(at, index, value) \
    __asm__ volatile("movq %2, (%0,%1)" : : "r"(&(at)), "r"(index), "re"((uint64_t)(value)) : "memory")
#define LOAD_AT(reg, at, index) __asm__ volatile("movq (%1,%2), %0" : "=r"(reg) : "r"(&(at)), "r"(index) : "memory")
#define CLEAR(reg) __asm__ volatile("xorq %0, %0" : "+r"(reg) : : "cc")
#define JUMP(differs) __asm__ volatile("testq %0, %0\n\tjne 1f\n1:" : : "r"((uint64_t)(differs)) : "cc")
#define XCHG(at, reg) __asm__ volatile("xchgq %1, %0" : "+m"(at), "+r"(reg) : : "memory")
#define XADD(at, reg) __asm__ volatile("lock xaddq %1, %0" : "+m"(at), "+r"(reg) : : "memory", "cc")
#define CLWB(at) __asm__ volatile(WRITES_BACK " %0" : "+m"(at) : : "memory")
#define CLFLUSHOPT(at) __asm__ volatile(FLUSHES " %0" : "+m"(at) : : "memory")
#define CLFLUSH(at) __asm__ volatile("clflush %0" : "+m"(at) : : "memory")
#define SFENCE() __asm__ volatile("sfence" : : : "memory")
#define MFENCE() __asm__ volatile("mfence" : : : "memory")
#define OUT(name, value) tell(copy, name, value)

/* An output: the line has left the program when this returns. */
static inline void tell(uint64_t copy, const char *name, uint64_t value) {
    char text[64];
    int length = snprintf(text, sizeof text, "# out %" PRIu64 " %s %u\n", copy, name, (unsigned)(value & 255));
    if (write(STDOUT_FILENO, text, (size_t)length) != length) _exit(2);
}

enum memory { PM, DRAM, OUTPUT };

struct place {
    const char *name;
    enum memory memory;
    unsigned line, word, initial;
};

typedef void column(uint64_t copy, struct line *pm, struct line *dram, uint64_t *seen);
