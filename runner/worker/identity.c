/* identity.c -- identities, so that 'same code, slower' can be told from 'changed code'. */
#include "worker/identity.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "plan/field.h"
#include "base/random.h"
#include "base/text.h"

/* A cubin for sm_90a runs on 9.0 alone, sm_100f on its family, sm_80 on 8.0 and later minors. Of several that fit, the
 * highest is loaded. -1: does not run there. */
static int arch_fit(const char *arch, int major, int minor)
{
    char *suffix = NULL;
    if (strncmp(arch, "sm_", 3))
        return -1;
    long number = strtol(arch + 3, &suffix, 10);
    int its_major = (int)(number / 10), its_minor = (int)(number % 10);
    if (its_major != major || its_minor > minor || (*suffix == 'a' && its_minor != minor))
        return -1;
    return 2 * its_minor + (*suffix != '\0');
}

const kg_kernel *kg_identity_kernel(const struct kg_module *module, const char *name, const kg_device *device)
{
    const kg_kernel *best = NULL;
    int best_fit = -1;
    for (size_t i = 0; i < module->n_kernels; i++) {
        int fit = arch_fit(module->kernels[i].arch, device->cc_major, device->cc_minor);
        if (fit > best_fit && !strcmp(module->kernels[i].name, name)) {
            best = &module->kernels[i];
            best_fit = fit;
        }
    }
    return best;
}

static uint64_t hash_bytes(uint64_t hash, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ bytes[i]) * 0x100000001b3u;
    return hash;
}

/* `without` does not count. */
static uint64_t hash_without(uint64_t hash, const unsigned char *bytes, size_t count, const char *without)
{
    const size_t length = strlen(without);
    const unsigned char *end = bytes + count, *found;
    while (length && (found = memmem(bytes, (size_t)(end - bytes), without, length))) {
        hash = hash_bytes(hash, bytes, (size_t)(found - bytes));
        bytes = found + length;
    }
    return hash_bytes(hash, bytes, (size_t)(end - bytes));
}

/* The file's sections of this name. false: it has none. */
static bool hash_sections(const unsigned char *file, size_t size, const char *wanted, const char *without,
                          uint64_t *hash)
{
    Elf64_Ehdr head;
    Elf64_Shdr names, one;
    bool found = false;
    const size_t length = strlen(wanted) + 1;
    memcpy(&head, file, sizeof head);
    memcpy(&names, file + head.e_shoff + head.e_shstrndx * sizeof names, sizeof names);
    for (unsigned i = 0; i < head.e_shnum; i++) {
        memcpy(&one, file + head.e_shoff + i * sizeof one, sizeof one);
        uint64_t name = names.sh_offset + one.sh_name;
        if (name > size || size - name < length || memcmp(file + name, wanted, length) || one.sh_offset > size ||
            one.sh_size > size - one.sh_offset)
            continue;
        *hash = hash_without(*hash, file + one.sh_offset, one.sh_size, without);
        found = true;
    }
    return found;
}

/* Its code, what that reads and nothing writes, and its tables, which say what of the code is called. */
static int hash_elf(const unsigned char *file, size_t size, const char *without, uint64_t *ret_hash)
{
    Elf64_Ehdr head;
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    if (size < sizeof head)
        return KG_EINVAL;
    memcpy(&head, file, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_shentsize != sizeof(Elf64_Shdr) || head.e_shoff > size ||
        (size - head.e_shoff) / sizeof(Elf64_Shdr) < head.e_shnum || head.e_shstrndx >= head.e_shnum)
        return KG_EINVAL;
    if (!hash_sections(file, size, ".text", "", &hash))
        return KG_ENOTFOUND;
    static const char *const others[] = { ".rodata", ".data", ".data.rel.ro", ".rela.dyn" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        (void)hash_sections(file, size, others[i], without, &hash);
    *ret_hash = hash;
    return KG_OK;
}

int kg_identity_elf_code(const char *path, const char *without, uint64_t *ret_hash)
{
    struct stat info;
    int status = KG_EIO;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return KG_EIO;
    if (fstat(file, &info) == 0 && info.st_size > 0) {
        void *map = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (map != MAP_FAILED) {
            status = hash_elf(map, (size_t)info.st_size, without, ret_hash);
            munmap(map, (size_t)info.st_size);
        }
    }
    close(file);
    return status;
}

/* Once a process: a library may have hundreds of megabytes, and every case asks. false: it has no code. */
static bool code_of(const char *path, const char *without, uint64_t *ret_hash)
{
    static struct known {
        struct known *next;
        uint64_t hash;
        char path[];
    } * files;
    struct known *one = files;
    while (one && strcmp(one->path, path) != 0)
        one = one->next;
    if (!one && kg_identity_elf_code(path, without, ret_hash))
        return false;
    if (!one && (one = malloc(sizeof *one + strlen(path) + 1))) {
        *one = (struct known){ .next = files, .hash = *ret_hash };
        memcpy(one->path, path, strlen(path) + 1);
        files = one;
    }
    if (one)
        *ret_hash = one->hash;
    return true;
}

/* Of the module's file on a CPU, and of the libraries that came with it: on a GPU kernels may be theirs. The module's
 * own git SHA stands in its data, and makes no other code. */
static void add_files(const struct kg_loaded *module, enum kg_device_kind kind, char *text, size_t size)
{
    uint64_t hash = 0, all = 0;
    char path[KG_PATH_SIZE];
    int count = 0;
    const char *sha = module->root && module->root->git_sha ? module->root->git_sha : "";
    if (kind == KG_CPU && code_of(module->path, sha, &hash))
        kg_text_join(text, size, "; ", "module code %016" PRIx64, hash);
    for (const char *line = module->links; *line; line += strcspn(line, "\n") + 1) {
        snprintf(path, sizeof path, "%.*s", (int)strcspn(line, "\n"), line);
        hash = 0;
        (void)code_of(path, "", &hash);
        all = kg_mix64(all ^ hash);
        count++;
    }
    if (count)
        kg_text_join(text, size, "; ", "%d linked %s %016" PRIx64, count, count > 1 ? "libraries" : "library", all);
}

void kg_knobs_format(const kg_backend *backend, const void *knobs, char *ret_text, size_t size)
{
    kg_fields_format(backend->knobs, knobs, ret_text, size);
}

static bool knobs_changed(const struct kg_prepared *prepared)
{
    const kg_fields fields = prepared->backend->knobs;
    bool changed = false;
    void *usual = prepared->knobs ? calloc(1, prepared->backend->knobs_size) : NULL;
    if (usual) {
        kg_fields_fall_back(fields, usual);
        for (size_t i = 0; i < fields.count; i++) {
            double is = 0, was = 0;
            kg_field_get(&fields.items[i], prepared->knobs, &is);
            kg_field_get(&fields.items[i], usual, &was);
            changed |= is != was;
        }
    }
    free(usual);
    return changed;
}

/* Among the first `count` kernels. */
static bool is_launched(const struct kg_launch_info *launch, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(launch->launched[i].name, name))
            return true;
    return false;
}

/* Kernels that are launched, each once, and what else was compiled for them, which may write what they read. */
static void add_codes(const struct kg_launch_info *launch, const struct kg_module *module,
                      const struct kg_prepared *prepared, const kg_device *device, char *text, size_t size)
{
    const kg_identity *identity = &prepared->identity;
    for (int i = 0; i < launch->n_launched; i++) {
        const char *name = launch->launched[i].name;
        const kg_compiled *compiled = kg_compiled_find(identity->compiled, identity->n_compiled, name);
        const kg_kernel *kernel = compiled ? NULL : kg_identity_kernel(module, name, device);
        const char *hash = compiled ? compiled->code_hash : kernel ? kernel->code_hash : "";
        if (!is_launched(launch, i, name))
            kg_text_join(text, size, "; ", "%s%s%s", name, *hash ? ":" : "", hash);
    }
    for (int i = 0; i < identity->n_compiled; i++) {
        const kg_compiled *compiled = &identity->compiled[i];
        if (!is_launched(launch, launch->n_launched, compiled->name))
            kg_text_join(text, size, "; ", "%s:%s", compiled->name, compiled->code_hash);
    }
}

/* Call 1 goes to another set than call 0, where there are two. */
static int launch_on(void *prepared, int index, void *stream, kg_error *ret_error)
{
    struct kg_prepared *s = prepared;
    s->set = (unsigned)(index % s->n_ring);
    return kg_prepared_launch(s, index, stream, ret_error);
}

static int digest_data(const struct kg_prepared *prepared, struct kg_launch_info *launch, kg_error *ret_error)
{
    const struct kg_fixture *fixture = prepared->fixture;
    const kg_suite *suite = fixture ? fixture->of.suite : NULL;
    uint64_t given = 0;
    bool any = false;
    for (int i = 0; fixture && i < fixture->buffers.count; i++) {
        const kg_tensor *tensor = &fixture->buffers.tensors[i];
        uint64_t one = 0;
        if (!tensor->given)
            continue;
        int status =
            fixture->context->ops->digest(fixture->context, tensor->data, kg_tensor_bytes(tensor), &one, ret_error);
        if (status)
            return status;
        given = kg_mix64(given + one + (uint64_t)i);
        any = true;
    }
    launch->given = any ? kg_digest_31(given) : 0;
    if (prepared->backend->stage && suite && suite->seeds.count && fixture->of.seed == suite->seeds.items[0])
        launch->staged = kg_digest_31(prepared->staged_digest);
    return KG_OK;
}

/* The words of libraries' kernels are not ours to read, and one set does not tell an address from a number. */
static void keep_arguments(struct kg_launch_info *launch, const struct kg_prepared *prepared,
                           const struct kg_module *module, const kg_device *device)
{
    for (int i = 0; i < launch->n_launched; i++) {
        struct kg_launched *kernel = &launch->launched[i];
        const kg_identity *identity = &prepared->identity;
        const bool own = kg_compiled_find(identity->compiled, identity->n_compiled, kernel->name) ||
                         kg_identity_kernel(module, kernel->name, device);
        if (!own || prepared->n_ring < 2)
            kernel->arguments = 0;
    }
}

int kg_identity_of(kg_context *context, const struct kg_loaded *module, struct kg_prepared *prepared,
                   struct kg_launch_info *ret_launch, char *ret_text, size_t size, kg_error *ret_error)
{
    struct kg_launch_info launch = { 0 };
    int status = context->ops->inspect(context, launch_on, prepared, &launch, ret_error);
    if (!status)
        status = digest_data(prepared, &launch, ret_error);
    if (status)
        return status;
    keep_arguments(&launch, prepared, module->root, &context->device);
    snprintf(ret_text, size, "%s", prepared->identity.text);
    add_files(module, context->device.kind, ret_text, size);
    add_codes(&launch, module->root, prepared, &context->device, ret_text, size);
    if (knobs_changed(prepared)) {
        char knobs[294];
        kg_knobs_format(prepared->backend, prepared->knobs, knobs, sizeof knobs);
        kg_text_join(ret_text, size, "; ", "knobs %s", knobs);
    }
    *ret_launch = launch;
    return KG_OK;
}
