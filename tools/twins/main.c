/* Runs a twin: OPERATIONS [SEED [check]]. What two numbers of operations cost tells what one costs. */
#include "twin.h"

#ifndef GLIBC
word random_state;
#endif

int main(int argc, char **argv)
{
    word operations = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    word seed = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
#ifdef GLIBC
    srand((unsigned)seed);
#else
    random_state = (seed + 1) * 0x9e3779b97f4a7c15 | 1;
#endif
    build();
    for (word i = 0; i < operations; i++)
        operation();
    return argc > 3 ? !check() : 0;
}
