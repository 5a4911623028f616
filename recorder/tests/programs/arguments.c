/* Prints its arguments, its input and a variable of its environment, and exits with a status. */
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **arguments) {
    for (int i = 1; i < count; i++) printf("[%s]", arguments[i]);
    for (int c; (c = getchar()) != EOF;) putchar(c);
    fprintf(stderr, "%s", getenv("GREETING"));
    return 42;
}
