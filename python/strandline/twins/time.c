/* Times a twin: WARM OPERATIONS. Stays on one core, executes WARM operations, and prints the nanoseconds of OPERATIONS
 * more. A structure changes as it is used, so each time is that of a process of its own. */
#define _GNU_SOURCE
#include "start.h"
#include <sched.h>
#include <stdio.h>
#include <time.h>

static word now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (word)time.tv_sec * 1000000000 + (word)time.tv_nsec;
}

/* A core that the system refuses is no error: the fastest of several processes counts. */
static void stay(void)
{
    cpu_set_t here;
    int core = sched_getcpu();
    CPU_ZERO(&here);
    if (core >= 0)
        CPU_SET(core, &here);
    sched_setaffinity(0, sizeof here, &here);
}

int main(int argc, char **argv)
{
    word warm = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    word operations = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    stay();
    start(1);
    for (word i = 0; i < warm; i++)
        operation();
    word from = now();
    for (word i = 0; i < operations; i++)
        operation();
    word ns = now() - from;
    printf("%llu\n", (unsigned long long)ns);
    return !check();
}
