/* An allocator to be checked: put the calls of your library into the functions of allocator.h below, in place of this example.
 *
 * The example is right. -DPLANTED leaves a fence out, and -DPLANTED_LEAK a part of recovery, so that you see the check fail: a
 * leak with -DLEAKS. For a library in C++, rename this file to allocator.cc. */
#include "allocator.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCKS 64

struct heap {
    uint64_t slots[HEAP_SLOTS]; /* the owned block's number, from 1 */
    uint64_t used[BLOCKS];
    char blocks[BLOCKS][1024];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void flush(const void *at) {
    __asm__ volatile("clflushopt %0" ::"m"(*(const char *)at) : "memory");
}

static void fence(void) {
    __asm__ volatile("sfence" ::: "memory");
}

static void set(uint64_t *word, uint64_t value) {
    *word = value;
    flush(word);
    fence();
}

/* Blocks that no slot owns are free: a crash came before their slot was set, or after it was emptied. */
static void recover(struct heap *heap) {
    char owned[BLOCKS] = {0};
    for (int slot = 0; slot < HEAP_SLOTS; slot++) {
        if (heap->slots[slot] != 0) {
            owned[heap->slots[slot] - 1] = 1;
        }
    }
    for (int block = 0; block < BLOCKS; block++) {
#ifdef PLANTED_LEAK
        owned[block] = 1;
#endif
        if (heap->used[block] && !owned[block]) {
            set(&heap->used[block], 0);
        }
    }
}

void *heap_open(const char *path, int create) {
    int file = open(path, create ? O_RDWR | O_CREAT : O_RDWR, 0644);
    if (file < 0 || ftruncate(file, sizeof(struct heap)) != 0) {
        return NULL;
    }
    void *at = mmap(NULL, sizeof(struct heap), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (at == MAP_FAILED) {
        return NULL;
    }
    recover((struct heap *)at);
    return at;
}

int heap_allocate(void *at, size_t bytes, int slot) {
    struct heap *heap = (struct heap *)at;
    int block = 0;
    pthread_mutex_lock(&lock);
    while (block < BLOCKS && heap->used[block]) {
        block++;
    }
    int fits = block < BLOCKS && bytes <= sizeof heap->blocks[0];
    if (fits) {
        set(&heap->used[block], 1);
        set(&heap->slots[slot], (uint64_t)block + 1);
    }
    pthread_mutex_unlock(&lock);
    return !fits;
}

int heap_release(void *at, int slot) {
    struct heap *heap = (struct heap *)at;
    pthread_mutex_lock(&lock);
    uint64_t block = heap->slots[slot] - 1;
    heap->slots[slot] = 0;
    flush(&heap->slots[slot]);
#ifndef PLANTED
    fence(); /* the slot is empty, before its block is free */
#endif
    set(&heap->used[block], 0);
    pthread_mutex_unlock(&lock);
    return 0;
}

void *heap_object(void *at, int slot) {
    struct heap *heap = (struct heap *)at;
    return heap->slots[slot] == 0 ? NULL : heap->blocks[heap->slots[slot] - 1];
}

void heap_close(void *heap) {
    munmap(heap, sizeof(struct heap));
}
