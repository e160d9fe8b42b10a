/* git.h -- which commit the tree is at, by libgit2. */
#ifndef KG_GIT_H
#define KG_GIT_H

#include "kgate.h"

struct kg_git {
    char sha[48];     /* "" where there is no repository or no commit */
    char branch[128]; /* "" when detached */
    bool dirty;       /* a tracked file outside expectations/ and results/ differs from HEAD, or the index does */
    char why[256];    /* why sha is "" , in kgate's words; "" otherwise */
};

/* Looks upwards from `folder`. Never fails: what cannot be read is said in `why`, another user's repository included
 * (with the hint to pass --git-sha). `override_sha` (NULL: none) replaces what is found: 7 to 40 hex digits, checked
 * by the caller with kg_git_sha_valid; dirty is then false. */
void kg_git_read(const char *folder, const char *override_sha, struct kg_git *ret_git);
bool kg_git_sha_valid(const char *sha);

/* What libgit2's status of opening a repository means. */
const char *kg_git_why_unopened(int status);

#endif
