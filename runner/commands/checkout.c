/* checkout.c -- `kgate checkout REF FOLDER`: the tree of a commit, to build a baseline from. The repository's index,
 * HEAD and work tree stay as they are. */
#include <dirent.h>
#include <errno.h>
#include <git2.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/git.h"
#include "commands/commands.h"

static int make_folder(const char *path, kg_error *ret_error)
{
    if (mkdir(path, 0777) == 0)
        return KG_OK;
    if (errno != EEXIST)
        return kg_fail(ret_error, KG_EIO, "cannot make %.300s: %s", path, strerror(errno));
    DIR *folder = opendir(path);
    if (!folder)
        return kg_fail(ret_error, KG_EIO, "cannot read %.300s: %s", path, strerror(errno));
    bool empty = true;
    for (const struct dirent *entry = readdir(folder); entry && empty; entry = readdir(folder))
        empty = !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
    closedir(folder);
    return empty ? KG_OK : kg_fail(ret_error, KG_EINVAL, "%.300s is not empty", path);
}

static int find_commit(git_repository *repository, const char *ref, git_object **ret_commit, kg_error *ret_error)
{
    git_object *named = NULL;
    int status = git_revparse_single(&named, repository, ref);
    if (status == GIT_EAMBIGUOUS)
        return kg_fail(ret_error, KG_EINVAL, "%.200s is the beginning of several commits", ref);
    if (status < 0)
        return kg_fail(ret_error, KG_EINVAL, "no commit %.200s in this repository (git fetch brings what is missing)",
                       ref);
    status = git_object_peel(ret_commit, named, GIT_OBJECT_COMMIT);
    git_object_free(named);
    return status < 0 ? kg_fail(ret_error, KG_EINVAL, "%.200s is no commit", ref) : KG_OK;
}

static int write_tree(git_repository *repository, const git_object *commit, const char *folder, kg_error *ret_error)
{
    git_checkout_options options;
    char path[PATH_MAX]; /* libgit2 takes a relative one from the root of the work tree */
    if (!realpath(folder, path))
        return kg_fail(ret_error, KG_EIO, "cannot find %.300s: %s", folder, strerror(errno));
    (void)git_checkout_options_init(&options, GIT_CHECKOUT_OPTIONS_VERSION);
    options.checkout_strategy = GIT_CHECKOUT_FORCE | GIT_CHECKOUT_DONT_UPDATE_INDEX | GIT_CHECKOUT_NO_REFRESH;
    options.target_directory = path;
    if (git_checkout_tree(repository, commit, &options) == 0)
        return KG_OK;
    const git_error *cause = git_error_last();
    return kg_fail(ret_error, KG_EIO, "cannot write the tree into %.200s: %.200s", folder,
                   cause ? cause->message : "libgit2 does not say why");
}

/* Nothing is made before the commit is found. */
static int check_out(git_repository *repository, const char *ref, const char *folder, kg_error *ret_error)
{
    git_object *commit = NULL;
    char sha[GIT_OID_HEXSZ + 1];
    int status = find_commit(repository, ref, &commit, ret_error);
    if (!status)
        status = make_folder(folder, ret_error);
    if (!status)
        status = write_tree(repository, commit, folder, ret_error);
    if (!status)
        puts(git_oid_tostr(sha, sizeof sha, git_object_id(commit)));
    git_object_free(commit);
    return status;
}

int kg_command_checkout(const struct kg_options *options, kg_error *ret_error)
{
    git_repository *repository = NULL;
    if (git_libgit2_init() < 0) {
        (void)kg_fail(ret_error, KG_EIO, "libgit2 does not start");
        return 2;
    }
    int status = git_repository_open_ext(&repository, ".", 0, NULL);
    if (status < 0)
        status = kg_fail(ret_error, KG_EINVAL, "%s", kg_git_why_unopened(status));
    else
        status = check_out(repository, options->arguments[0], options->arguments[1], ret_error);
    git_repository_free(repository);
    (void)git_libgit2_shutdown();
    return status ? 2 : 0;
}
