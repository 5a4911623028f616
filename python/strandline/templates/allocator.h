/* The check of an allocator: what it must hold after a crash. Nothing here needs a change; allocator.c has what is yours.
 *
 * Each slot of the root owns an object or none, as the acknowledged operations left it; the operation under way of each
 * thread was done whole or not at all. No two objects share a byte, also those that are allocated after the crash. With
 * -DLEAKS, a heap that is emptied has as much room as one that had the same operations and no crash. */
#pragma once
#include <stddef.h>

#ifndef HEAP_SLOTS
#define HEAP_SLOTS 256
#endif
#ifndef FILL_BYTES
#define FILL_BYTES 1000 /* with -DLEAKS: HEAP_SLOTS objects of this size must not fit */
#endif

/* Opens the heap in the file, or creates it, and recovers it. Its root has HEAP_SLOTS slots. NULL if that is not possible. */
void *heap_open(const char *path, int create);
/* The empty slot owns a new object from here on, also after a crash. Returns 0, or another number if there is no room. */
int heap_allocate(void *heap, size_t bytes, int slot);
/* The slot is empty from here on, and its object free. Returns 0, or another number if that is not possible. */
int heap_release(void *heap, int slot);
/* The object that the slot owns; NULL if it is empty. */
void *heap_object(void *heap, int slot);
void heap_close(void *heap);

#include "driver.h"

#define SLOTS 4 /* of each thread */
#define SPARE 8 /* behind those of the threads: for what is allocated after the crash */
#define USED (SLOTS * THREADS + SPARE)

/* What an operation does: it fills an empty slot of its thread, or empties a full one. */
static inline int slot_of(int thread, int number) {
    return thread * SLOTS + (int)(random_of(thread, number) % SLOTS);
}

/* The operation that filled a slot, after the first operations of its thread; -1 if the slot is empty. */
static inline int owner_of(int slot, int operations) {
    int owner = -1;
    for (int number = 0; number < operations; number++) {
        if (slot_of(slot / SLOTS, number) == slot) {
            owner = owner < 0 ? number : -1;
        }
    }
    return owner;
}

static inline size_t bytes_of(int slot, int number) {
    static const size_t sizes[4] = {24, 64, 136, 264};
    return sizes[random_of(slot, number) >> 8 & 3];
}

/* Fills an object with its name and persists it, or says whether it still has it. */
static inline int named(void *heap, int slot, int number, int fill) {
    uint64_t *words = (uint64_t *)heap_object(heap, slot);
    uint64_t name = (uint64_t)(number * USED + slot + 1) * UINT64_C(0x0123456789abcdef);
    size_t bytes = bytes_of(slot, number);
    for (size_t i = 0; i < bytes / 8; i++) {
        if (fill) {
            words[i] = name + i;
        } else if (words[i] != name + i) {
            return 0;
        }
    }
    for (uintptr_t at = (uintptr_t)words & ~(uintptr_t)63; fill && at < (uintptr_t)words + bytes; at += 64) {
        __asm__ volatile("clflushopt %0" ::"m"(*(const char *)at) : "memory");
    }
    __asm__ volatile("sfence" ::: "memory");
    return 1;
}

static inline void *subject_open(const char *path, int create) {
    return heap_open(path, create);
}

static inline void subject_close(void *heap) {
    heap_close(heap);
}

static inline void prepare(void *heap) {
    (void)heap;
}

static inline int operate(void *heap, int thread, int number) {
    int slot = slot_of(thread, number);
    if (owner_of(slot, number) >= 0) {
        return heap_release(heap, slot);
    }
    return heap_allocate(heap, bytes_of(slot, number), slot) != 0 || !named(heap, slot, number, 1);
}

/* A slot after recovery. Its object's size goes to `bytes`, 0 if it has none. An object of an operation under way may have
 * any contents. */
static inline int judge_slot(void *heap, int slot, const int *done, size_t *bytes) {
    int thread = slot / SLOTS, before = owner_of(slot, done[thread]), after = owner_of(slot, begun(done, thread));
    int there = heap_object(heap, slot) != NULL;
    *bytes = there ? bytes_of(slot, before >= 0 ? before : after) : 0;
    if (before != after) {
        return 0;
    }
    if (!there && before >= 0) {
        return wrong("slot %d: the object of operation %d of thread %d was acknowledged and is lost", slot, before, thread);
    }
    if (there && before < 0) {
        return wrong("slot %d: the release of its object was acknowledged, and the slot still owns one", slot);
    }
    if (there && !named(heap, slot, before, 0)) {
        return wrong("slot %d: the object of operation %d of thread %d is damaged", slot, before, thread);
    }
    return 0;
}

static inline int share(void *heap, int one, const size_t *bytes, int count) {
    char *from = (char *)heap_object(heap, one);
    for (int other = 0; other < count && bytes[one] > 0; other++) {
        char *at = (char *)heap_object(heap, other);
        if (other != one && bytes[other] > 0 && at < from + bytes[one] && from < at + bytes[other]) {
            return wrong("slots %d and %d own the same bytes", other, one);
        }
    }
    return 0;
}

static inline int empty(void *heap, int slots) {
    for (int slot = 0; slot < slots; slot++) {
        if (heap_object(heap, slot) != NULL && (heap_release(heap, slot) != 0 || heap_object(heap, slot) != NULL)) {
            return wrong("after recovery, slot %d cannot be released", slot);
        }
    }
    return 0;
}

#ifdef LEAKS
/* How many objects fit into an empty heap. */
static inline int room(void *heap) {
    int slot = 0;
    while (slot < HEAP_SLOTS && heap_allocate(heap, FILL_BYTES, slot) == 0) {
        slot++;
    }
    return slot;
}

static inline int judge_room(void *heap, const char *path, const int *done) {
    char other[4096];
    snprintf(other, sizeof other, "%s.without", path);
    void *without = heap_open(other, 1);
    for (int thread = 0; without != NULL && thread < THREADS; thread++) {
        for (int number = 0; number < done[thread]; number++) {
            operate(without, thread, number);
        }
    }
    if (without == NULL || empty(without, SLOTS * THREADS) != 0) {
        return wrong("leaks: no heap can be made beside the one to be checked");
    }
    int expected = room(without), found = room(heap);
    remove(other);
    if (expected == HEAP_SLOTS) {
        return wrong("leaks: %d objects of %d bytes do not fill the heap: raise FILL_BYTES", expected, FILL_BYTES);
    }
    if (found < expected) {
        return wrong("leak: room for %d objects of %d bytes, and for %d without the crash", found, FILL_BYTES, expected);
    }
    return 0;
}
#endif

static inline int judge(void *heap, const char *path, const int *done) {
    size_t bytes[USED] = {0};
    (void)path;
    for (int slot = 0; slot < SLOTS * THREADS; slot++) {
        if (judge_slot(heap, slot, done, &bytes[slot]) != 0 || share(heap, slot, bytes, slot) != 0) {
            return 1;
        }
    }
    for (int slot = SLOTS * THREADS; slot < USED; slot++) {
        if (heap_allocate(heap, bytes_of(slot, 0), slot) != 0) {
            return wrong("after recovery, no object can be allocated");
        }
        bytes[slot] = bytes_of(slot, 0);
        if (share(heap, slot, bytes, slot) != 0) {
            return 1;
        }
        named(heap, slot, 0, 1);
    }
    for (int slot = 0; slot < SLOTS * THREADS; slot++) {
        if (judge_slot(heap, slot, done, &bytes[slot]) != 0) {
            return 1;
        }
    }
    if (empty(heap, USED) != 0) {
        return 1;
    }
#ifdef LEAKS
    return judge_room(heap, path, done);
#else
    return 0;
#endif
}
