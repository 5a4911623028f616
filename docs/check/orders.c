/* One thread places an order, another one ships it.
 *
 * orders FILE          places and ships
 * orders FILE check    exits with 1 if something was shipped that nobody has ordered */
#include <libpmem.h>
#include <pthread.h>
#include <stdio.h>

struct shop {
    _Alignas(64) long ordered;
    _Alignas(64) long shipped;
};

static struct shop *shop;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *order(void *unused) {
    pthread_mutex_lock(&lock);
    shop->ordered = 7;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    pmem_persist(&shop->ordered, sizeof shop->ordered);
    return unused;
}

static void *ship(void *unused) {
    pthread_mutex_lock(&lock);
    while (shop->ordered == 0) {
        pthread_cond_wait(&changed, &lock);
    }
    shop->shipped = shop->ordered;
    pthread_mutex_unlock(&lock);
    pmem_persist(&shop->shipped, sizeof shop->shipped);
    return unused;
}

int main(int count, char **words) {
    shop = count < 2 ? NULL : pmem_map_file(words[1], sizeof *shop, PMEM_FILE_CREATE, 0644, NULL, NULL);
    if (shop == NULL) {
        fprintf(stderr, "usage: %s FILE [check], where FILE can be mapped\n", words[0]);
        return 2;
    }
    if (count > 2 && shop->shipped != shop->ordered && shop->shipped != 0) {
        fprintf(stderr, "shipped %ld, ordered %ld\n", shop->shipped, shop->ordered);
        return 1;
    }
    if (count > 2) {
        return 0;
    }
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, ship, NULL);
    pthread_create(&threads[1], NULL, order, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    return 0;
}
