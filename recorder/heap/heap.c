/*
 * A heap that stands for persistent memory: `strandline record --pm-heap` loads it before a program's other libraries.
 *
 * What malloc, calloc, realloc, memalign, aligned_alloc, posix_memalign, new and anonymous mmap give to the program lies in
 * one arena at a fixed address, which the recorder takes as the persistent file "heap". All that the allocator itself knows
 * is elsewhere: the arena has the program's data alone. What the C and C++ libraries allocate for themselves (buffers of
 * streams, threads) stays in their own heap.
 *
 * A thread takes objects of one size from its own stretches of the arena and gives freed ones back to itself, so that
 * threads meet only where a stretch begins, and the recording has no order between them that the program has not made.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The recorder knows these, too (client/src/heap.rs). */
#define START UINT64_C(0x200000000000)
#define BYTES (UINT64_C(1) << 36)

#define PAGE 4096u
#define STRETCH (64u << 10)
#define GROWTH (16u << 20)
#define FINE 1024u
#define LARGEST (32u << 10)
/* 64 classes of multiples of 16 bytes, then 5 of powers of two. */
#define CLASSES 69
#define EXPORT __attribute__((visibility("default")))

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

struct stretch {
    char *next, *end;
};

struct freed {
    void **objects;
    size_t count, room;
};

static __thread struct stretch stretches[CLASSES];
static __thread struct freed freed[CLASSES];

/* Of each page of the arena: 1 + its class, or with the highest bit its number of pages if a large object begins there. */
static uint32_t *pages;
#define LARGE (UINT32_C(1) << 31)

static char lock;
static char *unused = (char *)START, *mapped = (char *)START;
static bool ready;

/* The code of the C and C++ libraries. */
static struct range {
    uintptr_t start, end;
} libraries[32];
static int library_count;

static bool ours(const void *object) {
    return (uintptr_t)object - START < BYTES;
}

static bool of_library(const char *path) {
    static const char *const names[] = {"libc.so", "libc-", "ld-linux", "ld-2", "libpthread", "libdl", "libstdc++", "libgcc_s", "libm.", "linux-vdso"};
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(base, names[i], strlen(names[i])) == 0) return true;
    return false;
}

static int note(struct dl_phdr_info *object, size_t size, void *unused_data) {
    (void)size, (void)unused_data;
    if (!of_library(object->dlpi_name)) return 0;
    for (int i = 0; i < object->dlpi_phnum && library_count < 32; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        uintptr_t start = object->dlpi_addr + part->p_vaddr;
        libraries[library_count++] = (struct range){start, start + part->p_memsz};
    }
    return 0;
}

/* The recorder answers in place of this instruction: the user may have named functions whose allocations count. */
static bool recorder_agrees(void) {
    long answer = 1;
    __asm__ volatile(".byte 0x0f, 0x1f, 0x80\n\t.long 0x53545280" : "+a"(answer));
    return answer;
}

/* Whether memory for this caller is persistent. */
static bool for_program(const void *caller) {
    if (!ready) return false;
    for (int i = 0; i < library_count; i++)
        if ((uintptr_t)caller >= libraries[i].start && (uintptr_t)caller < libraries[i].end) return false;
    return recorder_agrees();
}

static void take_lock(void) {
    while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE)) syscall(SYS_sched_yield);
}

static void give_lock(void) {
    __atomic_clear(&lock, __ATOMIC_RELEASE);
}

__attribute__((constructor)) static void prepare(void) {
    size_t bytes = BYTES / PAGE * sizeof *pages;
    void *table = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (table == MAP_FAILED) return;
    pages = table;
    dl_iterate_phdr(note, NULL);
    /* No other thread holds the lock in a forked process, which does not have that thread. */
    ready = pthread_atfork(take_lock, give_lock, give_lock) == 0;
}

/* A new part of the arena, of whole pages; NULL if there is none. */
static char *grow(size_t bytes, size_t alignment, uint32_t mark, bool large) {
    if (bytes > BYTES || alignment > BYTES) return NULL;
    bytes = (bytes + PAGE - 1) / PAGE * PAGE;
    take_lock();
    char *start = (char *)(((uintptr_t)unused + alignment - 1) / alignment * alignment);
    char *end = start + bytes;
    bool fits = (uintptr_t)end - START <= BYTES;
    if (fits && end > mapped) {
        size_t more = ((size_t)(end - mapped) + GROWTH - 1) / GROWTH * GROWTH;
        /* By number, because mmap is the one below. */
        long got = syscall(SYS_mmap, mapped, more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        fits = got == (long)mapped;
        if (fits) mapped += more;
    }
    if (fits) {
        unused = end;
        size_t first = ((uintptr_t)start - START) / PAGE;
        for (size_t page = 0; page < (large ? 1 : bytes / PAGE); page++) pages[first + page] = mark;
    }
    give_lock();
    return fits ? start : NULL;
}

static size_t size_of_class(int class) {
    return class < 64 ? 16 * (size_t)(class + 1) : (size_t)FINE << (class - 63);
}

static int class_of(size_t bytes) {
    if (bytes <= FINE) return bytes == 0 ? 0 : (int)((bytes - 1) / 16);
    int class = 64;
    while (size_of_class(class) < bytes) class++;
    return class;
}

static size_t size_of(const void *object) {
    uint32_t mark = pages[((uintptr_t)object - START) / PAGE];
    return mark & LARGE ? (size_t)(mark & ~LARGE) * PAGE : size_of_class((int)mark - 1);
}

static void *give(size_t bytes, size_t alignment) {
    if (alignment > 16) {
        /* A class whose size is a multiple of the alignment: stretches are aligned to their own size. */
        if (bytes < alignment) bytes = alignment;
        if (bytes <= FINE && alignment <= FINE) bytes = (bytes + alignment - 1) / alignment * alignment;
        if (alignment > PAGE) bytes = bytes > LARGEST ? bytes : LARGEST + 1;
    }
    void *object;
    if (bytes > LARGEST) {
        size_t count = (bytes + PAGE - 1) / PAGE;
        object = count < LARGE ? grow(bytes, alignment > PAGE ? alignment : PAGE, LARGE | (uint32_t)count, true) : NULL;
    } else {
        int class = class_of(bytes);
        size_t size = size_of_class(class);
        struct freed *old = &freed[class];
        struct stretch *stretch = &stretches[class];
        if (old->count > 0) return old->objects[--old->count];
        if ((size_t)(stretch->end - stretch->next) < size) {
            char *start = grow(STRETCH, STRETCH, 1 + (uint32_t)class, false);
            if (!start) goto full;
            *stretch = (struct stretch){start, start + STRETCH};
        }
        object = stretch->next;
        stretch->next += size;
    }
    if (object) return object;
full:
    errno = ENOMEM;
    return NULL;
}

EXPORT void free(void *object) {
    if (!object) return;
    if (!ours(object)) return __libc_free(object);
    uint32_t mark = pages[((uintptr_t)object - START) / PAGE];
    /* A large object's place is not used again: it would have to be cleared for calloc and mmap. */
    if (mark & LARGE) return;
    struct freed *old = &freed[mark - 1];
    if (old->count == old->room) {
        size_t room = old->room ? 2 * old->room : 64;
        void **objects = __libc_realloc(old->objects, room * sizeof *objects);
        if (!objects) return;
        *old = (struct freed){objects, old->count, room};
    }
    old->objects[old->count++] = object;
}

EXPORT void *malloc(size_t bytes) {
    return for_program(__builtin_return_address(0)) ? give(bytes, 16) : __libc_malloc(bytes);
}

EXPORT void *calloc(size_t count, size_t bytes) {
    if (!for_program(__builtin_return_address(0))) return __libc_calloc(count, bytes);
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    void *object = give(all, 16);
    return object ? memset(object, 0, all) : NULL;
}

EXPORT void *realloc(void *object, size_t bytes) {
    bool persistent = object ? ours(object) : for_program(__builtin_return_address(0));
    if (!persistent) return __libc_realloc(object, bytes);
    if (!object) return give(bytes, 16);
    if (bytes == 0) {
        free(object);
        return NULL;
    }
    size_t old = size_of(object);
    if (bytes <= old) return object;
    void *moved = give(bytes, 16);
    if (moved) {
        memcpy(moved, object, old);
        free(object);
    }
    return moved;
}

static bool is_power(size_t alignment) {
    return alignment && !(alignment & (alignment - 1));
}

static void *aligned(size_t alignment, size_t bytes, const void *caller) {
    if (!for_program(caller)) return __libc_memalign(alignment, bytes);
    if (is_power(alignment)) return give(bytes, alignment);
    errno = EINVAL;
    return NULL;
}

EXPORT void *memalign(size_t alignment, size_t bytes) {
    return aligned(alignment, bytes, __builtin_return_address(0));
}

EXPORT void *aligned_alloc(size_t alignment, size_t bytes) {
    return aligned(alignment, bytes, __builtin_return_address(0));
}

EXPORT void *valloc(size_t bytes) {
    return aligned(PAGE, bytes, __builtin_return_address(0));
}

EXPORT int posix_memalign(void **object, size_t alignment, size_t bytes) {
    if (!is_power(alignment) || alignment % sizeof(void *)) return EINVAL;
    int before = errno;
    void *got = aligned(alignment, bytes, __builtin_return_address(0));
    errno = before;
    if (!got) return ENOMEM;
    *object = got;
    return 0;
}

EXPORT size_t malloc_usable_size(void *object) {
    if (object && ours(object)) return size_of(object);
    size_t (*next)(void *) = (size_t (*)(void *))dlsym(RTLD_NEXT, "malloc_usable_size");
    return next ? next(object) : 0;
}

/* `operator new` by its names in the C++ ABI of x86-64. It must not return NULL; a program that runs out of this arena ends. */
static void *construct(size_t bytes, size_t alignment, const void *caller) {
    void *object = for_program(caller) ? give(bytes, alignment) : __libc_memalign(alignment, bytes);
    if (!object) abort();
    return object;
}

#define NEW(name) \
    EXPORT void *name(size_t bytes) { \
        return construct(bytes, 16, __builtin_return_address(0)); \
    } \
    EXPORT void *name##RKSt9nothrow_t(size_t bytes, const void *tag) { \
        (void)tag; \
        return for_program(__builtin_return_address(0)) ? give(bytes, 16) : __libc_malloc(bytes); \
    } \
    EXPORT void *name##St11align_val_t(size_t bytes, size_t alignment) { \
        return construct(bytes, alignment, __builtin_return_address(0)); \
    } \
    EXPORT void *name##St11align_val_tRKSt9nothrow_t(size_t bytes, size_t alignment, const void *tag) { \
        (void)tag; \
        return aligned(alignment, bytes, __builtin_return_address(0)); \
    }
NEW(_Znwm)
NEW(_Znam)

EXPORT void *mmap(void *place, size_t bytes, int protection, int flags, int file, off_t offset) {
    bool plain = !place && flags & MAP_ANONYMOUS && !(flags & MAP_FIXED) && protection & PROT_WRITE;
    if (plain && bytes > 0 && bytes <= BYTES && for_program(__builtin_return_address(0))) {
        size_t count = (bytes + PAGE - 1) / PAGE;
        void *object = grow(bytes, flags & MAP_HUGETLB ? 2u << 20 : PAGE, LARGE | (uint32_t)count, true);
        if (object) return object;
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, place, bytes, protection, flags, file, offset);
}

EXPORT void *mmap64(void *place, size_t bytes, int protection, int flags, int file, off_t offset) __attribute__((alias("mmap")));

/* The arena stays mapped: what a crash leaves is a part of it. */
EXPORT int munmap(void *place, size_t bytes) {
    return ours(place) ? 0 : (int)syscall(SYS_munmap, place, bytes);
}
