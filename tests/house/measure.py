#!/usr/bin/env python3
"""measure.py -- how large a tree of kgate is, one "name<tab>value" a line. house.py holds some of it to limits.

    measure.py [TREE] [--pairs]      TREE: the checkout that holds this file, unless another is named

Source files are *.c *.h *.cu *.cuh; shipped are those outside tests/. Git says which files belong to a checkout;
a copy without .git is walked, build folders apart.

A function reaches from the first line of its head to the "}" in column 0, both included. Macros and functions on one
line are not among them.

Two places share lines where at least SHARED lines in a row read the same in both. Comments, blank lines, #include,
#pragma once and lines of punctuation alone are passed over, white space is folded, and lines that repeat the one before
count as one. A run of shared lines is taken as long as it gets and is one pair of places; three copies are three pairs.
Places in one file do not overlap, and a run that overlaps a longer one in both places is left out. For pairs "by shape"
all names are one name, all numbers one number, all strings one string. A pair is shipped when both places are, and one
of tests otherwise. --pairs lists the pairs whose text is the same.

Words are those of `wc -w`, of all Markdown but CHANGELOG.md."""
import argparse
import collections
import itertools
import pathlib
import re
import subprocess

SOURCES, HEADERS = (".c", ".h", ".cu", ".cuh"), (".h", ".cuh")
SMALL_HEADER = 25
LONG_FUNCTION = 45
SHARED = 6
LITERAL_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
PASSED_OVER = re.compile(r"#\s*include\b|#\s*pragma\s+once|\W*$")
WORD_OR_NUMBER = re.compile(r"\.?\b\d[\w.]*|\b[A-Za-z_]\w*")
KEYWORDS = set("""auto bool break case char const continue default define do double elif else endif enum extern float
    for goto if ifdef ifndef inline int long return short signed sizeof static struct switch typedef undef union
    unsigned void volatile while""".split())
Function = collections.namedtuple("Function", "lines file line name")


class Tree:
    """The files of a checkout or of a copy of one, by their paths from its root."""

    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        files = sorted(self._listed() or self._walked())
        self.sources = [name for name in files if name.endswith(SOURCES)]
        self.shipped = [name for name in self.sources if not is_test(name)]
        self.markdown = [name for name in files if name.endswith(".md") and name != "CHANGELOG.md"]
        self.runner = [name for name in files if name.startswith("runner/")]

    def _listed(self):
        if not (self.root / ".git").exists():  # A copy may lie in the build folder of a checkout.
            return []
        out = subprocess.run(["git", "-C", self.root, "ls-files", "-z"], stdout=subprocess.PIPE).stdout
        return [name for name in out.decode().split("\0") if name and (self.root / name).is_file()]

    def _walked(self):
        folders = [self.root]
        while folders:
            entries = list(folders.pop().iterdir())
            if not any(entry.name == "meson-private" for entry in entries):
                folders += [entry for entry in entries if entry.is_dir() and not entry.name.startswith(".")]
                yield from (entry.relative_to(self.root).as_posix() for entry in entries if entry.is_file())

    def text(self, name):
        return (self.root / name).read_text(encoding="utf-8")

    def code(self, name):
        """The file's lines without comments; what is left stands on its line."""
        return LITERAL_OR_COMMENT.sub(
            lambda one: " " + "\n" * one[0].count("\n") if one[0][0] == "/" else one[0], self.text(name)).split("\n")

    def line_count(self, names):
        return sum(self.text(name).count("\n") for name in names)

    def word_count(self):
        return sum(len(self.text(name).split()) for name in self.markdown)


def is_test(name):
    return name.startswith("tests/")


def functions(tree, name):
    """The functions that a file defines. By the style, braces alone in column 0 are those around a function's body."""
    code, opened = tree.code(name), None
    for i, line in enumerate(code):
        if line.rstrip() == "{" and opened is None:
            opened = i
        elif line.startswith("}") and opened is not None:
            head = opened
            while head > 0 and not ends_declaration(code[head - 1].rstrip()):
                head -= 1
            yield Function(i + 1 - head, name, head + 1, function_name(" ".join(code[head:opened])))
            opened = None


def ends_declaration(line):
    return not line or line.startswith("#") or line.endswith((";", "}", "{", "\\"))


def function_name(signature):
    called = re.findall(r"(\w+)\s*(?:<[^()<>]*>\s*)?\(", signature)
    plain = [word for word in called if not word.startswith("__") and not word.isupper()]  # attributes are neither
    return (plain or called or [signature])[0]


def shape(line):
    def fold(one):
        return one[0] if one[0] in KEYWORDS else "0" if one[0].strip(".")[0].isdigit() else "N"
    return WORD_OR_NUMBER.sub(fold, LITERAL_OR_COMMENT.sub('"0"', line))


def shared_runs(tree, fold):
    """(lines, (file, line), (file, line)) of each pair of places that share lines, as fold reads them."""
    texts, places = [], []
    for name in tree.sources:
        texts.append(object())  # No run reaches from one file into the next.
        places.append((name, 0))
        for number, line in enumerate(tree.code(name), 1):
            line = fold(" ".join(line.split()))
            if not PASSED_OVER.match(line) and texts[-1] != line:
                texts.append(line)
                places.append((name, number))
    starts = collections.defaultdict(list)
    for i in range(len(texts) - SHARED + 1):
        starts[tuple(texts[i:i + SHARED])].append(i)
    runs = collections.defaultdict(list)
    for same in starts.values():
        for i, j in itertools.combinations(same, 2):
            if texts[i - 1] != texts[j - 1]:
                within = j - i if places[i][0] == places[j][0] else len(texts)
                lines = SHARED
                while j + lines < len(texts) and texts[i + lines] == texts[j + lines]:
                    lines += 1
                runs[places[i][0], places[j][0]].append((min(lines, within), i, j))
    for found in runs.values():
        taken = []
        for lines, i, j in sorted(found, key=lambda run: (-run[0], run[1:])):
            beside = all(i >= a + n or a >= i + lines or j >= b + n or b >= j + lines for n, a, b in taken)
            if lines >= SHARED and beside:
                taken.append((lines, i, j))
                yield lines, places[i], places[j]


def say(name, value):
    print(name, f"{value:,}" if isinstance(value, int) else value, sep="\t")


def measure(tree):
    say("source files", len(tree.sources))
    say("source files, shipped", len(tree.shipped))
    say("lines", tree.line_count(tree.sources))
    say("lines, shipped", tree.line_count(tree.shipped))
    for folder, count in sorted(collections.Counter(name.rpartition("/")[0] for name in tree.runner).items()):
        say(f"files in {folder}/", count)
    small = [name for name in tree.sources if name.endswith(HEADERS) and tree.line_count([name]) < SMALL_HEADER]
    lengths = sorted((one for name in tree.sources for one in functions(tree, name)), reverse=True)
    texts, shapes = list(shared_runs(tree, str)), list(shared_runs(tree, shape))
    for kind, wanted in ("shipped", False), ("tests", True):
        ours = [one.lines for one in lengths if is_test(one.file) == wanted]
        say(f"headers under {SMALL_HEADER} lines, {kind}", sum(is_test(name) == wanted for name in small))
        say(f"functions, {kind}", len(ours))
        say(f"functions over {LONG_FUNCTION} lines, {kind}", sum(lines > LONG_FUNCTION for lines in ours))
        for how, runs in ("", texts), (" by shape", shapes):
            say(f"pairs that share {SHARED} lines{how}, {kind}",
                sum((is_test(first[0]) or is_test(second[0])) == wanted for _, first, second in runs))
    for one in lengths[:10]:
        say("longest function", f"{one.lines} {one.file}:{one.line} {one.name}")
    say("words of Markdown", tree.word_count())


def main():
    parser = argparse.ArgumentParser(description="Measures a tree of kgate; this file's head says what is counted.")
    parser.add_argument("tree", nargs="?", default=pathlib.Path(__file__).resolve().parents[2])
    parser.add_argument("--pairs", action="store_true", help="list the pairs of places whose text is the same")
    options = parser.parse_args()
    tree = Tree(options.tree)
    if not options.pairs:
        return measure(tree)
    for lines, first, second in sorted(shared_runs(tree, str), reverse=True):
        print(lines, "{}:{}".format(*first), "{}:{}".format(*second), sep="\t")


if __name__ == "__main__":
    main()
