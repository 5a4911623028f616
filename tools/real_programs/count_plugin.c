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

enum kind { OTHER, CLWB, CLFLUSHOPT, CLFLUSH, SFENCE, MFENCE, STORE_NT, KINDS };
static const char *const NAMES[KINDS] = {"other", "clwbs", "clflushopts", "clflushes", "sfences", "mfences", "stores_nt"};

static uint64_t executed;
static uint64_t counts[KINDS];
static uint64_t from;
static bool counting = true;
static char out[4096];

/* Kind of an instruction of the two-byte map by its operation code, its prefix 0x66 and its ModRM byte. */
static enum kind two_byte(uint8_t code, bool wide, uint8_t modrm)
{
    bool memory = modrm < 0xc0;
    unsigned extension = modrm >> 3 & 7;
    if (code == 0xae && !memory)
        return extension == 7 ? SFENCE : extension == 6 && !wide ? MFENCE : OTHER;
    if (code == 0xae && wide)
        return extension == 6 ? CLWB : extension == 7 ? CLFLUSHOPT : OTHER;
    if (code == 0xae)
        return extension == 7 ? CLFLUSH : OTHER;
    /* movntps/pd, movnti, movntq/dq */
    return memory && (code == 0x2b || code == 0xc3 || code == 0xe7) ? STORE_NT : OTHER;
}

static bool is_prefix(uint8_t byte)
{
    return byte == 0x66 || byte == 0xf2 || byte == 0xf3 || byte == 0x2e || byte == 0x3e || byte == 0x64 || byte == 0x65 ||
           (byte & 0xf0) == 0x40;
}

static enum kind kind_of(const uint8_t *code, size_t size)
{
    size_t at = 0;
    bool wide = false;
    bool repeated = false;
    while (at < size && is_prefix(code[at])) {
        wide |= code[at] == 0x66;
        repeated |= code[at] == 0xf3;
        at++;
    }
    if (at + 2 < size && code[at] == 0x0f && !repeated)
        return two_byte(code[at + 1], wide, code[at + 2]);
    /* VEX with the two-byte map: c5 xx op modrm, c4 x1 xx op modrm */
    if (at + 3 < size && code[at] == 0xc5 && code[at + 2] != 0xae)
        return two_byte(code[at + 2], false, code[at + 3]);
    if (at + 4 < size && code[at] == 0xc4 && (code[at + 1] & 0x1f) == 1 && code[at + 3] != 0xae)
        return two_byte(code[at + 3], false, code[at + 4]);
    return OTHER;
}

static void run(unsigned cpu, void *kind)
{
    (void)cpu;
    if (!counting)
        return;
    executed++;
    counts[(uintptr_t)kind]++;
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
    fprintf(file, "{\"instructions\": %" PRIu64, executed);
    for (int kind = CLWB; kind < KINDS; kind++)
        fprintf(file, ", \"%s\": %" PRIu64, NAMES[kind], counts[kind]);
    fprintf(file, "}\n");
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
