/* git.c -- which commit the tree is at, by libgit2, opened and shut down within one call.
 * What must not make the tree count as modified is listed in `generated`. */
#include "base/git.h"

#include <git2.h>
#include <string.h>

/* Folders at the root of the repository that a run or a bless writes. */
static const char *const generated[] = { "expectations/", "results/" };

static void put_text(char *ret_text, size_t size, const char *text)
{
    (void)snprintf(ret_text, size, "%s", text);
}

bool kg_git_sha_valid(const char *sha)
{
    size_t length = sha ? strlen(sha) : 0;
    return length >= 7 && length <= 40 && strspn(sha, "0123456789abcdefABCDEF") == length;
}

static bool is_generated(const char *path)
{
    for (size_t i = 0; i < sizeof generated / sizeof *generated; i++)
        if (!strncmp(path, generated[i], strlen(generated[i])))
            return true;
    return false;
}

static bool side_is_source(const git_diff_delta *delta)
{
    return delta && !(is_generated(delta->old_file.path) && is_generated(delta->new_file.path));
}

/* True too where the state cannot be read: a tree is clean only when that was seen. */
static bool is_dirty(git_repository *repository)
{
    git_status_options options;
    git_status_list *list = NULL;
    if (git_status_options_init(&options, GIT_STATUS_OPTIONS_VERSION) < 0)
        return true;
    options.show = GIT_STATUS_SHOW_INDEX_AND_WORKDIR;
    options.flags = 0; /* untracked and ignored files do not count */
    if (git_status_list_new(&list, repository, &options) < 0)
        return true;
    bool dirty = false;
    for (size_t i = 0; i < git_status_list_entrycount(list) && !dirty; i++) {
        const git_status_entry *entry = git_status_byindex(list, i);
        dirty = entry->status != GIT_STATUS_CURRENT &&
                (side_is_source(entry->head_to_index) || side_is_source(entry->index_to_workdir));
    }
    git_status_list_free(list);
    return dirty;
}

/* The branch that HEAD names, whether or not it has a commit; "" when detached. */
static void read_branch(git_repository *repository, struct kg_git *git)
{
    git_reference *head = NULL;
    if (git_reference_lookup(&head, repository, "HEAD") < 0)
        return;
    const char *target = git_reference_symbolic_target(head), *prefix = "refs/heads/";
    if (target && !strncmp(target, prefix, strlen(prefix)))
        put_text(git->branch, sizeof git->branch, target + strlen(prefix));
    git_reference_free(head);
}

static void read_head(git_repository *repository, struct kg_git *git)
{
    git_oid id;
    int status = git_reference_name_to_id(&id, repository, "HEAD");
    if (status == 0)
        (void)git_oid_tostr(git->sha, sizeof git->sha, &id);
    else if (status == GIT_ENOTFOUND)
        put_text(git->why, sizeof git->why, "the repository has no commit yet");
    else
        put_text(git->why, sizeof git->why, "the repository's HEAD cannot be read; pass --git-sha SHA");
}

/* libgit2 up to 1.5 says 'not found', of safe.directory in the configuration, where that is not set at all. */
static bool is_foreign(int status)
{
    const git_error *error = git_error_last();
    return status == GIT_EOWNER || (status == GIT_ENOTFOUND && error && error->klass == GIT_ERROR_CONFIG);
}

const char *kg_git_why_unopened(int status)
{
    if (is_foreign(status))
        return "the repository belongs to another user";
    return status == GIT_ENOTFOUND ? "no git repository here" : "the git repository cannot be read";
}

static void explain_open(int status, struct kg_git *git)
{
    const bool missing = status == GIT_ENOTFOUND && !is_foreign(status);
    (void)snprintf(git->why, sizeof git->why, "%s%s", kg_git_why_unopened(status),
                   missing ? "" : "; pass --git-sha SHA");
}

void kg_git_read(const char *folder, const char *override_sha, struct kg_git *ret_git)
{
    struct kg_git git = { .sha = "" };
    if (override_sha) {
        put_text(git.sha, sizeof git.sha, override_sha);
    } else if (git_libgit2_init() < 0) {
        put_text(git.why, sizeof git.why, "libgit2 does not start; pass --git-sha SHA");
    } else {
        git_repository *repository = NULL;
        int status = git_repository_open_ext(&repository, folder, 0, NULL);
        if (status < 0) {
            explain_open(status, &git);
        } else {
            read_branch(repository, &git);
            read_head(repository, &git);
            git.dirty = is_dirty(repository);
        }
        git_repository_free(repository);
        (void)git_libgit2_shutdown();
    }
    *ret_git = git;
}
