/* A list of nodes on the plain heap, whose head is published last. `bad` does not flush a node before it is published. It
   writes the address of its root to a file. Checked by heap_check.c. */
#include <fcntl.h>
#include <immintrin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct node {
    struct node *next;
    long value, twice;
};

int main(int count, char **words) {
    int bad = !strcmp(words[2], "bad");
    struct node **root;
    if (posix_memalign((void **)&root, 64, sizeof *root)) return 2;
    *root = NULL;
    /* Of mmap: its own page. */
    char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    FILE *file = fopen(words[1], "w");
    if (count < 3 || !file) return 2;
    fprintf(file, "%p %p\n", (void *)root, (void *)page);
    fclose(file);
    for (long i = 1; i < 4; i++) {
        struct node *node = malloc(sizeof *node);
        *node = (struct node){*root, i, 2 * i};
        if (!bad) _mm_clflush(node), _mm_clflush(node + 1), _mm_sfence();
        *root = node;
        _mm_clflush(root);
        _mm_sfence();
    }
    page[0] = 1;
    _mm_clflush(page);
    _mm_sfence();
    return 0;
}
