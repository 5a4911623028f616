/* Runs a twin: OPERATIONS [SEED [check]]. What two numbers of operations cost tells what one costs. */
#include "start.h"

int main(int argc, char **argv)
{
    word operations = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    start(argc > 2 ? strtoul(argv[2], NULL, 10) : 1);
    for (word i = 0; i < operations; i++)
        operation();
    return argc > 3 ? !check() : 0;
}
