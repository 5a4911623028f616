/*
 * A plug-in for QEMU's user mode that counts what a program executes: the second opinion on a recording's totals.
 *
 * Arguments: out=FILE (the counts as one JSON object), from=ADDRESS (count only from the first execution of this address on).
 * Debian does not ship qemu-plugin.h; what is used of the interface (version 1, QEMU 4.2 to 8.2) is declared here.
 * A string instruction with a rep prefix counts once for each iteration. Counts are exact for one thread only.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kinds.h"

typedef uint64_t plugin_id;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info;
enum { NO_REGISTERS = 0 };

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *instruction);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *instruction);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id id, void (*call)(plugin_id, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *instruction, void (*call)(unsigned, void *), int flags,
                                            void *data);
void qemu_plugin_register_atexit_cb(plugin_id id, void (*call)(plugin_id, void *), void *data);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

static struct counts counted;
static uint64_t from;
static bool counting = true;
static char out[4096];

static void run(unsigned cpu, void *kind)
{
    (void)cpu;
    if (!counting)
        return;
    count(&counted, (enum kind)(uintptr_t)kind);
}

static void begin(unsigned cpu, void *nothing)
{
    (void)cpu;
    (void)nothing;
    counting = true;
}

static void translated(plugin_id id, struct qemu_plugin_tb *block)
{
    (void)id;
    size_t n = qemu_plugin_tb_n_insns(block);
    for (size_t i = 0; i < n; i++) {
        struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
        if (from != 0 && qemu_plugin_insn_vaddr(instruction) == from)
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, begin, NO_REGISTERS, NULL);
        enum kind kind = kind_of(qemu_plugin_insn_data(instruction), qemu_plugin_insn_size(instruction));
        qemu_plugin_register_vcpu_insn_exec_cb(instruction, run, NO_REGISTERS, (void *)(uintptr_t)kind);
    }
}

static void finished(plugin_id id, void *nothing)
{
    (void)id;
    (void)nothing;
    FILE *file = fopen(out, "w");
    if (file == NULL) {
        perror(out);
        return;
    }
    print_counts(file, &counted);
    fclose(file);
}

__attribute__((visibility("default"))) int qemu_plugin_install(plugin_id id, const struct qemu_info *info, int argc,
                                                               char **argv)
{
    (void)info;
    for (int i = 0; i < argc; i++) {
        if (strncmp(argv[i], "out=", 4) == 0 && strlen(argv[i]) - 4 < sizeof out)
            strcpy(out, argv[i] + 4);
        else if (strncmp(argv[i], "from=", 5) == 0)
            from = strtoull(argv[i] + 5, NULL, 0);
        else
            return -1;
    }
    counting = from == 0;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, finished, NULL);
    return out[0] == 0 ? -1 : 0;
}
