/*
 * Threads that synchronise in one of the ways that programs do: `threads POOL WAY`. What they do together is a sum in the pool, made
 * durable under the lock (where the way has one); the exit status says whether it is right.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <immintrin.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TIMES 200
#define THREADS 2

static uint64_t *pool; /* the sum; from line 1 on a line of each thread's own */

static void add(uint64_t *word, uint64_t what)
{
	*word += what;
	_mm_clwb(word);
	_mm_sfence();
}

static uint64_t *own(long thread)
{
	return pool + 8 + 8 * thread;
}

static void run(void *(*work)(void *))
{
	pthread_t threads[THREADS];
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *with_mutex(void *thread)
{
	for (int i = 0; i < TIMES; i++) {
		pthread_mutex_lock(&mutex);
		add(pool, 1);
		pthread_mutex_unlock(&mutex);
		add(own((long)thread), 1);
	}
	return NULL;
}

static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;
static long turn;

static void *with_condition(void *thread)
{
	for (int i = 0; i < TIMES; i++) {
		pthread_mutex_lock(&mutex);
		while (turn != (long)thread)
			pthread_cond_wait(&turned, &mutex);
		add(pool, 1);
		turn = (turn + 1) % THREADS;
		pthread_cond_broadcast(&turned);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static pthread_barrier_t barrier;

static void *with_barrier(void *thread)
{
	for (int i = 0; i < TIMES; i++) {
		if (i % THREADS == (long)thread)
			add(pool, THREADS);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static volatile int spin;

static void *with_spin(void *thread)
{
	(void)thread;
	for (int i = 0; i < TIMES; i++) {
		while (__sync_lock_test_and_set(&spin, 1))
			while (spin)
				_mm_pause();
		add(pool, 1);
		__asm__ volatile("movl $0, %0" : "=m"(spin) : : "memory");
	}
	return NULL;
}

/* A lock that is let go by a plain store before any atomic instruction has touched it. */
static volatile int late = 1;

static void *with_late(void *thread)
{
	if ((long)thread == 0) {
		add(pool, TIMES);
		late = 0;
	} else {
		while (late)
			_mm_pause();
		while (__sync_lock_test_and_set(&late, 1))
			_mm_pause();
		add(pool, TIMES);
	}
	return NULL;
}

static _Atomic uint64_t counter, ready;

static void *with_atomics(void *thread)
{
	for (int i = 0; i < TIMES; i++) {
		uint64_t seen = atomic_load(&counter);
		while (!atomic_compare_exchange_weak(&counter, &seen, seen + 1))
			;
		atomic_fetch_or(&ready, 1ull << (long)thread);
		add(own((long)thread), 1);
	}
	/* The last one to come writes the sum, which a plain store with release semantics announces. */
	if (atomic_fetch_add(&ready, 1ull << 32) >> 32 == THREADS - 1) {
		add(pool, atomic_load(&counter));
		atomic_store_explicit(&ready, 0, memory_order_release);
	}
	return NULL;
}

static long queued[TIMES], head, tail;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;

static void *with_pool(void *thread)
{
	(void)thread;
	for (;;) {
		pthread_mutex_lock(&mutex);
		while (head == tail)
			pthread_cond_wait(&filled, &mutex);
		long job = queued[head++ % TIMES];
		if (job)
			add(pool, (uint64_t)job);
		pthread_mutex_unlock(&mutex);
		if (!job)
			return NULL;
	}
}

static void serve(void)
{
	pthread_t threads[THREADS];
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, with_pool, NULL);
	for (int i = 0; i < TIMES + THREADS; i++) {
		pthread_mutex_lock(&mutex);
		queued[tail++ % TIMES] = i < TIMES ? THREADS : 0;
		pthread_cond_signal(&filled);
		pthread_mutex_unlock(&mutex);
		/* Never more than the queue holds. */
		for (int room = 0; !room;) {
			pthread_mutex_lock(&mutex);
			room = tail - head < TIMES;
			pthread_mutex_unlock(&mutex);
		}
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void *once(void *thread)
{
	(void)thread;
	add(pool, TIMES);
	return NULL;
}

/* Threads that have ended when they are joined. */
static void early(void)
{
	for (int i = 0; i < THREADS; i++) {
		pthread_t thread;
		pthread_create(&thread, NULL, once, NULL);
		usleep(200000);
		pthread_join(thread, NULL);
		add(own(0), 1);
	}
}

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static void *with_rwlock(void *thread)
{
	uint64_t seen = 0;
	for (int i = 0; i < TIMES; i++) {
		pthread_rwlock_rdlock(&rwlock);
		seen += *pool;
		pthread_rwlock_unlock(&rwlock);
		pthread_rwlock_wrlock(&rwlock);
		add(pool, 1);
		pthread_rwlock_unlock(&rwlock);
	}
	add(own((long)thread), seen);
	return NULL;
}

static sem_t ball[THREADS];

static void *with_semaphores(void *thread)
{
	for (int i = 0; i < TIMES; i++) {
		sem_wait(&ball[(long)thread]);
		add(pool, 1);
		sem_post(&ball[((long)thread + 1) % THREADS]);
	}
	return NULL;
}

int main(int count, char **words)
{
	int file = count == 3 ? open(words[1], O_CREAT | O_RDWR, 0600) : -1;
	if (file < 0 || ftruncate(file, 4096))
		return 3;
	pool = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (pool == MAP_FAILED)
		return 3;
	const char *way = words[2];
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		sem_init(&ball[i], 0, i == 0);
	if (!strcmp(way, "mutex"))
		run(with_mutex);
	else if (!strcmp(way, "condition"))
		run(with_condition);
	else if (!strcmp(way, "barrier"))
		run(with_barrier);
	else if (!strcmp(way, "spin"))
		run(with_spin);
	else if (!strcmp(way, "late"))
		run(with_late);
	else if (!strcmp(way, "atomics"))
		run(with_atomics);
	else if (!strcmp(way, "pool"))
		serve();
	else if (!strcmp(way, "early"))
		early();
	else if (!strcmp(way, "rwlock"))
		run(with_rwlock);
	else if (!strcmp(way, "semaphore"))
		run(with_semaphores);
	else
		return 3;
	return *pool != TIMES * THREADS;
}
