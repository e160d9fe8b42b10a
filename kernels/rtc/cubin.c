/* cubin.c -- reads the sections of a cubin, an ELF file of 64 bits. */
#include "rtc/cubin.h"

#include <elf.h>
#include <string.h>

uint64_t cubin_hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    for (int i = 0; i < 64; i += 8)
        hash = (hash ^ ((uint64_t)size >> i & 0xff)) * UINT64_C(0x100000001b3);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Does [offset, offset + size) lie in `whole` bytes? */
static bool is_within(uint64_t offset, uint64_t size, uint64_t whole)
{
    return offset <= whole && size <= whole - offset;
}

static bool is_text_of(const char *section, const char *kernel)
{
    static const char text[] = ".text.";
    return !strncmp(section, text, sizeof text - 1) && !strcmp(section + sizeof text - 1, kernel);
}

bool cubin_hash(const void *cubin, size_t size, const char *kernel, uint64_t *ret_hash)
{
    const char *bytes = cubin;
    uint64_t hash = CUBIN_HASH_START;
    bool found = false;
    Elf64_Ehdr head;
    Elf64_Shdr names, one;
    if (size < sizeof head)
        return false;
    memcpy(&head, bytes, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_shentsize != sizeof one || head.e_shstrndx >= head.e_shnum ||
        !is_within(head.e_shoff, (uint64_t)head.e_shnum * sizeof one, size))
        return false;
    memcpy(&names, bytes + head.e_shoff + head.e_shstrndx * sizeof names, sizeof names);
    if (!names.sh_size || !is_within(names.sh_offset, names.sh_size, size) ||
        bytes[names.sh_offset + names.sh_size - 1])
        return false;
    for (unsigned i = 0; i < head.e_shnum; i++) {
        memcpy(&one, bytes + head.e_shoff + i * sizeof one, sizeof one);
        if (one.sh_type != SHT_PROGBITS || !(one.sh_flags & SHF_ALLOC))
            continue;
        if (one.sh_name >= names.sh_size || !is_within(one.sh_offset, one.sh_size, size))
            return false;
        found = found || is_text_of(bytes + names.sh_offset + one.sh_name, kernel);
        hash = cubin_hash_bytes(hash, bytes + one.sh_offset, one.sh_size);
    }
    if (found)
        *ret_hash = hash;
    return found;
}
