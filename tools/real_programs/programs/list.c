/*
 * A linked list in a persistent file, after the idea of PMDK's pmreorder_list (which Debian ships in the source package only).
 *
 * Usage: list g FILE   append in the right order: a node is durable before the list leads to it
 *        list b FILE   the bug: the list leads to a node whose value is not durable yet
 *        list c FILE   check: exit status 0 if every node of the list has its value, 1 if not
 * FILE must be there and have at least a page of zeros.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <libpmem.h>

enum { NODES = 8, LINE = 64, VALUE_OF_FIRST = 11 };

/* A line of its own for each, so that only order, not luck, decides what is durable first. */
struct node {
    _Alignas(LINE) uint64_t value;
    uint64_t next;
};

/* Node 0 is none. */
struct list {
    _Alignas(LINE) uint64_t head;
    struct node nodes[NODES + 1];
};

static void insert_good(struct list *list, uint64_t at)
{
    list->nodes[at].value = at * VALUE_OF_FIRST;
    list->nodes[at].next = list->head;
    pmem_persist(&list->nodes[at], sizeof list->nodes[at]);
    list->head = at;
    pmem_persist(&list->head, sizeof list->head);
}

static void insert_bad(struct list *list, uint64_t at)
{
    list->nodes[at].next = list->head;
    pmem_persist(&list->nodes[at].next, sizeof list->nodes[at].next);
    list->head = at;
    pmem_persist(&list->head, sizeof list->head);
    list->nodes[at].value = at * VALUE_OF_FIRST;
    pmem_persist(&list->nodes[at].value, sizeof list->nodes[at].value);
}

static int check(const struct list *list)
{
    uint64_t at = list->head;
    for (int steps = 0; at != 0; steps++) {
        if (at > NODES || steps == NODES || list->nodes[at].value != at * VALUE_OF_FIRST) {
            fprintf(stderr, "list: node %llu is in the list without its value\n", (unsigned long long)at);
            return 1;
        }
        at = list->nodes[at].next;
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 3 || strlen(argv[1]) != 1 || strchr("gbc", argv[1][0]) == NULL) {
        fprintf(stderr, "usage: list g|b|c FILE\n");
        return 2;
    }
    size_t bytes;
    struct list *list = pmem_map_file(argv[2], 0, 0, 0, &bytes, NULL);
    if (list == NULL || bytes < sizeof *list) {
        fprintf(stderr, "list: %s: %s\n", argv[2], list == NULL ? pmem_errormsg() : "shorter than a list");
        return 2;
    }
    int status = 0;
    if (argv[1][0] == 'c')
        status = check(list);
    else
        for (uint64_t at = 1; at <= NODES; at++)
            (argv[1][0] == 'g' ? insert_good : insert_bad)(list, at);
    pmem_unmap(list, bytes);
    return status;
}
