/* A private mapping of the pool's file never reaches it. A second shared one does. */
#include "pool.h"
enum { RIGHT, SHARED_TWICE, SHARED_UNFLUSHED };

struct pool {
    LINE word value;
    LINE word flag;
};

int main(int count, char **words) {
    struct pool *p = open_pool(words[1], 4096);
    if (count > 2) {
        REQUIRE(!p->flag || HOW == RIGHT || p->value == 7);
        REQUIRE(HOW != RIGHT || p->value == 0);
        return 0;
    }
    int file = open(words[1], O_RDWR);
    struct pool *q = mmap(NULL, 4096, PROT_READ | PROT_WRITE, HOW == RIGHT ? MAP_PRIVATE : MAP_SHARED, file, 0);
    q->value = 7; /* BUG */
    if (HOW == SHARED_TWICE) persist(&p->value, 8); /* by its other address */
    p->flag = 1;
    persist(&p->flag, 8);
    return 0;
}
