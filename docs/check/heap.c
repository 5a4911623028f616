/* A list on the plain heap.
 *
 * heap                 pushes three values, and prints where the list is
 * heap FILE ADDRESS    maps a crash state's heap; exits with 1 if a node of the list at this address is damaged */
#include <stdio.h>
#include <stdlib.h>
#include <strandline/heap.h>

struct node {
    long value;
    struct node *next;
};

struct list {
    struct node *first;
};

static void push(struct list *list, long value) {
    struct node *node = malloc(sizeof *node);
    node->next = list->first;
    list->first = node;
    node->value = value;
}

static int check(const struct list *list) {
    for (const struct node *node = list->first; node != NULL; node = node->next) {
        if (node->value == 0) {
            fprintf(stderr, "a node has no value\n");
            return 1;
        }
    }
    return 0;
}

int main(int count, char **words) {
    if (count == 3) {
        return strandline_heap_map(words[1]) == NULL ? 2 : check((struct list *)strtoul(words[2], NULL, 16));
    }
    struct list *list = malloc(sizeof *list);
    list->first = NULL;
    for (long value = 1; value <= 3; value++) {
        push(list, value);
    }
    printf("the list is at %p\n", (void *)list);
    return 0;
}
