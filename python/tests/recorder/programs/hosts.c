// Protocols between two hosts that share persistent memory without coherence; each thread stands for a host.
// hosts POOL KIND...: runs these protocols, one after the other. hosts POOL check: exits 1 if the first one is broken.
// Right are publish, one_line, message, apart and ring. `at fault` names the protocols in which a line is, and its side.
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LINE __attribute__((aligned(64)))
#define CLWB(at) __asm__ volatile("clwb %0" : "+m"(*(volatile char *)(at))::"memory")
#define CLFLUSHOPT(at) __asm__ volatile("clflushopt %0" : "+m"(*(volatile char *)(at))::"memory")
#define SFENCE() __asm__ volatile("sfence" ::: "memory")
#define MFENCE() __asm__ volatile("mfence" ::: "memory")
// Takes few laps also on a loaded machine.
#define REST() usleep(50)
#define SLOTS 2
#define ITEMS 5

struct item {
    LINE volatile uint64_t number;
    volatile uint64_t value, sum;
};
struct pool {
    LINE volatile uint64_t ready;
    LINE volatile uint64_t payload[2];
    LINE volatile uint64_t seen;
    LINE volatile uint64_t counter;
    LINE volatile uint64_t here;
    volatile uint64_t there; // In the same line.
    LINE volatile uint64_t apart;
    LINE volatile uint64_t head;
    LINE volatile uint64_t tail;
    struct item slots[SLOTS];
    LINE volatile uint64_t sums[ITEMS];
};
static struct pool *p;
static const char *kind;
static volatile uint64_t got;
static pthread_barrier_t both; // Neither host's work is over before the other one begins.

static int is(const char *name) { return !strcmp(kind, name); }

static void *publisher(void *nothing) {
    pthread_barrier_wait(&both);
    p->payload[0] = 5; // at fault: unflushed writer; torn writer; uninvalidated writer; sfence writer
    p->payload[1] = 6; // at fault: unflushed writer; torn writer; uninvalidated writer; sfence writer
    if (!is("unflushed") && !is("torn")) {
        CLWB(p->payload);
        SFENCE();
    }
    if (is("spin"))
        usleep(30000);
    p->ready = 1; // at fault: spin writer
    CLWB(&p->ready);
    SFENCE();
    if (is("torn")) {
        CLWB(p->payload);
        SFENCE();
    }
    return nothing;
}

static void *subscriber(void *nothing) {
    pthread_barrier_wait(&both);
    if (is("spin"))
        while (!p->ready) // at fault: spin reader
            REST();
    else
        do {
            REST();
            CLFLUSHOPT(&p->ready);
            MFENCE();
        } while (!p->ready);
    if (!is("uninvalidated"))
        CLFLUSHOPT(p->payload);
    if (is("sfence"))
        SFENCE();
    else if (!is("uninvalidated"))
        MFENCE();
    got = p->payload[0] + p->payload[1]; // at fault: unflushed reader; torn reader; uninvalidated reader; sfence reader
    p->seen = got;
    CLWB(&p->seen);
    SFENCE();
    return nothing;
}

// The line goes to the device as a whole, so one flush publishes what is in it.
static void *one_line_writer(void *nothing) {
    pthread_barrier_wait(&both);
    p->slots[0].value = 7;
    p->slots[0].number = 1;
    CLWB(&p->slots[0]);
    SFENCE();
    return nothing;
}

static void *one_line_reader(void *nothing) {
    pthread_barrier_wait(&both);
    do {
        REST();
        CLFLUSHOPT(&p->slots[0]);
        MFENCE();
    } while (!p->slots[0].number);
    got = p->slots[0].value;
    return nothing;
}

static void *locked(void *nothing) {
    pthread_barrier_wait(&both);
    for (int i = 0; i < 3; i++)
        __atomic_fetch_add(&p->counter, 1, __ATOMIC_SEQ_CST); // at fault: locked
    CLWB(&p->counter);
    SFENCE();
    return nothing;
}

// The mutex is no persistent memory: it stands for messages between the hosts.
static void *by_message(void *nothing) {
    static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    pthread_barrier_wait(&both);
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&turn);
        CLFLUSHOPT(&p->counter);
        MFENCE();
        p->counter++;
        CLWB(&p->counter);
        SFENCE();
        pthread_mutex_unlock(&turn);
    }
    return nothing;
}

static void *counts_here(void *nothing) {
    pthread_barrier_wait(&both);
    for (int i = 0; i < 3; i++) {
        p->here++; // at fault: neighbours writer
        CLWB(&p->here);
        SFENCE();
    }
    return nothing;
}

static void *counts_there(void *nothing) {
    pthread_barrier_wait(&both);
    volatile uint64_t *own = is("apart") ? &p->apart : &p->there;
    for (int i = 0; i < 3; i++) {
        ++*own; // at fault: neighbours reader
        CLWB(own);
        SFENCE();
    }
    return nothing;
}

static void *producer(void *nothing) {
    pthread_barrier_wait(&both);
    for (uint64_t i = 0; i < ITEMS; i++) {
        do {
            REST();
            CLFLUSHOPT(&p->tail);
            MFENCE();
        } while (i - p->tail >= SLOTS);
        struct item *slot = &p->slots[i % SLOTS];
        slot->number = i; // at fault: stale_ring writer
        slot->value = 10 * i; // at fault: stale_ring writer
        slot->sum = 11 * i; // at fault: stale_ring writer
        CLWB(slot);
        SFENCE();
        p->head = i + 1;
        CLWB(&p->head);
        SFENCE();
    }
    return nothing;
}

static void *consumer(void *nothing) {
    pthread_barrier_wait(&both);
    for (uint64_t i = 0; i < ITEMS; i++) {
        do {
            REST();
            CLFLUSHOPT(&p->head);
            MFENCE();
        } while (p->head <= i);
        struct item *slot = &p->slots[i % SLOTS];
        if (!is("stale_ring")) {
            CLFLUSHOPT(slot);
            MFENCE();
        }
        uint64_t number = slot->number, value = slot->value, sum = slot->sum; // at fault: stale_ring reader
        if (number + value != sum)
            return 0;
        p->sums[i] = sum;
        p->tail = i + 1;
        CLWB(&p->sums[i]);
        CLWB(&p->tail);
        SFENCE();
    }
    return nothing;
}

static void run(void *(*one)(void *), void *(*other)(void *)) {
    pthread_t threads[2];
    pthread_barrier_init(&both, 0, 2);
    pthread_create(&threads[0], 0, one, 0);
    pthread_create(&threads[1], 0, other, 0);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
}

int main(int count, char **words) {
    int file = count > 1 ? open(words[1], O_RDWR | O_CREAT, 0644) : -1;
    size_t bytes = (sizeof *p * count + 4095) / 4096 * 4096;
    if (file < 0 || ftruncate(file, bytes))
        return 2;
    p = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (count > 2 && !strcmp(words[2], "check")) // What the subscriber has acknowledged is there.
        return p->seen && p->payload[0] + p->payload[1] != p->seen;
    for (int i = 2; i < count; i++, p++) {
        kind = words[i];
        if (is("one_line"))
            run(one_line_writer, one_line_reader);
        else if (is("locked"))
            run(locked, locked);
        else if (is("message"))
            run(by_message, by_message);
        else if (is("neighbours") || is("apart"))
            run(counts_here, counts_there);
        else if (is("ring") || is("stale_ring"))
            run(producer, consumer);
        else
            run(publisher, subscriber);
    }
    return 0;
}
