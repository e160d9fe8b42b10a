/* test_text.c -- texts grow up to their size, and a shell reads quoted words as they were. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"

static void added_joined_and_cut(void **state)
{
    char text[12] = "";
    (void)state;
    kg_text_join(text, sizeof text, ", ", "%d", 1);
    assert_string_equal(text, "1");
    kg_text_join(text, sizeof text, ", ", "%s", "two");
    assert_string_equal(text, "1, two");
    kg_text_add(text, sizeof text, "%c", '!');
    assert_string_equal(text, "1, two!");
    kg_text_join(text, sizeof text, ", ", "%s", "three");
    assert_string_equal(text, "1, two!, th");
    kg_text_join(text, sizeof text, ", ", "%s", "more");
    kg_text_add_quoted(text, sizeof text, "a word");
    assert_string_equal(text, "1, two!, th");
}

static void words_come_back_from_a_shell(void **state)
{
    static const char *const words[] = {
        "plain", "a/b@n=64,d=1:2+3%", "two words", "", "it's", "''", "$HOME `x` \\ \"q\"", "*", "a\nb", "~", "#", "café"
    };
    char command[1000] = "printf '<%s>'", read[1000] = "", wanted[1000] = "";
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        kg_text_add_quoted(command, sizeof command, words[i]);
        kg_text_add(wanted, sizeof wanted, "<%s>", words[i]);
    }
    assert_non_null(strstr(command, " plain a/b@n=64,d=1:2+3% 'two words' '' 'it'\\''s' "));
    FILE *shell = popen(command, "r");
    assert_non_null(shell);
    assert_true(fread(read, 1, sizeof read - 1, shell) > 0);
    assert_int_equal(pclose(shell), 0);
    assert_string_equal(read, wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(added_joined_and_cut),
        cmocka_unit_test(words_come_back_from_a_shell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
