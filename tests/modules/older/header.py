#!/usr/bin/env python3
"""header.py -- the structs of kgate.h as lists of members: they grow at their end only, and shortened ones make an older
header.

    header.py grows OLDER NEWER               complains of a struct of OLDER that NEWER does not begin with
    header.py shorten HEADER OUT STRUCT...    writes HEADER without the last member of each STRUCT"""
import pathlib
import re
import sys

COMMENT = re.compile(r"/\*.*?\*/", re.S)
STRUCT = re.compile(r"^(?:typedef )?struct (\w+) \{\n(.*?)^\}", re.S | re.M)


def members(text):
    """{struct: its members}; what is `reserved` at an end is room for others."""
    structs = {}
    for name, body in STRUCT.findall(COMMENT.sub("", text)):
        of = [" ".join(member.split()) for member in body.split(";")[:-1]]
        structs[name] = of[:-1] if " reserved[" in of[-1] else of
    return structs


def complaints(older, newer):
    was, now = members(older), members(newer)
    assert len(was) > 20, "not a kgate.h"
    return [f"{name}: no longer begins with {'; '.join(of)}" for name, of in was.items()
            if now.get(name, [])[:len(of)] != of]


def shorten(text, name):
    body = STRUCT.search(text, re.search(rf"^(?:typedef )?struct {name} \{{", text, re.M).start())
    bare = COMMENT.sub(lambda comment: " " * len(comment[0]), body[2])
    end = bare.rstrip().rstrip(";").rfind(";") + 1
    return text[:body.start(2) + end] + "\n" + text[body.end(2):]


def grows(older, newer):
    """The names of structs that break the rule; what a fault looks like is tried first."""
    for name in ("kg_op", "kg_host"):
        shorter = shorten(newer, name)
        assert not complaints(shorter, newer) and complaints(newer, shorter)[0].startswith(name + ":")
    assert complaints(newer, newer.replace("double mean_abs;", "double median_abs;"))
    return complaints(older, newer)


if __name__ == "__main__":
    if sys.argv[1] == "grows":
        found = grows(*(pathlib.Path(path).read_text() for path in sys.argv[2:4]))
        sys.exit("\n".join(found) or 0)
    header = pathlib.Path(sys.argv[2]).read_text()
    for struct in sys.argv[4:]:
        header = shorten(header, struct)
    pathlib.Path(sys.argv[3]).write_text(header)
