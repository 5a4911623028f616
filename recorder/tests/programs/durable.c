/* What makes a mapped file durable, and what does not. Says after each call the pages that it made durable. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGES = 8, BYTES = PAGES * 4096 };

static int file;
static char *pool;

static void *elsewhere(void *unused) {
    fsync(file);
    return unused;
}

/* A range of pages, none if `pages` is 0. */
static void says(const char *call, int page, int pages) {
    dprintf(1, "%s %lx %x\n", call, pages ? (unsigned long)(pool + 4096 * page) : 0, 4096 * pages);
}

int main(int count, char **arguments) {
    const char *name = arguments[count - 1];
    char other[4096], link_name[4096];
    snprintf(other, sizeof other, "%s.other", name);
    snprintf(link_name, sizeof link_name, "%s.link", name);
    int ends[2], foreign = open("/proc/self", O_RDONLY), stranger = open(other, O_RDWR | O_CREAT, 0600);
    file = open(name, O_RDWR | O_CREAT, 0600);
    if (ftruncate(file, BYTES) || link(name, link_name) || pipe(ends)) return 1;
    int again = open(link_name, O_RDWR), synchronous = open(name, O_RDWR | O_DSYNC);
    pool = mmap(0, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    for (int page = 0; page < PAGES; page++) pool[4096 * page] = 'a';

    fsync(stranger), says("another-file", 0, 0);
    fsync(ends[0]), fsync(-1), says("failed", 0, 0);
    syncfs(foreign), says("another-file-system", 0, 0);
    sync_file_range(file, 0, BYTES, SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER), says("sync_file_range", 0, 0);
    msync(pool, BYTES, MS_ASYNC), msync(pool, BYTES, MS_INVALIDATE), says("MS_ASYNC", 0, 0);
    madvise(pool, BYTES, MADV_DONTNEED), says("madvise", 0, 0);
    if (pwrite(file, "b", 1, 0) != 1) return 2;
    says("pwrite", 0, 0);
    msync(pool + 4096, 4097, MS_SYNC), says("MS_SYNC", 1, 2);
    if (pwrite(synchronous, "bb", 2, 3 * 4096 - 1) != 2) return 3;
    says("O_DSYNC", 2, 2);
    if (lseek(synchronous, 4096, SEEK_SET) != 4096 || write(synchronous, "b", 1) != 1) return 4;
    says("position", 1, 1);
    struct iovec part = {"b", 1};
    if (pwritev2(file, &part, 1, 4096, RWF_SYNC) != 1) return 5;
    says("RWF_SYNC", 1, 1);
    fdatasync(again), says("another-name", 0, PAGES);
    syncfs(again), says("syncfs", 0, PAGES);
    sync(), says("sync", 0, PAGES);
    pthread_t thread;
    pthread_create(&thread, 0, elsewhere, 0), pthread_join(thread, 0), says("another-thread", 0, PAGES);
    char *second = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, again, 4096);
    second[1] = 'c';
    munmap(second, 4096), close(stranger), says("munmap", 0, 0);
    if (munmap(pool, BYTES) || rename(name, other) || fsync(file)) return 6;
    dprintf(1, "second %lx 1000\n", (unsigned long)second), says("unmapped", 0, PAGES);
    return 0;
}
