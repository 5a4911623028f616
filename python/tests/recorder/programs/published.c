// A thread publishes by a plain store what another one reads by plain loads, persists and acknowledges. No atomic instruction orders them.
// published POOL KIND: writes; published POOL check: exits 1 if something is acknowledged that is not there.
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LINE __attribute__((aligned(64)))
struct node {
    LINE uint64_t key;
    uint64_t value;
    char text[40];
};
struct pool {
    LINE volatile uint64_t flag;
    LINE volatile uint64_t early; // The flag was not set yet.
    LINE volatile uint64_t acknowledged;
    LINE struct node *volatile bucket;
    LINE struct node node;
    LINE struct node copy;
};
static struct pool *p;
static const char *kind;
static volatile int ready; // A flag in volatile memory.

static int began[2], ended[2]; // Pipes: the reader has looked; the writer is done. They order threads, and no recording knows it.

static int is(const char *name) { return !strcmp(kind, name); }

static void tell(const int *ends) {
    if (write(ends[1], "", 1) != 1)
        _exit(2);
}

static void await(const int *ends) {
    char byte;
    if (read(ends[0], &byte, 1) != 1)
        _exit(2);
}

static void persist(const volatile void *from, size_t bytes) {
    for (uintptr_t line = (uintptr_t)from & ~(uintptr_t)63; line < (uintptr_t)from + bytes; line += 64)
        __asm__ volatile("clwb %0" ::"m"(*(const volatile char *)line) : "memory");
    __asm__ volatile("sfence" ::: "memory");
}

static void *writer(void *nothing) {
    p->node.key = 5;
    p->node.value = 6;
    strcpy(p->node.text, "published");
    if (!is("torn"))
        persist(&p->node, sizeof p->node);
    p->bucket = &p->node;
    persist(&p->bucket, 8);
    p->flag = 1;
    persist(&p->flag, 8);
    ready = 1;
    tell(ended);
    return nothing;
}

static void *reader(void *nothing) {
    if (is("early") && !p->flag) {
        p->early = 1;
        persist(&p->early, 8);
    }
    tell(began);
    if (is("once") || is("early") || is("assumed"))
        await(ended);
    if (is("assumed") && !ready)
        return nothing;
    if (is("poll"))
        while (!p->flag)
            usleep(50);
    if (is("volatile"))
        while (!ready)
            usleep(50);
    if (is("node") || is("torn")) {
        while (!p->bucket)
            usleep(50);
        persist(&p->bucket, 8);
        void *to = &p->copy;
        const void *from = p->bucket;
        size_t bytes = sizeof p->copy;
        __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes)::"memory");
        persist(&p->copy, sizeof p->copy);
    } else if (p->flag) {
        persist(&p->flag, 8);
        p->acknowledged = 1;
        persist(&p->acknowledged, 8);
    }
    return nothing;
}

static int is_wrong(void) {
    if (p->copy.key && !(p->bucket && p->node.key == 5 && p->node.value == 6))
        return 1;
    return p->acknowledged && !(p->flag && p->bucket && p->node.value == 6);
}

int main(int count, char **words) {
    int file = open(words[1], O_RDWR | O_CREAT, 0644);
    if (count < 3 || file < 0 || ftruncate(file, 4096))
        return 2;
    p = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    kind = words[2];
    if (is("check"))
        return is_wrong();
    if (is("checkearly")) // What was seen before the flag is durable before it is acknowledged.
        return is_wrong() || (p->acknowledged && !p->early);
    if (pipe(began) || pipe(ended))
        return 2;
    pthread_t threads[2];
    pthread_create(&threads[0], 0, reader, 0);
    await(began);
    pthread_create(&threads[1], 0, writer, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    return 0;
}
