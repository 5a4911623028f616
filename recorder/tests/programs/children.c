/* Starts another process in the way that its argument names. */
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

int main(int count, char **arguments) {
    char *words[] = {"true", 0};
    const char *how = arguments[count - 1];
    pid_t child;
    if (!strcmp(how, "fork") && fork() == 0) _exit(0);
    if (!strcmp(how, "vfork") && vfork() == 0) _exit(0);
    if (!strcmp(how, "spawn")) posix_spawnp(&child, "true", 0, 0, words, environ);
    if (!strcmp(how, "system")) return system("true");
    if (!strcmp(how, "exec")) execvp("true", words);
    return 0;
}
