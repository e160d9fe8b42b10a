#!/usr/bin/env python3
"""mutate.py -- makes single changes in kernels, and looks which of them a plain `kgate run` lets live.

    mutate.py list  SOURCE...                               the first changes that would be drawn, a line each
    mutate.py build SOURCE... --build DIR --work DIR        compiles them; those that leave the machine code are dropped
    mutate.py run   SOURCE... --build DIR --work DIR        builds what is not built, judges each, writes the tables
    mutate.py pack  KIT --build DIR                         what `build` and `run` need of a build folder, to travel
    mutate.py table --work DIR                              the tables again, after a change of equivalent.txt

Options: --seed N, --count N changes a source (1, 40); --jobs N compilers and --judges N runs side by side; --kgate FILE
(DIR/kgate), --device cpu|cuda:0, --gpus N, --case-timeout SECONDS, --deadline SECONDS (of judging), --rules (judges by the
two other rules too, see rules.c), --only ID,..., --module FILE, --equivalent FILE and
--options "OPTION..." of kgate run. A source is named from the repository's root; SOURCES says which backends run it.

A change is one replacement in the code: no comment, string, static_assert or preprocessor line but the body of an
object-like macro. Drawn are all kinds in turn, each in an order by the seed. The objects of a change are compiled by the
build's own commands, linked with the build's other objects, and compared with those of the unchanged source, section by
section. WORK keeps the objects, which are not compiled again while the headers stay the same, also where WORK has
travelled, and gets results.json, which a second `run` goes on with, results.md and survivors.txt.

equivalent.txt names changes that no test can see, or that only cost time, by function, line and changed line."""
import argparse
import collections
import concurrent.futures
import functools
import hashlib
import itertools
import json
import math
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import struct
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
# The backends that are made of a source, and the cheap cases to run before all others.
SOURCES = {
    "kernels/cpu/cpu_flash.c": ("cpu_flash,cpu_flex", ["sdpa_parity", "flex_parity"]),
    "kernels/flex/cpu_flex.c": ("cpu_flex", ["flex_parity"]),
    "kernels/flex/flex_kernel.cuh": ("flex_static", ["flex_parity"]),
    "kernels/fused/flash.cu": ("flash", ["sdpa_parity"]),
    "kernels/fused/flash_tile.cuh": ("flash", ["sdpa_parity"]),
    "kernels/math/softmax.cu": ("math", ["sdpa_parity"]),
    "kernels/fp8/fp8_stage_c.cu": ("stage_c,stage_c_lut,stage_c_nocp,stage_c_lut_nocp,stage_c_debug_print,stage_c_e4m3,"
                                   "stage_c_e4m3_lut,stage_c_e4m3_nocp,stage_c_e4m3_lut_nocp",
                                   ["fp8_sdpa/small", "fp8_sdpa_e4m3/small"]),
}
UNITS = {  # what is compiled for a header
    "kernels/flex/flex_kernel.cuh": "kernels/flex/flex_static.cu",
    "kernels/fused/flash_tile.cuh": "kernels/fused/flash.cu",
}

# ---- from text to changes ------------------------------------------------------------------------------------------

SKIPPED = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/|^[ \t]*#(?:\\\n|[^\n])*'
                     r'|\bstatic_assert\s*\([^;]*;', re.DOTALL | re.MULTILINE)
PRINTS = re.compile(r"^#if STAGE_C_DEBUG_PRINT$.*?^#endif", re.DOTALL | re.MULTILINE)  # what no output depends on
MACRO_BODY = re.compile(r"[ \t]*#\s*define [A-Z_]+ \(")
TOKEN = re.compile(r"0[xX][\da-fA-F.]+(?:[pP][-+]?\d+)?\w*|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\w*|[A-Za-z_]\w*"
                   r"|<<=|>>=|<<<|>>>|[-+*/%&|^<>=!]=|&&|\|\||<<|>>|\+\+|--|->|::|\S")
OPERATORS = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "&&": "||", "||": "&&", "<<": ">>", ">>": "<<", "&": "|",
             "|": "&", "^": "|", "+=": "-=", "-=": "+=", "*=": "=", "/=": "=", "|=": "&=", "&=": "|=", "++": "--"}
COMPARISONS = {"<": ["<=", ">"], "<=": ["<", ">="], ">": [">=", "<"], ">=": [">", "<="], "==": ["!=", ">="],
               "!=": ["==", ">"]}
LIMITS = {"min": "max", "max": "min", "fmaxf": "fminf", "fminf": "fmaxf", "min64": None, "quad_max": None,
          "quad_sum": None}
NAMED = {"INFINITY": "0.0f", "CUDART_INF_F": "0.0f", "FLT_MAX": "0.0f", "NULL": None, "true": "false", "false": "true"}
BARRIER = re.compile(r"__sync\w+\(|copies_(wait|commit)\(|cp\.async\.(wait|commit)")
DECLARES = re.compile(r"(const|static|extern|struct|enum|union|typedef|using|template|constexpr|__\w+__|unsigned|int|float|"
                      r"double|bool|char|void|auto|return \S|goto|case|default|else|switch|public|\w+_t|dim3|for|while)\b|return \{"
                      r"|\w+(::\w+)*(<[^;=]*>)? +[*&]?\w+ *(=|\[|,|;|\{)|[\w:]+<.*> \w+;")
DECLARATOR = re.compile(r"(?:^|[(,;{}]\s*)(?:const |static |constexpr |__shared__ |struct )*[\w:]+(?:<[^;=()]*>)?"
                        r" +[*&]?(?:const )?\w+(?:\[[^]]*\])*$")
Change = collections.namedtuple("Change", "source kind start end new")


def code_of(text):
    """The text with everything that is not to be changed blanked out."""
    def blank(found):
        macro = MACRO_BODY.match(found[0])
        if macro:
            last = found[0].rindex(")")
            return (" " * macro.end() + found[0][macro.end():last] + ";").ljust(len(found[0]))
        return re.sub(r"[^\n]", " ", found[0])
    return SKIPPED.sub(blank, PRINTS.sub(blank, text))


def closing(code, at):
    """Of the bracket at `at`."""
    depth = 0
    for i in range(at, len(code)):
        depth += code[i] in "([{"
        depth -= code[i] in ")]}"
        if depth == 0:
            return i
    raise ValueError(f"no bracket closes the one at {at}")


def arguments(code, opening):
    parts, start, depth = [], opening + 1, 0
    for i in range(opening, closing(code, opening) + 1):
        depth += code[i] in "([{"
        depth -= code[i] in ")]}"
        if depth == (0 if code[i] == ")" else 1) and code[i] in ",)":
            parts.append(code[start:i].strip())
            start = i + 1
    return parts


def number_changes(token):
    if re.fullmatch(r"(\d+\.\d*|\d*\.\d+|\d+[eE][-+]?\d+|\d+\.?\d*([eE][-+]?\d+)?f|0[xX][\da-fA-F.]+[pP].*)\w*", token):
        suffix = "f" if token.endswith("f") else ""
        return "float", [f"({token} * 1.01{suffix})", f"({token} * 2)", f"(-{token})"]
    digits, suffix = re.fullmatch(r"(0[xX][\da-fA-F]+|\d+)([uUlL]*)", token).groups()
    value = int(digits, 0 if digits.startswith(("0x", "0X")) else 10)
    form = hex if digits.startswith("0x") else str
    made = [new for new in (value + 1, value - 1, 0, 2 * value) if new != value]
    return "constant", [form(new) + suffix if new >= 0 else "(-1)" for new in dict.fromkeys(made)]


def ternary_start(code, at):
    """Of the condition before the ? at `at`."""
    depth = 0
    for i in range(at - 1, -1, -1):
        depth += code[i] in ")]"
        depth -= code[i] in "(["
        if depth < 0 or depth == 0 and (code[i] in ",;{}?" or code[i] == ":" and code[i - 1] == " " or
                                        code[i] == "=" and code[i - 1] not in "<>=!" and code[i + 1] != "="):
            return i + 1
        if depth == 0 and code[i:i + 7] == "return ":
            return i + 7
    return 0


def token_changes(code):
    """(kind, start, end, new) of every token that can be another."""
    for found in TOKEN.finditer(code):
        token, start, end = found[0], found.start(), found.end()
        spaced = code[start - 1] in " \n" and code[end:end + 1] in (" ", "\n")  # the formatter's sign of a binary one
        if token in OPERATORS and (spaced or token == "++"):
            yield "operator", start, end, OPERATORS[token]
        elif token in COMPARISONS and spaced:
            for new in COMPARISONS[token]:
                yield "comparison", start, end, new
        elif token[0].isdigit() or token[0] == "." and len(token) > 1:
            kind, news = number_changes(token)
            for new in news:
                yield kind, start, end, new
        elif NAMED.get(token):
            yield "constant", start, end, NAMED[token]
        elif token in LIMITS and code[end] == "(" and code[start - 1] != " " or token in LIMITS and re.match(
                r"\w+\((?!float|int64_t)", code[start:]):
            last = closing(code, end)
            news = arguments(code, end) + ([LIMITS[token] + code[end:last + 1]] if LIMITS[token] else [])
            for new in news:
                yield "limit", start, last + 1, new


def shape_changes(code):
    """The same of conditions, indices and statements."""
    for found in re.finditer(r"\b(?:if|while) (?:constexpr )?\(", code):
        last = closing(code, found.end() - 1)
        yield "condition", found.end(), last, f"!({code[found.end():last]})"
    for found in re.finditer(r" \? ", code):
        start = ternary_start(code, found.start())
        start += len(code[start:]) - len(code[start:].lstrip())
        yield "condition", start, found.start(), f"!({code[start:found.start()]})"
    for found in re.finditer(r"(?<=[\w\])])\[", code):
        last = closing(code, found.start())
        begun = max(code.rfind(mark, 0, found.start()) for mark in ";{}(")
        if not DECLARATOR.search(code[begun:found.start()]) and code[found.end():last].strip():
            yield "index", found.end(), last, f"({code[found.end():last]}) + 1"
    for found in re.finditer(r"(?<=[;{})])\s*(?=[\w*(])", code):
        start, end = found.end(), code.find(";", found.end())
        before = code[:found.start()].rstrip()
        header = before.endswith(")") and re.search(r"\b(if|for|while) ?(constexpr )?\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)$",
                                                    before[-400:])
        if end < 0 or "{" in code[start:end] or code.count("(", 0, start) != code.count(")", 0, start):
            continue  # in a head, or no plain statement
        if before.endswith(")") and not header or DECLARES.match(code[start:end + 1]):
            continue
        yield "statement", start, end, ""


def changes_of(source, text):
    code = code_of(text)
    for kind, start, end, new in (*token_changes(code), *shape_changes(code)):
        if kind == "statement" and BARRIER.search(text[start:end]):
            kind = "barrier"
        if new != text[start:end]:
            yield Change(source, kind, start, end, new)


def drawn(source, text, seed):
    """All changes of a source: kinds take turns, each in an order by the seed."""
    kinds = collections.defaultdict(list)
    for change in changes_of(source, text):
        kinds[change.kind].append(change)
    for kind, changes in kinds.items():
        random.Random(f"{seed} {source} {kind}").shuffle(changes)
    for turn in itertools.zip_longest(*(kinds[kind] for kind in sorted(kinds))):
        yield from filter(None, turn)


def function_at(text, at):
    """The name of the function or struct that `at` lies in."""
    head = re.findall(r"^(?![ \t#}/*])[^\n;]*?(\w+)\s*(?:\(|=? ?\{)", text[:at], re.M)
    return head[-1] if head else ""


def described(change, text):
    """What equivalent.txt knows a change by, and an id made of it."""
    first = text.rfind("\n", 0, change.start) + 1
    last = text.find("\n", change.end)
    flat = lambda lines: " ".join(lines.split())
    before = flat(text[first:last])
    after = flat(text[first:change.start] + change.new + text[change.end:last])
    function = function_at(text, text.find("\n", first))
    same = len([at for at in re.finditer(re.escape(text[first:last]), text[:first])
                if function_at(text, text.find("\n", at.start())) == function])
    name = pathlib.Path(change.source).name
    place = f"{name} {function}" + (f" #{same + 1}" if same else "")
    digest = hashlib.sha256("\n".join((place, before, after)).encode()).hexdigest()[:6]
    return {"id": f"{pathlib.Path(name).stem}-{digest}", "source": change.source, "kind": change.kind, "place": place,
            "line": text.count("\n", 0, change.start) + 1, "before": before, "after": after}


# ---- from changes to modules ---------------------------------------------------------------------------------------

def sections(file):
    """{name: bytes} of the sections of an ELF file that say what it computes: code, constants, what they refer to."""
    data = file.read_bytes()
    table, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3a)
    heads = [struct.unpack_from("<IIQQQQ", data, table + i * size) for i in range(count)]
    name_of = lambda head: data[heads[names][4] + head[0]:data.index(0, heads[names][4] + head[0])].decode()
    kept = re.compile(r"(\.rela)?\.(text|rodata|nv\.constant|nv\.global|nv\.shared)")
    return {name_of(head): data[head[4]:head[4] + head[5]] if head[1] != 8 else head[5]
            for head in heads if kept.match(name_of(head))}


MODULE_ROOT = ["suites_module.c.o"]


@functools.cache
def surroundings(unit):
    """What the object of a unit depends on beside the changed text: the unit, and every header."""
    headers = sorted(file for folder in ("include", "kernels") for file in (ROOT / folder).rglob("*.*h"))
    return b"".join(file.read_bytes() for file in (ROOT / unit, *headers))


class Build:
    """The commands of a build folder, or of what `pack` left of one. They run in it."""

    def __init__(self, folder, module):
        self.folder = pathlib.Path(folder).resolve()
        packed = self.folder / "commands.json"
        if packed.exists():
            self.lines = json.loads(packed.read_text())
        else:
            ninja = subprocess.run(["ninja", "-C", self.folder, "-t", "commands", module], stdout=subprocess.PIPE,
                                   text=True, check=True)
            self.lines = [[self.from_root(word) for word in shlex.split(line)] for line in ninja.stdout.splitlines()]
        if not any("{root}" in word for words in self.lines for word in words):
            sys.exit(f"mutate: {self.folder} is built from another tree than {ROOT}")
        self.commands = [[word.replace("{root}", str(ROOT)) for word in words] for words in self.lines]
        self.link = next(words for words in self.commands if words[1:3] == ["-o", module])

    def from_root(self, word):
        """A path into the source tree, with {root} for the tree, since a packed folder may lie elsewhere."""
        option, path = re.fullmatch(r"(-I|-isystem|)(.*)", word).groups()
        if path.startswith(".."):
            word = option + os.path.normpath(self.folder / path)
        return word.replace(str(ROOT), "{root}")

    def objects(self, source):
        """[(object's path in the folder, command)] of a source file."""
        ends = f"/{source}"
        own = [words for words in self.commands if any(f"/{word}".endswith(ends) for word in words)]
        if not own:
            sys.exit(f"mutate: {self.folder} compiles no {source}")
        return [(next(word for word in words if word.endswith(".o")), words) for words in own]

    def compile_once(self, source, text, folder, limit):
        """What `compile` says, or said of the same text beside the same headers when it was asked before."""
        kept, unit = folder / "objects.json", UNITS.get(source, source)
        commands = [words for words in self.lines if "{root}/" + unit in words]
        asked = hashlib.sha256(json.dumps([commands, text]).encode() + surroundings(unit)).hexdigest()
        if kept.exists() and (said := json.loads(kept.read_text()))["of"] == asked:
            return said["objects"] and [(name, folder / file) for name, file in said["objects"]]
        shutil.rmtree(folder, ignore_errors=True)
        made = self.compile(source, text, folder, limit)
        kept.write_text(json.dumps({"of": asked, "objects": made and [(name, file.name) for name, file in made]}))
        return made

    def compile(self, source, text, folder, limit):
        """Compiles `text` in place of a source into `folder`. Returns the objects, or None where it does not compile."""
        unit = UNITS.get(source, source)
        changed = folder / pathlib.Path(*pathlib.Path(source).parts[1:])  # as includes have it
        changed.parent.mkdir(parents=True, exist_ok=True)
        changed.write_text(text)
        made = []
        for name, words in self.objects(unit):
            output = folder / pathlib.Path(name).name
            stem = name.removesuffix(".o")
            new = [str(changed if unit == source else ROOT / unit) if f"/{word}".endswith(f"/{unit}") else
                   str(output.with_suffix(".d")) if word in (stem + ".d", name + ".d") else
                   str(output) if word == name else word for word in words if word != "-Werror"]
            new.append(f"-I{(ROOT / source).parent}")
            includes = next(i for i, word in enumerate(new) if word.startswith("-I"))
            new.insert(includes, f"-I{folder}")
            try:
                done = subprocess.run(new, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                      timeout=limit)
            except subprocess.TimeoutExpired:
                return None
            if done.returncode != 0:
                return None
            made.append((name, output))
        return made

    def link_module(self, objects, output, dropped=(), added=()):
        """The module with `objects`, {path in the folder: file}, in place of the build's own."""
        words = [str(objects.get(word, word)) for word in self.link if not word.endswith(tuple(dropped) or "\0")]
        words[words.index("-o") + 1] = str(output)
        subprocess.run(words + [str(file) for file in added], cwd=self.folder, check=True)
        return output

    def pack(self, kit):
        """What is compiled against or linked goes along, CUDA's static library too, but no source."""
        kit = pathlib.Path(kit).resolve()
        shutil.rmtree(kit, ignore_errors=True)
        kit.mkdir(parents=True)
        wanted = {word for word in self.link if word.endswith((".o", ".a"))}
        wanted |= {str(file.relative_to(self.folder)) for file in self.folder.rglob("*.h")}
        for word in wanted:
            place = kit / (pathlib.Path(word).name if word.startswith("/") else word)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(self.folder / word, place)
        lines = [[pathlib.Path(word).name if word.endswith(".a") and word.startswith("/") else word for word in words]
                 for words in self.lines]
        (kit / "commands.json").write_text(json.dumps(lines, indent=0))


def same_code(one, other):
    """Whether two lists of objects, and the cubins beside them, are the same machine code."""
    files = lambda objects: [file for _, object in objects
                             for file in (object, *sorted(object.parent.glob(object.stem + ".sm_*.cubin")))]
    return [sections(file) for file in files(one)] == [sections(file) for file in files(other)]


class Draw:
    """The changes of one source that were tried, until `count` of them compile and change the machine code."""

    def __init__(self, build, source, work, options):
        self.build, self.source, self.folder = build, source, work / pathlib.Path(source).stem
        self.text = (ROOT / source).read_text()
        self.limit = options.compile_timeout
        self.unchanged = build.compile_once(source, self.text, self.folder / "unchanged", self.limit)
        if self.unchanged is None:
            sys.exit(f"mutate: {source} does not compile as it is")
        if not same_code(self.unchanged, build.compile_once(source, self.text, self.folder / "again", self.limit)):
            sys.exit(f"mutate: {source} is other machine code when it is compiled again")
        self.queue = drawn(source, self.text, options.seed)
        self.only = options.only
        self.valid, self.seen = [], set()
        self.broken = self.same = 0

    def next(self):
        """The next change that was not drawn yet, or None."""
        for change in self.queue:
            about = described(change, self.text)
            if about["id"] not in self.seen and (not self.only or about["id"] in self.only):
                self.seen.add(about["id"])
                return change, about
        return None

    def try_one(self, change, about):
        made = self.build.compile_once(self.source, self.text[:change.start] + change.new + self.text[change.end:],
                                       self.folder / about["id"], self.limit)
        if made is None:
            self.broken += 1
        elif same_code(self.unchanged, made):
            self.same += 1
        else:
            self.valid.append((about, made))


def build_all(draws, options):
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        while True:
            tasks = []
            for draw in draws:
                for _ in range(max(0, options.count - len(draw.valid))):
                    if drawn_one := draw.next():
                        tasks.append(pool.submit(draw.try_one, *drawn_one))
            if not tasks:
                break
            for task in tasks:
                task.result()
    for draw in draws:
        draw.valid.sort(key=lambda one: (one[0]["line"], one[0]["id"]))
        print(f"{draw.source}: {len(draw.valid)} changes; dropped {draw.broken} that do not compile and {draw.same} that "
              "leave the machine code")


# ---- from modules to verdicts --------------------------------------------------------------------------------------

class Judge:
    """Runs kgate on modules and reads what it says."""

    def __init__(self, kgate, options):
        self.kgate, self.options = kgate, options
        self.turn = itertools.count()

    def run(self, module, *arguments, device=None, patience=None):
        """(status, {id: result}). A run that printed no results, or none in time, is one ERROR without an id. With a
        `patience` in seconds for a case it may take any time in all."""
        environment = dict(os.environ, OMP_WAIT_POLICY="passive")  # runs side by side do not spin
        if self.options.gpus > 1:
            environment["CUDA_VISIBLE_DEVICES"] = str(next(self.turn) % self.options.gpus)
        device, output = device or self.options.device, module.parent / "results"
        command = [self.kgate, "run", "--module", module, "--device", device, "--no-time", "--jobs", "1",
                   "--format", "json", "--shuffle=1", "--case-timeout", str(patience or self.options.case_timeout), "--output", output, "--expectations", output / "none",
                   *arguments]
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
                                  timeout=None if patience else self.options.run_timeout, preexec_fn=cap_memory if device == "cpu" and self.options.capped else None)
            status, said = done.returncode, done.stderr.strip()[-200:]
            if done.stdout.startswith("{"):
                return status, {one["id"]: one for one in json.loads(done.stdout)["results"]}
        except subprocess.TimeoutExpired:
            status, said = 1, f"not done after {self.options.run_timeout} s"
        finally:
            shutil.rmtree(output, ignore_errors=True)
        return status, {"": {"id": "", "verdict": "ERROR", "reason": said, "gates": {}}}

    def gated(self, module, source):
        """What the shipped suites say: the status, and of the case that made it the id, failed gates and reason."""
        backends, first = SOURCES.get(source, ("", []))
        selected = ["--fail-fast", *self.options.options] + (["--backend", backends] if backends else [])
        rest = [word for pattern in first for word in ("--exclude", pattern)]
        for patterns in [first, rest] if first else [[]]:
            status, results = self.run(module, *selected, *patterns)
            red = [one for one in results.values() if one["verdict"] in ("FAIL", "ERROR")]
            if status != 0:
                break
        killer = red[0] if red else {"id": "", "reason": f"status {status}", "gates": {}}
        return {"status": status, "killer": killer["id"] if status else "", "why": killer["reason"] if status else "",
                "gates": [name.removesuffix("_pass") for name, held in killer.get("gates", {}).items() if not held],
                "lost": is_lost(killer) and killer.get("regime", "normal") == "normal",
                "skipped": sum(one["verdict"] == "SKIP" for one in results.values())}

    def ruled(self, module, source, limits):
        """The first case that each of the two other rules refuses, or ''. A crash or hang is refused by both."""
        backends = ",".join(name for name in SOURCES.get(source, ("", []))[0].split(",") if "flex" not in name)  # nor have rules
        refused = {"allclose": "", "twice": ""}
        for early in (["--fail-fast"], []):  # the first refusal is mostly both rules'
            status, results = self.run(module, *self.options.options, *early, *(["--backend", backends] if backends else []))
            if status == 2:
                sys.exit(f"mutate: the other rules' run is refused: {results['']['reason']}")
            for id, one in sorted(results.items()):
                lost = is_lost(one)
                not_numbers = one.get("nonfinite", 0) + one.get("unwritten", 0) > 0
                wrong = {"allclose": lost or not_numbers or one.get("pct_bad", 0) > 0,
                         "twice": lost or not_numbers or one.get("max_abs_err", 0) > limits.get(kind_of_row(one), math.inf)}
                for rule in refused:
                    refused[rule] = refused[rule] or wrong[rule] and (id or f"status {status}") or ""
            if status == 0 or all(refused.values()):
                break
        return refused


def is_lost(one):
    """Whether a case has no outputs to compare: a crash, a hang, a launch that was refused."""
    return one.get("verdict") == "ERROR" and not one.get("elements")


def cap_memory():
    resource.setrlimit(resource.RLIMIT_AS, (16 << 30, 16 << 30))


def rules_module(build, what, flags, work):
    """Compiles rules.c as the build compiles suites/module.c."""
    (name, words), = build.objects("suites/module.c")
    output = work / f"{what}.o"
    new = {name: str(output), name + ".d": str(output.with_suffix(".d"))}
    words = [str(HERE / "rules.c") if word.endswith("suites/module.c") else new.get(word, word) for word in words]
    subprocess.run([*words, f"-I{ROOT}/suites", *flags], cwd=build.folder, check=True)
    return output


def kind_of_row(one):
    """What the largest error of a plain kernel depends on."""
    if "S" not in one:
        return ""
    return " ".join(str(one[name]) for name in ("suite", "dtype", "causal", "bottom_right", "S")) + f" {one['Skv'] or one['S']}"


def read_limits(judge, build, work):
    """{kind of row: the largest error that the rule of twice the same-precision error allows}. A packed folder may
    bring them along."""
    kept = next((file for folder in (build.folder, work) if (file := folder / "limits.json").exists()), None)
    if kept is None:
        rows = ["-DSAME_PRECISION"] + ["-DGPU_ROWS"] * (judge.options.device != "cpu")
        root = rules_module(build, "same_precision", rows, work)
        module = build.link_module({}, work / "same_precision.so", MODULE_ROOT, [root])
        limits = collections.defaultdict(float)
        said = judge.run(module, device="cpu", patience=600)[1].values()
        for one in said:
            if "max_abs_err" not in one:  # it was not compared
                continue
            limits[kind_of_row(one)] = max(limits[kind_of_row(one)], 2 * one["max_abs_err"] + 1e-5)
        if not limits:
            sys.exit(f"mutate: the plain kernels in the same precision: {[one.get('reason') for one in said][:1]}")
        kept = work / "limits.json"
        kept.write_text(json.dumps(limits, indent=1))
    return json.loads(kept.read_text())


def judge_all(draws, build, work, options):
    judge = Judge(options.kgate or build.folder / "kgate", options)
    kept = work / "results.json"
    results = json.loads(kept.read_text()) if kept.exists() else {}
    rules = rules_module(build, "rules", [], work) if options.rules else None
    limits = read_limits(judge, build, work) if rules else {}
    end, writing = time.monotonic() + options.deadline, threading.Lock()
    declared = read_equivalents(options.equivalent)

    def judge_one(draw, about, objects):
        if time.monotonic() > end:
            return
        folder = objects[0][1].parent
        module = build.link_module(dict(objects), folder / "changed.so")
        about.update(judge.gated(module, draw.source))
        if rules and about.pop("lost"):  # on normal inputs, which is what the rules are asked of
            about.update(allclose=about["killer"], twice=about["killer"])
        elif rules:
            module = build.link_module(dict(objects), folder / "ruled.so", MODULE_ROOT, [rules])
            about.update(judge.ruled(module, draw.source, limits))
        for file in folder.glob("*.so"):
            file.unlink()
        print(f"{about['id']}: {'killed by ' + (about['killer'] or about['why']) if about['status'] else 'lives'}", flush=True)
        with writing:
            results[about["id"]] = about
            kept.write_text(json.dumps(results, indent=1))

    with concurrent.futures.ThreadPoolExecutor(options.judges) as pool:
        tasks = [pool.submit(judge_one, draw, {"id": draw.source, "dropped": [draw.broken, draw.same]}, draw.unchanged)
                 for draw in draws]
        waiting = [(draw, *one) for draw in draws for one in draw.valid if one[0]["id"] not in results]
        waiting.sort(key=lambda one: key_of(one[1]) in declared)  # those run through all cases
        tasks += [pool.submit(judge_one, *one) for one in waiting]
        for task in tasks:
            task.result()
    refused = [one for draw in draws if (one := results.get(draw.source, {})).get("status") != 0]
    if refused:
        sys.exit(f"mutate: refused as they are, or not judged in time: {refused}")
    left = sum(about["id"] not in results for draw in draws for about, _ in draw.valid)
    if left:
        print(f"mutate: {left} not judged in {options.deadline} s; another `run` goes on with them")


# ---- from verdicts to tables ---------------------------------------------------------------------------------------

def read_equivalents(file):
    """{(place, before, after): reason} of a file whose blocks are a place, its changes and the reason."""
    declared, place, changes = {}, "", []
    for line in file.read_text().splitlines():
        sign, rest = line[:4], line[4:].strip()
        if sign == "  - ":
            changes.append([place, rest])
        elif sign == "  + ":
            changes[-1].append(rest)
        elif sign == "  = ":
            declared.update((tuple(change), rest) for change in changes)
            changes = []
        elif line and not line.startswith("#"):
            place = line.strip()
    return declared


def key_of(about):
    """Of a change in what read_equivalents gives."""
    return about["place"], about["before"], about["after"]


def share(part, whole):
    return f"{part} ({100 * part / whole:.0f}%)" if whole else "0"


def write_tables(work, equivalent):
    results = json.loads((work / "results.json").read_text())
    declared = read_equivalents(equivalent)
    sources = {id: one for id, one in results.items() if "dropped" in one}
    judged = [one for one in results.values() if "place" in one]
    rows = ["| source | changes | equivalent | killed | lives | allclose(1e-2) kills | twice the same precision's error kills "
            "| dropped: do not compile, change no code |", "| --- | --- | --- | --- | --- | --- | --- | --- |"]
    wrong = [one for one in judged if one["status"] and key_of(one) in declared]
    for source, itself in [*sources.items(), ("all", None)]:
        own = [one for one in judged if itself is None or one["source"] == source]
        real = [one for one in own if key_of(one) not in declared]
        cells = [source, len(own), len(own) - len(real), share(sum(one["status"] != 0 for one in real), len(real)),
                 sum(one["status"] == 0 for one in real)]
        cells += [share(sum(bool(one[rule]) for one in real), len(real)) if all(rule in one for one in real) else "not asked"
                  for rule in ("allclose", "twice")]
        cells.append(", ".join(map(str, itself["dropped"])) if itself else "")
        rows.append(f"| {' | '.join(map(str, cells))} |")
    lines = ["", "| change | line | kind | before → after | killed by | gates |", "| --- | --- | --- | --- | --- | --- |"]
    for one in sorted(judged, key=lambda one: (one["source"], one["line"], one["id"])):
        fate = one["killer"] or one["why"] or ("equivalent: " + declared[key_of(one)] if key_of(one) in declared else "LIVES")
        lines.append(f"| {one['id']} | {one['line']} | {one['kind']} | `{one['before']}` → `{one['after']}` | {fate} "
                     f"| {' '.join(one['gates'])} |".replace("||", "\\|\\|"))
    (work / "results.md").write_text("\n".join(rows + lines) + "\n")
    alive = [one for one in judged if not one["status"] and key_of(one) not in declared]
    (work / "survivors.txt").write_text("".join(
        f"{one['place']}\n  - {one['before']}\n  + {one['after']}\n" for one in sorted(alive, key=lambda one: one["line"])))
    print("\n".join(rows))
    for one in alive:
        print(f"lives: {one['id']}, line {one['line']}: {one['before']} -> {one['after']}"
              + (f" ({one['skipped']} skipped)" if one["skipped"] else ""))
    for one in wrong:
        print(f"declared equivalent, but killed: {one['id']} by {one['killer']}")
    return not alive and not wrong


def parse(arguments):
    parser = argparse.ArgumentParser(usage=__doc__, add_help=False)
    parser.add_argument("verb", choices=["list", "build", "run", "pack", "table"])
    parser.add_argument("names", nargs="*")
    for name in ("build", "work", "kgate"):
        parser.add_argument(f"--{name}", type=lambda path: pathlib.Path(path).resolve())
    cores = len(os.sched_getaffinity(0))
    for name, fallback in {"seed": 1, "count": 40, "jobs": cores, "judges": cores, "gpus": 1, "case-timeout": 20,
                           "run-timeout": 600, "compile-timeout": 600, "deadline": 36000}.items():
        parser.add_argument(f"--{name}", type=int, default=fallback)
    parser.add_argument("--equivalent", type=pathlib.Path, default=HERE / "equivalent.txt")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--module", default="attention.so")
    parser.add_argument("--options", type=shlex.split, default=[])
    parser.add_argument("--rules", action="store_true")
    parser.add_argument("--only", type=lambda ids: ids.split(","))
    return parser.parse_args(arguments)


def main(arguments):
    options = parse(arguments)
    if options.verb == "list":
        for source in options.names:
            text = (ROOT / source).read_text()
            for change in itertools.islice(drawn(source, text, options.seed), options.count):
                about = described(change, text)
                print(f"{about['id']}  line {about['line']}  {about['kind']}  {about['before']}  ->  {about['after']}")
        return 0
    if options.verb == "table":
        return not write_tables(options.work, options.equivalent)
    build = Build(options.build, options.module)
    options.capped = not any(word.startswith("-fsanitize") for word in build.link)  # a sanitizer maps terabytes
    if options.verb == "pack":
        build.pack(options.names[0])
        return 0
    options.work.mkdir(parents=True, exist_ok=True)
    draws = [Draw(build, source, options.work, options) for source in options.names]
    build_all(draws, options)
    if options.verb == "build":
        return 0
    judge_all(draws, build, options.work, options)
    return not write_tables(options.work, options.equivalent)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
