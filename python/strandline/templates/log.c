/* A log to be checked: put the calls of your library into the functions of log.h below, in place of this small example.
 *
 * The example is right. -DPLANTED leaves a fence out, so that you see the check fail. For a library in C++, rename this file
 * to log.cc. */
#include "log.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

struct file {
    uint64_t used;        /* bytes of entries */
    uint64_t padding[7];  /* the entries begin in a line of their own */
    char entries[1 << 16]; /* each behind its size */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void flush(const void *from, size_t bytes) {
    for (uintptr_t at = (uintptr_t)from & ~(uintptr_t)63; at < (uintptr_t)from + bytes; at += 64) {
        __asm__ volatile("clflushopt %0" ::"m"(*(const char *)at) : "memory");
    }
}

static void fence(void) {
    __asm__ volatile("sfence" ::: "memory");
}

void *log_open(const char *path, int create) {
    int file = open(path, create ? O_RDWR | O_CREAT : O_RDWR, 0644);
    if (file < 0 || ftruncate(file, sizeof(struct file)) != 0) {
        return NULL;
    }
    void *at = mmap(NULL, sizeof(struct file), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return at == MAP_FAILED ? NULL : at;
}

int log_append(void *log, const void *bytes, size_t size) {
    struct file *file = (struct file *)log;
    pthread_mutex_lock(&lock);
    char *entry = file->entries + file->used;
    int fits = file->used + sizeof size + size <= sizeof file->entries;
    if (fits) {
        memcpy(entry, &size, sizeof size);
        memcpy(entry + sizeof size, bytes, size);
        flush(entry, sizeof size + size);
#ifndef PLANTED
        fence(); /* the entry, before the log says that it is there */
#endif
        file->used += sizeof size + size;
        flush(&file->used, sizeof file->used);
        fence();
    }
    pthread_mutex_unlock(&lock);
    return !fits;
}

long log_read(void *log, long number, void *bytes, size_t room) {
    const struct file *file = (const struct file *)log;
    for (uint64_t at = 0; at < file->used; number--) {
        size_t size;
        memcpy(&size, file->entries + at, sizeof size);
        if (number == 0) {
            memcpy(bytes, file->entries + at + sizeof size, size < room ? size : room);
            return (long)size;
        }
        at += sizeof size + size;
    }
    return -1;
}

void log_close(void *log) {
    munmap(log, sizeof(struct file));
}
