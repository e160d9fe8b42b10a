/* folder.c -- see folder.h. */
#include "base/folder.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

bool kg_folder_exists(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Another process may make it meanwhile; a file of its name is none. */
static bool make_one(const char *path)
{
    if (kg_folder_exists(path) || mkdir(path, 0777) == 0)
        return true;
    if (errno != EEXIST)
        return false;
    bool made = kg_folder_exists(path);
    errno = ENOTDIR;
    return made;
}

int kg_folder_make(const char *path, kg_error *ret_error)
{
    char part[PATH_MAX];
    size_t end = 0;
    if (snprintf(part, sizeof part, "%s", path) >= (int)sizeof part)
        return kg_fail(ret_error, KG_EINVAL, "%.200s…: path too long", path);
    do {
        part[end] = path[end];
        end += strspn(path + end, "/");
        end += strcspn(path + end, "/");
        part[end] = '\0';
        if (!make_one(part))
            return kg_fail(ret_error, KG_EIO, "cannot make folder %s: %s", part, strerror(errno));
    } while (path[end]);
    return KG_OK;
}
