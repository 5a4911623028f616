/* How a twin begins: its random numbers, and its structure. */
#ifndef START_H
#define START_H

#include "twin.h"

#ifndef GLIBC
word random_state;
#endif

static inline void start(word seed)
{
#ifdef GLIBC
    srand((unsigned)seed);
#else
    random_state = (seed + 1) * 0x9e3779b97f4a7c15 | 1;
#endif
    build();
}

#endif
