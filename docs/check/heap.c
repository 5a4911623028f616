/* A list on a heap of its own, without a library for persistent memory.
 *
 * heap          pushes three values
 * heap FILE     maps the heap from a file; exits with 1 if a node is damaged */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>

#define BYTES 4096

struct node {
    _Alignas(64) long value;
    struct node *next;
};

struct heap {
    struct node *first;
    size_t used;
    struct node nodes[BYTES / sizeof(struct node) - 1];
};

static struct heap *const heap = (struct heap *)0x10000000000;

static void push(long value) {
    struct node *node = &heap->nodes[heap->used++];
    node->next = heap->first;
    heap->first = node;
    node->value = value;
}

static int check(void) {
    for (const struct node *node = heap->first; node != NULL; node = node->next) {
        if (node->value == 0) {
            fprintf(stderr, "a node has no value\n");
            return 1;
        }
    }
    return 0;
}

int main(int count, char **words) {
    int file = count < 2 ? -1 : open(words[1], O_RDWR);
    int kind = count < 2 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED;
    if (mmap(heap, BYTES, PROT_READ | PROT_WRITE, kind | MAP_FIXED_NOREPLACE, file, 0) != heap) {
        perror("mmap");
        return 2;
    }
    if (count > 1) {
        return check();
    }
    for (long value = 1; value <= 3; value++) {
        push(value);
    }
    return 0;
}
