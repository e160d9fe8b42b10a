/* test_git.c -- what is said of repositories made here with libgit2: clean, modified, without a commit,
 * detached, another user's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <git2.h>
#include <sys/stat.h>

#include "base/git.h"
#include "scratch.h"

struct world {
    char folder[SCRATCH_SIZE];
    git_repository *repository;
};

static void path_of(const struct world *world, const char *name, char ret_path[2 * SCRATCH_SIZE])
{
    (void)snprintf(ret_path, 2 * SCRATCH_SIZE, "%s/%s", world->folder, name);
}

static void make_folder(const struct world *world, const char *name)
{
    char path[2 * SCRATCH_SIZE];
    path_of(world, name, path);
    assert_int_equal(mkdir(path, 0777), 0);
}

static void stage(const struct world *world, const char *name)
{
    git_index *index = NULL;
    assert_int_equal(git_repository_index(&index, world->repository), 0);
    assert_int_equal(git_index_add_bypath(index, name), 0);
    assert_int_equal(git_index_write(index), 0);
    git_index_free(index);
}

/* Commits the index as the first commit of the branch. */
static void commit(const struct world *world, char ret_sha[48])
{
    git_index *index = NULL;
    git_tree *tree = NULL;
    git_signature *author = NULL;
    git_oid id;
    assert_int_equal(git_repository_index(&index, world->repository), 0);
    assert_int_equal(git_index_write_tree(&id, index), 0);
    assert_int_equal(git_tree_lookup(&tree, world->repository, &id), 0);
    assert_int_equal(git_signature_new(&author, "A", "a@example.org", 1700000000, 0), 0);
    assert_int_equal(git_commit_create(&id, world->repository, "HEAD", author, author, NULL, "first", tree, 0, NULL),
                     0);
    (void)git_oid_tostr(ret_sha, 48, &id);
    git_signature_free(author);
    git_tree_free(tree);
    git_index_free(index);
}

static int world_new(void **state)
{
    struct world *world = calloc(1, sizeof *world);
    git_repository_init_options options;
    scratch_new(world->folder);
    (void)git_repository_init_options_init(&options, GIT_REPOSITORY_INIT_OPTIONS_VERSION);
    options.flags = GIT_REPOSITORY_INIT_MKDIR;
    options.initial_head = "trunk";
    assert_int_equal(git_repository_init_ext(&world->repository, world->folder, &options), 0);
    make_folder(world, "src");
    make_folder(world, "expectations");
    make_folder(world, "results");
    scratch_write(world->folder, "src/a.c", "int a;\n");
    scratch_write(world->folder, "expectations/e.json", "{}\n");
    scratch_write(world->folder, "results/r.json", "{}\n");
    *state = world;
    return 0;
}

/* The three files committed. */
static int committed_new(void **state)
{
    char sha[48];
    int status = world_new(state);
    struct world *world = *state;
    stage(world, "src/a.c");
    stage(world, "expectations/e.json");
    stage(world, "results/r.json");
    commit(world, sha);
    return status;
}

static int world_free(void **state)
{
    struct world *world = *state;
    git_repository_free(world->repository);
    scratch_free(world->folder);
    free(world);
    return 0;
}

static struct kg_git read_git(const struct world *world)
{
    struct kg_git git;
    memset(&git, 'x', sizeof git);
    kg_git_read(world->folder, NULL, &git);
    return git;
}

static void without_a_commit(void **state)
{
    struct world *world = *state;
    struct kg_git git = read_git(world);
    assert_string_equal(git.sha, "");
    assert_string_equal(git.branch, "trunk");
    assert_string_equal(git.why, "the repository has no commit yet");
    assert_false(git.dirty); /* untracked files only */
    stage(world, "src/a.c");
    git = read_git(world);
    assert_string_equal(git.sha, "");
    assert_true(git.dirty);
}

static void clean_tree(void **state)
{
    struct world *world = *state;
    char path[2 * SCRATCH_SIZE];
    git_oid id;
    char sha[48];
    assert_int_equal(git_reference_name_to_id(&id, world->repository, "HEAD"), 0);
    (void)git_oid_tostr(sha, sizeof sha, &id);
    scratch_write(world->folder, "src/untracked.c", "int b;\n");
    struct kg_git git = read_git(world);
    assert_int_equal(strlen(git.sha), 40);
    assert_string_equal(git.sha, sha);
    assert_string_equal(git.branch, "trunk");
    assert_string_equal(git.why, "");
    assert_false(git.dirty);

    path_of(world, "src", path); /* looks upwards */
    kg_git_read(path, NULL, &git);
    assert_string_equal(git.sha, sha);
    assert_false(git.dirty);
}

static void modified_source_is_dirty(void **state)
{
    struct world *world = *state;
    scratch_write(world->folder, "src/a.c", "int changed;\n");
    assert_true(read_git(world).dirty);
    stage(world, "src/a.c");
    assert_true(read_git(world).dirty);
    scratch_write(world->folder, "src/a.c", "int a;\n"); /* as in HEAD, but the index is not */
    assert_true(read_git(world).dirty);
    stage(world, "src/a.c");
    assert_false(read_git(world).dirty);
}

static void deleted_and_added_source_is_dirty(void **state)
{
    struct world *world = *state;
    char path[2 * SCRATCH_SIZE];
    path_of(world, "src/a.c", path);
    assert_int_equal(unlink(path), 0);
    assert_true(read_git(world).dirty);
    scratch_write(world->folder, "src/a.c", "int a;\n");
    assert_false(read_git(world).dirty);
    scratch_write(world->folder, "src/b.c", "int b;\n");
    stage(world, "src/b.c");
    assert_true(read_git(world).dirty);
}

static void goldens_and_results_do_not_count(void **state)
{
    struct world *world = *state;
    scratch_write(world->folder, "expectations/e.json", "{ }\n");
    scratch_write(world->folder, "results/r.json", "{ }\n");
    assert_false(read_git(world).dirty);
    stage(world, "expectations/e.json");
    assert_false(read_git(world).dirty);
    make_folder(world, "src/expectations"); /* at the root only */
    scratch_write(world->folder, "src/expectations/c.c", "int c;\n");
    stage(world, "src/expectations/c.c");
    assert_true(read_git(world).dirty);
}

static void detached_head_has_no_branch(void **state)
{
    struct world *world = *state;
    assert_int_equal(git_repository_detach_head(world->repository), 0);
    struct kg_git git = read_git(world);
    assert_int_equal(strlen(git.sha), 40);
    assert_string_equal(git.branch, "");
    assert_string_equal(git.why, "");
}

static void broken_repository_is_said(void **state)
{
    struct world *world = *state;
    scratch_write(world->folder, ".git/HEAD", "no reference\n");
    struct kg_git git = read_git(world);
    assert_string_equal(git.sha, "");
    assert_true(git.why[0]);
}

static void no_repository(void **state)
{
    (void)state;
    char folder[SCRATCH_SIZE];
    struct kg_git git;
    scratch_new(folder);
    kg_git_read(folder, NULL, &git);
    assert_string_equal(git.sha, "");
    assert_string_equal(git.branch, "");
    assert_string_equal(git.why, "no git repository here");
    assert_false(git.dirty);
    scratch_free(folder);
}

static void given_sha_replaces_what_is_found(void **state)
{
    struct world *world = *state;
    struct kg_git git;
    scratch_write(world->folder, "src/a.c", "int changed;\n");
    kg_git_read(world->folder, "abcdef1", &git);
    assert_string_equal(git.sha, "abcdef1");
    assert_string_equal(git.why, "");
    assert_false(git.dirty);
}

/* Only root can give a repository away. Libraries differ in what they say where safe.directory is not set, and where
 * it is set to another folder. */
static void foreign_repository_asks_for_a_sha(void **state)
{
    struct world *world = *state;
    char path[2 * SCRATCH_SIZE];
    path_of(world, ".git", path);
    if (chown(path, 12345, 12345) < 0 || chown(world->folder, 12345, 12345) < 0) {
        print_message("not run: only root can change the owner\n");
        return;
    }
    for (int i = 0; i < 2; i++) {
        struct kg_git git = read_git(world);
        assert_string_equal(git.sha, "");
        assert_string_equal(git.why, "the repository belongs to another user; pass --git-sha SHA");
        kg_git_read(world->folder, "abcdef1234", &git);
        assert_string_equal(git.sha, "abcdef1234");
        scratch_write(world->folder, ".gitconfig", "[safe]\n\tdirectory = /another/folder\n");
        (void)git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, GIT_CONFIG_LEVEL_GLOBAL, world->folder);
    }
    (void)git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, GIT_CONFIG_LEVEL_GLOBAL, "");
}

static void valid_shas(void **state)
{
    (void)state;
    assert_true(kg_git_sha_valid("0123456"));
    assert_true(kg_git_sha_valid("0123456789abcdefABCDEF0123456789abcdef01"));
    assert_false(kg_git_sha_valid("0123456789abcdefABCDEF0123456789abcdef012"));
    assert_false(kg_git_sha_valid("012345"));
    assert_false(kg_git_sha_valid("012345g"));
    assert_false(kg_git_sha_valid("0123456 "));
    assert_false(kg_git_sha_valid(""));
    assert_false(kg_git_sha_valid(NULL));
}

#define in_world(test) cmocka_unit_test_setup_teardown(test, world_new, world_free)
#define committed(test) cmocka_unit_test_setup_teardown(test, committed_new, world_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        in_world(without_a_commit),
        committed(clean_tree),
        committed(modified_source_is_dirty),
        committed(deleted_and_added_source_is_dirty),
        committed(goldens_and_results_do_not_count),
        committed(detached_head_has_no_branch),
        committed(broken_repository_is_said),
        cmocka_unit_test(no_repository),
        committed(given_sha_replaces_what_is_found),
        committed(foreign_repository_asks_for_a_sha),
        cmocka_unit_test(valid_shas),
    };
    /* The machine's own git configuration (safe.directory, say) must not decide. */
    static const git_config_level_t levels[] = { GIT_CONFIG_LEVEL_SYSTEM, GIT_CONFIG_LEVEL_XDG,
                                                 GIT_CONFIG_LEVEL_GLOBAL };
    if (git_libgit2_init() < 0)
        return 1;
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        (void)git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "");
    int status = cmocka_run_group_tests(tests, NULL, NULL);
    (void)git_libgit2_shutdown();
    return status;
}
