/* Takes objects of all sizes from several threads, and gives some back: each has its alignment and its own bytes. */
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define OBJECTS 400
#define START UINT64_C(0x200000000000)

static int ours(void *object) {
    return (uintptr_t)object >= START && (uintptr_t)object < START + (UINT64_C(1) << 36);
}

static void *take(int way, size_t bytes, size_t *alignment) {
    void *object = NULL;
    *alignment = way == 0 || way == 4 ? 16 : (size_t)16 << way * 2;
    switch (way) {
    case 0: return malloc(bytes);
    case 1: return posix_memalign(&object, *alignment, bytes) ? NULL : object;
    case 2: return aligned_alloc(*alignment, bytes);
    case 3: return memalign(*alignment, bytes);
    default: return calloc(bytes, 1);
    }
}

static void *work(void *number) {
    unsigned char mark = (unsigned char)(uintptr_t)number;
    unsigned char *objects[OBJECTS];
    size_t sizes[OBJECTS], state = mark, alignment;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < OBJECTS; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            sizes[i] = 1 + (state >> 33) % (i % 50 ? 3000 : 200000);
            objects[i] = take(i % 5, sizes[i], &alignment);
            if (!ours(objects[i]) || (uintptr_t)objects[i] % alignment) return "an object is misplaced";
            if (malloc_usable_size(objects[i]) < sizes[i]) return "an object is too small";
            for (size_t byte = 0; i % 5 == 4 && byte < sizes[i]; byte++)
                if (objects[i][byte]) return "calloc gives what is not zero";
            memset(objects[i], mark + i, sizes[i]);
        }
        for (int i = 0; i < OBJECTS; i += 3) {
            objects[i] = realloc(objects[i], 2 * sizes[i]);
            if (!ours(objects[i])) return "realloc misplaces an object";
        }
        for (int i = 0; i < OBJECTS; i++) {
            for (size_t byte = 0; byte < sizes[i]; byte++)
                if (objects[i][byte] != (unsigned char)(mark + i)) return "an object lost its bytes";
            free(objects[i]);
        }
    }
    return NULL;
}

int main(void) {
    pthread_t threads[4];
    for (uintptr_t i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, (void *)(60 * i));
    int failed = 0;
    for (int i = 0; i < 4; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        if (wrong) puts(wrong), failed = 1;
    }
    char *page = mmap(NULL, 5000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!ours(page) || page[4999] || munmap(page, 5000)) puts("mmap misplaces its pages"), failed = 1;
    if (realloc(malloc(10), 0) || malloc((size_t)1 << 60) || posix_memalign((void **)&page, 24, 8) == 0) puts("a wrong size is accepted"), failed = 1;
    return failed;
}
