/* Starts another process in the way that its last argument names, and waits for it. Each of the two does work of its own.
   Before `threads` stands how many are started, one after the other. */
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

volatile long words[64];
atomic_long shared;
atomic_int stop;

__attribute__((noinline)) void work(int times, long factor) {
    for (int time = 0; time < times; time++)
        for (long index = 0; index < 64; index++) words[index] = factor * index;
}

static void *count(void *unused) {
    while (!stop) shared++;
    return unused;
}

static pid_t start(void) {
    pid_t child = fork();
    if (child == 0) {
        work(1000, 3);
        shared++;
        exit(7);
    }
    return child;
}

int main(int number, char **arguments) {
    char *command[] = {"true", 0};
    const char *how = arguments[number - 1];
    int status = 0;
    pid_t child = 0;
    if (!strcmp(how, "fork")) child = start();
    if (!strcmp(how, "vfork")) {
        child = vfork();
        if (child == 0) _exit(7);
    }
    if (!strcmp(how, "spawn")) posix_spawnp(&child, "false", 0, 0, command, environ);
    if (!strcmp(how, "system")) status = system("exit 7");
    if (!strcmp(how, "exec")) execvp("true", command);
    if (!strcmp(how, "nowhere")) execvp("/nowhere/true", command);
    if (!strcmp(how, "self")) {
        char *again[] = {"again", "once", 0};
        execv("/proc/self/exe", again);
    }
    if (!strcmp(how, "threads")) {
        pthread_t threads[3];
        for (int index = 0; index < 3; index++) pthread_create(&threads[index], 0, count, 0);
        for (int times = atoi(arguments[number - 2]); times > 0; times--) {
            child = start();
            waitpid(child, &status, 0);
        }
        child = 0;
        stop = 1;
        for (int index = 0; index < 3; index++) pthread_join(threads[index], 0);
    }
    if (child > 0) waitpid(child, &status, 0);
    work(1, 2);
    printf("%d %ld\n", WEXITSTATUS(status), words[63]);
    return 0;
}
