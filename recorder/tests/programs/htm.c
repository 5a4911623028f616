/* Hardware transactions: what each instruction does, and three uses that cannot be recorded. */
#include <immintrin.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile int words[2];
static sigjmp_buf out;

static void faults(int signal) { siglongjmp(out, signal); }

static void *sleeps(void *unused) {
    pause();
    return unused;
}

/* Tries until a transaction begins; returns the number of tries that failed. */
#define BEGIN(tries)                                         \
    for ((tries) = 0; _xbegin() != _XBEGIN_STARTED; (tries)++) {} \

int main(int count, char **arguments) {
    const char *how = count > 1 ? arguments[1] : "";
    volatile int local = 1;
    int tries;
    if (!*how) {
        _xabort(3);
        printf("outside %d\n", _xtest());
        printf("first %d\n", (int)_xbegin());
        BEGIN(tries);
        words[0] = _xtest();
        if (_xbegin() == _XBEGIN_STARTED) words[1] = 5;
        _xend();
        words[0] += _xtest();
        _xend();
        printf("tries %d inside %d nested %d after %d\n", tries, words[0], words[1], _xtest());
        unsigned status;
        for (tries = 0; (status = _xbegin()) == 0; tries++) {}
        if (status == _XBEGIN_STARTED) {
            local = 2;
            _xabort(7);
        }
        printf("tries %d status %x local %d\n", tries, status, local);
        signal(SIGSEGV, faults);
        if (!sigsetjmp(out, 1)) _xend();
        else printf("xend faults\n");
        return 0;
    }
    pthread_t thread;
    if (!strcmp(how, "threads")) pthread_create(&thread, 0, sleeps, 0);
    BEGIN(tries);
    words[0] = 1;
    if (!strcmp(how, "call")) getppid();
    if (!strcmp(how, "stored")) _xabort(1);
    _xend();
    return 3;
}
