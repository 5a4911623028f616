/*
 * For checkers of recordings that `strandline record --pm-heap` made: brings a crash state's heap back to its place.
 *
 * The file "heap" of a crash state is what the program had allocated. It must lie where it was, because it holds
 * pointers into itself. Addresses are the same in each run of a program that allocates in the same order, so a program
 * may write the address of its root to a file for the checker.
 */
#ifndef STRANDLINE_HEAP_H
#define STRANDLINE_HEAP_H

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where the heap begins. */
#define STRANDLINE_HEAP ((void *)0x200000000000)

/* Maps a crash state's heap, which recovery may change; NULL if that is impossible (errno says why). Call it before anything
 * else that maps memory. */
static inline void *strandline_heap_map(const char *path) {
    int file = open(path, O_RDWR);
    struct stat about;
    void *heap = MAP_FAILED;
    if (file < 0) return NULL;
    if (fstat(file, &about) == 0)
        heap = mmap(STRANDLINE_HEAP, (size_t)about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0);
    close(file);
    return heap == MAP_FAILED ? NULL : heap;
}

#endif
