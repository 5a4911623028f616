// A program with allocators of its own: one that calls malloc last, and an arena that is mapped once.
// allocator KIND: nodes of a list come from the wrapper (`wrapped`), from the arena (`arena`), or from the wrapper, of which a
// call does not return before buffers are taken (`left`). Buffers come from malloc.
#include <immintrin.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct node {
    uint64_t value;
    struct node *next;
};

static char *arena;
static jmp_buf full;

// The compiler makes a jump of the call.
__attribute__((noinline)) void *persistent_alloc(size_t bytes) {
    if (bytes > 1 << 20)
        longjmp(full, 1);
    return malloc(bytes);
}

__attribute__((noinline)) void arena_open(void) {
    arena = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void *arena_alloc(size_t bytes) {
    void *object = arena;
    arena += (bytes + 63) / 64 * 64;
    return object;
}

int main(int argc, char **argv) {
    if (argc < 2)
        return 2;
    int is_wrapped = strcmp(argv[1], "arena");
    if (!is_wrapped)
        arena_open();
    struct node *head = NULL;
    for (uint64_t value = 1; value <= 10; value++) {
        if (!strcmp(argv[1], "left") && !setjmp(full))
            persistent_alloc(2 << 20);
        char *text = malloc(64);
        snprintf(text, 64, "value %lu", (unsigned long)value);
        struct node *node = is_wrapped ? persistent_alloc(sizeof *node) : arena_alloc(sizeof *node);
        *node = (struct node){value, head};
        _mm_clflush(node);
        _mm_sfence();
        head = node;
        free(text);
    }
    printf("%p\n", (void *)head);
    return 0;
}
