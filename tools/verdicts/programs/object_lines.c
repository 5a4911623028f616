/* An object of several lines is published by its index. What is flushed of it differs. */
#include "pool.h"
enum { RIGHT, BY_LINE, BATCH, FIRST_LINE, LAST_LINE, UNALIGNED, POINTER_SIZE, WRONG_OBJECT };

struct object {
    word words[12];
};

struct pool {
    LINE word used;
    word gap[6];
    struct object object; /* begins in the middle of a line, and touches three */
};

static void run(struct pool *p) {
    struct object *object = &p->object;
    for (int i = 0; i < 12; i++) object->words[i] = i + 1; /* BUG: FIRST_LINE LAST_LINE UNALIGNED POINTER_SIZE WRONG_OBJECT */
    if (HOW == RIGHT) persist(object, sizeof *object);
    if (HOW == BY_LINE) for (int i = 0; i < 12; i += 8) persist(&object->words[i], 8);
    if (HOW == BY_LINE) persist(&object->words[11], 8);
    if (HOW == BATCH) {
        flush_all(object, sizeof *object / 2);
        flush_all((char *)object + sizeof *object / 2, sizeof *object / 2); /* COST: BATCH */
        fence();
    }
    if (HOW == FIRST_LINE) persist(object, 16);
    if (HOW == LAST_LINE) persist(object, sizeof *object - 4 * sizeof(word));
    if (HOW == UNALIGNED) for (int i = 0; i < (int)sizeof *object / 64; i++) persist(&object->words[8 * i], 8);
    if (HOW == POINTER_SIZE) persist(object, sizeof object);
    if (HOW == WRONG_OBJECT) persist(&object, sizeof object); /* MAY */
    p->used = 1;
    persist(&p->used, 8);
}

static void check(struct pool *p) {
    for (int i = 0; p->used && i < 12; i++) REQUIRE(p->object.words[i] == (uint64_t)i + 1);
}

PROGRAM
