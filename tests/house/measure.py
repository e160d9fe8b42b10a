#!/usr/bin/env python3
"""measure.py -- how large a tree of kgate is, one "name<tab>value" a line. house.py holds some of it to limits.

    measure.py [TREE] [--pairs] [--functions]      TREE: the checkout that holds this file, unless another is named

Source files are *.c *.h *.cu *.cuh; shipped are those outside tests/. Git says which files belong to a checkout;
a copy without .git is walked, build folders apart.

A function reaches from the first line of its head to the "}" in column 0, both included. Macros and functions on one line
are not among them.

Two places share lines where at least SHARED lines in a row read the same in both. Comments, blank lines, #include,
#pragma once and lines of punctuation alone are passed over, white space is folded, and lines that repeat the one before
count as one. A run of shared lines is taken as long as it gets and is one pair of places; three copies are three pairs.
Places in one file do not overlap, and a run that overlaps a longer one in both places is left out. Pairs "by shape" are
those that appear when names, numbers and strings are no longer told apart. A pair is shipped when both places are, and
one of tests otherwise. --pairs lists the pairs by text, --functions all lengths.

Words are those of `wc -w`, of all Markdown but CHANGELOG.md."""
import argparse
import collections
import itertools
import pathlib
import re
import subprocess

CHECKOUT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ".c", ".h", ".cu", ".cuh"
HEADERS = ".h", ".cuh"
SMALL_HEADER = 25
LONG_FUNCTION = 45
SHARED = 6
LITERAL_OR_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
PASSED_OVER = re.compile(r"#\s*include\b|#\s*pragma\s+once|\W*$")
KEYWORDS = set("""auto bool break case char const constexpr continue default do double else enum extern float for goto if
    inline int long register return short signed sizeof static struct switch typedef union unsigned void volatile while
    include define undef ifdef ifndef endif elif error pragma""".split())


class Tree:
    """The files of a checkout or of a copy of one, by their paths from its root."""

    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        self.files = sorted(self._listed() if (self.root / ".git").exists() else self._walked())
        self.sources = [name for name in self.files if name.endswith(SOURCES)]
        self.shipped = [name for name in self.sources if not is_test(name)]

    def _listed(self):
        out = subprocess.run(["git", "-C", self.root, "ls-files", "-z"], check=True, stdout=subprocess.PIPE).stdout
        return [name for name in out.decode().split("\0") if name and (self.root / name).is_file()]

    def _walked(self):
        folders = [self.root]
        while folders:
            entries = list(folders.pop().iterdir())
            if any(entry.name == "meson-private" for entry in entries):
                continue
            folders += [entry for entry in entries if entry.is_dir() and not entry.name.startswith(".")]
            yield from (entry.relative_to(self.root).as_posix() for entry in entries if entry.is_file())

    def text(self, name):
        return (self.root / name).read_text(encoding="utf-8")

    def code(self, name):
        """The file without its comments, line by line; what is left stands on its line."""
        return LITERAL_OR_COMMENT.sub(blank_comment, self.text(name)).split("\n")

    def line_count(self, names):
        return sum(self.text(name).count("\n") for name in names)

    def word_count(self):
        return sum(len(self.text(name).split()) for name in self.files
                   if name.endswith(".md") and name != "CHANGELOG.md")


def is_test(name):
    return name.startswith("tests/")


def blank_comment(match):
    return " " + "\n" * match[0].count("\n") if match[0].startswith("/") else match[0]


Function = collections.namedtuple("Function", "lines file line name")


def functions(tree, name):
    """Every function that the file defines. The style puts the braces around a body, and no others, in column 0."""
    code = tree.code(name)
    opened = None
    for i, line in enumerate(code):
        if line.rstrip() == "{" and opened is None:
            opened = i
        elif line.startswith("}") and opened is not None:
            head = opened
            while head > 0 and not ends_declaration(code[head - 1]):
                head -= 1
            signature = " ".join(code[head:opened])
            yield Function(i + 1 - head, name, head + 1, function_name(signature))
            opened = None


def function_name(signature):
    called = re.findall(r"(\w+)\s*(?:<[^()<>]*>\s*)?\(", signature)
    plain = [word for word in called if not word.startswith("__") and not word.isupper()]
    return (plain or called or [signature.strip()])[0]


def ends_declaration(line):
    return not line.strip() or line.startswith("#") or line.rstrip().endswith((";", "}", "{", "\\"))


def shape(line):
    """The line with its names, numbers and strings made alike."""
    line = LITERAL_OR_COMMENT.sub("S", line)
    return re.sub(r"\.?\b\d[\w.]*|\b[A-Za-z_]\w*",
                  lambda word: word[0] if word[0] in KEYWORDS else "0" if word[0].lstrip(".")[0].isdigit() else "N", line)


Run = collections.namedtuple("Run", "lines first second")


def shared_runs(tree, fold):
    """Pairs of places, each (file, index of a line among those compared, line number), that share lines."""
    texts, places = [], []
    for name in tree.sources:
        start = len(texts)
        for number, line in enumerate(tree.code(name), 1):
            line = fold(" ".join(line.split()))
            if not PASSED_OVER.match(line) and (len(texts) == start or texts[-1] != line):
                texts.append(line)
                places.append((name, number))
        texts.append(object())  # No run reaches over the end of a file.
        places.append((name, 0))
    starts = collections.defaultdict(list)
    for i in range(len(texts) - SHARED + 1):
        starts[tuple(texts[i:i + SHARED])].append(i)
    runs = collections.defaultdict(list)
    for same in starts.values():
        for i, j in itertools.combinations(same, 2):
            if i > 0 and texts[i - 1] == texts[j - 1]:
                continue
            lines = SHARED
            while j + lines < len(texts) and texts[i + lines] == texts[j + lines]:
                lines += 1
            in_one_file = places[i][0] == places[j][0]
            if in_one_file:
                lines = min(lines, j - i)
            if lines >= SHARED:
                runs[places[i][0], places[j][0]].append((lines, i, j))
    for found in runs.values():
        for lines, i, j in without_overlaps(found):
            yield Run(lines, places[i], places[j])


def without_overlaps(runs):
    taken = []
    for lines, i, j in sorted(runs, key=lambda run: (-run[0], run[1:])):
        if not any(overlap(i, lines, at, length) and overlap(j, lines, with_at, length) for length, at, with_at in taken):
            taken.append((lines, i, j))
    return taken


def overlap(start, length, other_start, other_length):
    return start < other_start + other_length and other_start < start + length


def say(name, value):
    print(f"{name}\t{value:,}" if isinstance(value, int) else f"{name}\t{value}")


def measure(tree):
    say("source files", len(tree.sources))
    say("source files, shipped", len(tree.shipped))
    rooms = collections.Counter(str(pathlib.PurePath(name).parent) for name in tree.files if name.startswith("runner/"))
    for folder, count in sorted(rooms.items()):
        say(f"files in {folder}/", count)
    say("lines", tree.line_count(tree.sources))
    say("lines, shipped", tree.line_count(tree.shipped))
    small = [name for name in tree.sources if name.endswith(HEADERS) and tree.line_count([name]) < SMALL_HEADER]
    say(f"headers under {SMALL_HEADER} lines, shipped", sum(not is_test(name) for name in small))
    say(f"headers under {SMALL_HEADER} lines, tests", sum(map(is_test, small)))
    lengths = sorted((function for name in tree.sources for function in functions(tree, name)), reverse=True)
    for kind, chosen in ("shipped", False), ("tests", True):
        ours = [function for function in lengths if is_test(function.file) == chosen]
        say(f"functions, {kind}", len(ours))
        say(f"functions over {LONG_FUNCTION} lines, {kind}", sum(one.lines > LONG_FUNCTION for one in ours))
    for one in lengths[:10]:
        say("longest function", f"{one.lines} {one.file}:{one.line} {one.name}")
    for how, fold in ("", str), (" by shape", shape):
        runs = list(shared_runs(tree, fold))
        of_tests = sum(is_test(run.first[0]) or is_test(run.second[0]) for run in runs)
        say(f"pairs that share {SHARED} lines{how}, shipped", len(runs) - of_tests)
        say(f"pairs that share {SHARED} lines{how}, tests", of_tests)
    say("words of Markdown", tree.word_count())


def main():
    parser = argparse.ArgumentParser(description="measures a tree of kgate", epilog="its head says what is counted")
    parser.add_argument("tree", nargs="?", default=CHECKOUT)
    parser.add_argument("--pairs", action="store_true", help="list the pairs of places that share lines")
    parser.add_argument("--functions", action="store_true", help="list the functions with their lengths")
    options = parser.parse_args()
    tree = Tree(options.tree)
    if options.pairs:
        for run in sorted(shared_runs(tree, str), reverse=True):
            print(f"{run.lines}\t{run.first[0]}:{run.first[1]}\t{run.second[0]}:{run.second[1]}")
    elif options.functions:
        for name in tree.sources:
            for one in functions(tree, name):
                print(f"{one.lines}\t{one.file}:{one.line}\t{one.name}")
    else:
        measure(tree)


if __name__ == "__main__":
    main()
