/* Computes until an alarm comes. */
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t stops;
static volatile long numbers[8];

static void stop(int number) {
    stops = number;
}

int main(void) {
    signal(SIGALRM, stop);
    alarm(1);
    for (long i = 0; !stops; i++) numbers[i & 7] = i;
    return stops != SIGALRM;
}
