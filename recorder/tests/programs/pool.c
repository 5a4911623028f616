/* Maps a file, writes to it, moves the mapping and makes it durable by system calls. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int count, char **arguments) {
    int file = open(arguments[count - 1], O_RDWR | O_CREAT, 0600);
    if (ftruncate(file, 1 << 20) || pwrite(file, "old!", 4, 8192) != 4) return 1;
    volatile char *pool = mmap(0, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    pool[0] = 'a';
    msync((void *)pool, 4096, MS_SYNC);
    fsync(file);
    munmap((void *)(pool + 4096), (1 << 20) - 4096);
    pool = mremap((void *)pool, 4096, 8192, MREMAP_MAYMOVE);
    pool[1] = 'b';
    return 0;
}
