/* module_file.c -- what the loader trusts a file with, looked at before. */
#include "plan/module_file.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* All of its segments lie within `size`; what cannot be read does not. */
static bool is_whole(int file, uint64_t size)
{
    ElfW(Ehdr) header;
    if (pread(file, &header, sizeof header, 0) != (ssize_t)sizeof header ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(ElfW(Phdr)))
        return true; /* the loader refuses it */
    for (unsigned i = 0; i < header.e_phnum; i++) {
        ElfW(Phdr) segment;
        const off_t at = (off_t)(header.e_phoff + i * sizeof segment);
        if (pread(file, &segment, sizeof segment, at) != (ssize_t)sizeof segment || segment.p_offset > size ||
            (segment.p_type == PT_LOAD && segment.p_filesz > size - segment.p_offset))
            return false;
    }
    return true;
}

int kg_module_file_check(const char *path, const char *name, kg_error *ret_error)
{
    struct stat about;
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO would wait for a writer */
    int status = KG_OK;
    if (file < 0)
        return kg_fail(ret_error, KG_EINVAL, "not a module: cannot open %s: %s", name, strerror(errno));
    if (fstat(file, &about) || !S_ISREG(about.st_mode))
        status = kg_fail(ret_error, KG_EINVAL, "not a module: %s is not a regular file", name);
    else if (!is_whole(file, (uint64_t)about.st_size))
        status = kg_fail(ret_error, KG_EINVAL, "not a module: %s is cut", name);
    close(file);
    return status;
}

void kg_module_file_stamp(const char *path, char ret_stamp[KG_STAMP_SIZE])
{
    struct stat is;
    ret_stamp[0] = '\0';
    if (!stat(path, &is))
        (void)snprintf(ret_stamp, KG_STAMP_SIZE, "%ju.%ju.%jd.%jd.%09ld.%jd.%09ld", (uintmax_t)is.st_dev,
                       (uintmax_t)is.st_ino, (intmax_t)is.st_size, (intmax_t)is.st_mtim.tv_sec, is.st_mtim.tv_nsec,
                       (intmax_t)is.st_ctim.tv_sec, is.st_ctim.tv_nsec);
}
