/*
 * What PMDK's examples want of their common header, which Debian's libpmemobj-dev leaves out: written from its uses.
 */
#ifndef EX_COMMON_H
#define EX_COMMON_H

#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define CREATE_MODE_RW (S_IWUSR | S_IRUSR)
#define MIN(a, b) ((a) < (b) ? (a) : (b))

/* Zero if the file is there. */
static inline int file_exists(const char *path)
{
    return access(path, F_OK);
}

/* The number of the highest bit that is set; of a word that is not zero. */
static inline size_t find_last_set_64(uint64_t word)
{
    return 63 - (size_t)__builtin_clzll(word);
}

#endif
