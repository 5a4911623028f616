/* A map to be checked: put the calls of your library into the functions of map.h below, in place of this small example.
 *
 * The example is right. -DPLANTED leaves a fence out, so that you see the check fail. For a library in C++, rename this file
 * to map.cc. Where values are larger or strings, repeat the number to fill them, so that torn ones are seen. */
#include "map.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define SLOTS 64

struct table {
    uint64_t keys[SLOTS]; /* 0: the slot is free */
    uint64_t values[SLOTS];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void flush(const void *at) {
    __asm__ volatile("clflushopt %0" ::"m"(*(const char *)at) : "memory");
}

static void fence(void) {
    __asm__ volatile("sfence" ::: "memory");
}

static int slot_of(const struct table *table, uint64_t key) {
    for (int slot = 0; slot < SLOTS; slot++) {
        if (table->keys[slot] == key) {
            return slot;
        }
    }
    return -1;
}

void *map_open(const char *path, int create) {
    int file = open(path, create ? O_RDWR | O_CREAT : O_RDWR, 0644);
    if (file < 0 || ftruncate(file, sizeof(struct table)) != 0) {
        return NULL;
    }
    void *at = mmap(NULL, sizeof(struct table), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return at == MAP_FAILED ? NULL : at;
}

int map_put(void *map, uint64_t key, uint64_t value) {
    struct table *table = (struct table *)map;
    pthread_mutex_lock(&lock);
    int slot = slot_of(table, key), is_new = slot < 0;
    slot = is_new ? slot_of(table, 0) : slot;
    if (slot >= 0) {
        table->values[slot] = value;
        flush(&table->values[slot]);
        if (is_new) {
#ifndef PLANTED
            fence(); /* the value, before the key says that it is there */
#endif
            table->keys[slot] = key;
            flush(&table->keys[slot]);
        }
        fence();
    }
    pthread_mutex_unlock(&lock);
    return slot < 0;
}

int map_remove(void *map, uint64_t key) {
    struct table *table = (struct table *)map;
    pthread_mutex_lock(&lock);
    int slot = slot_of(table, key);
    if (slot >= 0) {
        table->keys[slot] = 0;
        flush(&table->keys[slot]);
        fence();
    }
    pthread_mutex_unlock(&lock);
    return 0;
}

int map_get(void *map, uint64_t key, uint64_t *value) {
    struct table *table = (struct table *)map;
    pthread_mutex_lock(&lock);
    int slot = slot_of(table, key);
    if (slot >= 0) {
        *value = table->values[slot];
    }
    pthread_mutex_unlock(&lock);
    return slot >= 0;
}

long map_count(void *map) {
    long count = 0;
    for (int slot = 0; slot < SLOTS; slot++) {
        count += ((struct table *)map)->keys[slot] != 0;
    }
    return count;
}

void map_close(void *map) {
    munmap(map, sizeof(struct table));
}
