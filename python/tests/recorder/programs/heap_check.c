/* Whether the list of heap.c has its nodes: the file with the root's address, and the heap of a crash state. */
#include <stdio.h>
#include <strandline/heap.h>

struct node {
    struct node *next;
    long value, twice;
};

int main(int count, char **words) {
    if (count < 3 || !strandline_heap_map(words[2])) return 2;
    struct node **root;
    char *page;
    FILE *file = fopen(words[1], "r");
    if (!file || fscanf(file, "%p %p", (void **)&root, (void **)&page) != 2) return 2;
    long expected = *root ? (*root)->value : 0;
    for (struct node *node = *root; node; node = node->next, expected--)
        if (node->value != expected || node->twice != 2 * expected) return 1;
    return expected != 0 || (page[0] && (*root)->value != 3);
}
