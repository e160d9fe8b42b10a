#!/usr/bin/env python3
"""house.py -- the rooms of kgate keep their order, and the tree its limits. What breaks one is named, a line each.

    house.py TREE               complains of TREE, a checkout or a copy of one
    house.py TREE --planted     plants one fault after another in a copy of TREE and looks for the complaint

A room is a folder. A new one gets a place in ROOMS, a new family of kernels a line in FAMILIES."""
import pathlib
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import measure  # noqa: E402 -- after the line above, so that the source folder stays clean

# From the ground up: a room includes itself and what stands before it.
ROOMS = [
    "runner/base",
    "runner/plan",
    "runner/device",
    "runner/judge",
    "runner/measure",
    "runner/worker",
    "runner/resources",
    "reports",
    "runner/options",
    "runner/run",
    "selfcheck",
    "runner/commands",
]
# What modules are made of, in order too: each sees itself and those named beside it, of the runner nothing but
# include/kgate.h.
FAMILIES = {
    "kernels/op": [],
    "kernels/rtc": [],
    "kernels/cpu": ["kernels/op"],
    "kernels/math": ["kernels/op"],
    "kernels/fused": ["kernels/op"],
    "kernels/fp8": ["kernels/op"],
    "kernels/cudnn": ["kernels/op", "kernels/fp8"],  # cuDNN's FP8 takes the encoder
    "kernels/flex": ["kernels/op", "kernels/rtc", "kernels/cpu", "kernels/math", "kernels/fused", "kernels/cudnn"],
    "kernels/pathology": ["kernels/op"],
    "kernels/classes": [],
    "suites": ["kernels/op", "kernels/flex", "kernels/classes"],
    "examples": [],
}
PUBLIC = "include"  # every room sees it; it sees none, not even itself
GENERATED = "backends.h", "kg_build.h", "kg_kernels.h"
# Where names are looked for after the includer's own folder, as by the compiler's -I.
ROOTS = "", "include", "runner", "kernels", "suites"

FUNCTION_LINES = measure.LONG_FUNCTION
SHIPPED_LINES = 51_660
MARKDOWN_WORDS = 32050
DESIGN = "docs/design.md"
WALKS = 12, 13, 15  # the most files of the walks that DESIGN lists, in its order

INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
HIDDEN = re.compile(r'\s*#\s*include\b(?!\s*[<"])|\s*#\s*include.*\.cu?[">]')
SEES = {PUBLIC: [], **{family: [PUBLIC, family, *others] for family, others in FAMILIES.items()},
        **{room: [PUBLIC, *ROOMS[:level + 1]] for level, room in enumerate(ROOMS)}}
assert all(list(FAMILIES).index(other) < level for level, family in enumerate(FAMILIES) for other in FAMILIES[family])


def room_of(name):
    return next((room for room in SEES if name.startswith(room + "/")), None)


def resolve(sources, name, quote, wanted):
    """The file of the tree that the compiler would take, or None."""
    own = [posixpath.dirname(name)] if quote == '"' else []
    paths = (posixpath.normpath(posixpath.join(root, wanted)) for root in (*own, *ROOTS))
    return next((path for path in paths if path in sources), None)


def read_includes(tree, complain):
    """{file: {included file: line number}} of what stands in rooms."""
    graph, sources, folders = {}, set(tree.sources), {room.split("/")[0] for room in SEES}
    for name in (name for name in tree.sources if name.split("/")[0] in folders):
        if room_of(name) is None:
            complain(f"{name}: stands in no room")
            continue
        graph[name] = {}
        for number, line in enumerate(tree.code(name), 1):
            if HIDDEN.match(line):
                complain(f"{name}:{number}: an include of a source file or by a macro, which hides whose it is")
            found = INCLUDE.match(line)
            target = resolve(sources, name, *found.groups()) if found else None
            if target is not None:
                graph[name][target] = number
            elif found and found[1] == '"' and found[2] not in GENERATED:
                complain(f'{name}:{number}: no file of the tree is "{found[2]}"')
    for room in SEES.keys() - {room_of(name) for name in graph}:
        complain(f"{room}: holds no source file")
    return graph


def check_order(graph, complain):
    for name, includes in graph.items():
        room = room_of(name)
        for target, number in includes.items():
            if room_of(target) not in SEES[room]:
                upward = room in ROOMS and room_of(target) in ROOMS
                complain(f"{name}:{number}: {room} {'points up to' if upward else 'is not to see'} {target}")


def check_cycles(graph, complain):
    """Names one way round for each include that closes a cycle. Rooms in order have none, but files of one room may."""
    path, done = [], set()

    def visit(name):
        if name in path:
            complain("a cycle: " + " > ".join(path[path.index(name):] + [name]))
        elif name not in done:
            path.append(name)
            for target in sorted(graph.get(name, ())):
                visit(target)
            done.add(path.pop())

    for name in sorted(graph):
        visit(name)


def check_limits(tree, complain):
    for one in (one for name in tree.sources for one in measure.functions(tree, name)):
        if one.lines > FUNCTION_LINES:
            complain(f"{one.file}:{one.line}: {one.name} has {one.lines} lines, more than {FUNCTION_LINES}")
    for what, found, limit in (("shipped lines", tree.line_count(tree.shipped), SHIPPED_LINES),
                               ("words of Markdown", tree.word_count(), MARKDOWN_WORDS)):
        if found > limit:
            complain(f"{what}: {found:,}, more than {limit:,}")


def check_walks(root, complain):
    root = pathlib.Path(root)
    text = (root / DESIGN).read_text()
    rows = re.findall(r"^\| .* \| ((?:`\S+/\S+\.[ch]u?` ?)+)\|$", text.split("\n## Walks\n", 1)[-1], re.M)
    if len(rows) != len(WALKS):
        complain(f"{DESIGN}: {len(rows)} walks, not {len(WALKS)}")
    for row, most in zip(rows, WALKS):
        files = re.findall(r"`(\S+)`", row)
        if len(files) > most:
            complain(f"{DESIGN}: a walk of {len(files)} files, more than {most}: {files[0]}, ...")
        for name in files:
            if not (root / name).is_file():
                complain(f"{DESIGN}: a walk passes through {name}, which is not there")


def complaints_of(root):
    tree, complaints = measure.Tree(root), []
    graph = read_includes(tree, complaints.append)
    check_order(graph, complaints.append)
    check_cycles(graph, complaints.append)
    check_limits(tree, complaints.append)
    check_walks(root, complaints.append)
    return complaints


def plants(tree):
    """(the complaint to see, {file: text to append to it})"""
    def headers(room):
        return [name for name in tree.sources if name.startswith(room + "/") and name.endswith(".h")]

    low, other, top, op = *headers(ROOMS[0])[:2], headers(ROOMS[-1])[0], headers("kernels/op")[0]
    fp8, public = headers("kernels/fp8")[0], headers(PUBLIC)[0]
    see = {name: f'\n#include "{name}"\n' for name in (low, other, top, fp8)}
    long_body = "void planted(void)\n{\n" + "    ;\n" * (FUNCTION_LINES - 2) + "}\n"
    yield rf"{low}:\d+: .* points up to {top}", {low: see[top]}
    yield rf"{low}:\d+: .* points up to {top}", {low: f"\n#include <{top}>\n"}
    yield rf"a cycle: .*({low} > {other} > {low}|{other} > {low} > {other})", {low: see[other], other: see[low]}
    yield rf"{low}:\d+: no file of the tree is", {low: '\n#include "base/not_there.h"\n'}
    yield rf"{low}:\d+: an include .* by a macro", {low: f'\n#define H "{top}"\n#include H\n'}
    yield rf"{low}:\d+: an include of a source file", {low: '\n#include "base/json.c"\n'}
    yield rf"{op}:\d+: kernels/op is not to see {low}", {op: see[low]}
    yield rf"{op}:\d+: kernels/op is not to see {fp8}", {op: see[fp8]}
    yield rf"{public}:\d+: {PUBLIC} is not to see {low}", {public: see[low]}
    yield r"runner/planted.c: stands in no room", {"runner/planted.c": "int planted;\n"}
    yield r"runner/base/planted.c:1: planted has", {"runner/base/planted.c": long_body}
    yield r"shipped lines", {low: "\n" * (SHIPPED_LINES + 1)}
    yield rf"{DESIGN}: {len(WALKS) + 1} walks", {DESIGN: "\n| one more | `runner/planted.c` |\n"}
    yield r"words of Markdown", {"README.md": "word " * (MARKDOWN_WORDS + 1)}


def told(root):
    run = subprocess.run([sys.executable, __file__, root], stdout=subprocess.PIPE, universal_newlines=True)
    return run.returncode, set(run.stdout.splitlines())


def not_seen(tree):
    """How many of the planted faults go through; a complaint that was there without the fault does not count."""
    through = 0
    with tempfile.TemporaryDirectory() as copy:
        for name in tree.sources + tree.markdown:
            pathlib.Path(copy, name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(tree.root / name, pathlib.Path(copy, name))
        before = told(copy)[1]
        for wanted, texts in plants(tree):
            for name, text in texts.items():
                with open(pathlib.Path(copy, name), "a", encoding="utf-8") as file:
                    file.write(text)
            status, lines = told(copy)
            seen = status == 1 and any(re.match(wanted, line) for line in lines - before)
            print("seen:" if seen else "NOT SEEN:", wanted)
            through += not seen
            for name in texts:
                pathlib.Path(copy, name).unlink()
                if (tree.root / name).exists():
                    shutil.copyfile(tree.root / name, pathlib.Path(copy, name))
    return through


def main():
    if sys.argv[2:] == ["--planted"]:
        return 1 if not_seen(measure.Tree(sys.argv[1])) else 0
    complaints = complaints_of(sys.argv[1])
    print(*complaints, f"{len(complaints)} complaints", sep="\n")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
