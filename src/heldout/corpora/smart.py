"""The SMART format of the Cranfield and MED collections.

A line `.I n` opens record n; a line that holds a full stop and one of T, A, B, W opens a field of it (title,
author, bibliography, words). A field that is opened again goes on. Only the words are used.
"""

import re
from collections.abc import Mapping

from heldout.errors import InputError

RECORD = re.compile(r"\.I\s+(\d+)\s*")
FIELD = re.compile(r"\.([TABW])\s*")


def read_records(content: bytes, where: str) -> list[tuple[str, str]]:
    """Return (record number, text of its .W field) of every record, in the file's order.

    Line ends may be LF or CRLF; the text is read as Latin-1. An empty field gives an empty text.

    Raises:
        InputError: names the line: text outside a field, a field outside a record, a number used twice; or
            the file, when it has no record.
    """
    texts: dict[str, list[str]] = {}
    record = field = ""
    for number, line in enumerate(content.decode("latin-1").split("\n"), start=1):
        line = line.removesuffix("\r")
        if match := RECORD.fullmatch(line):
            record, field = match[1], ""
            if record in texts:
                raise InputError(f"{where}: line {number}: record {record} is there a second time")
            texts[record] = []
        elif match := FIELD.fullmatch(line):
            field = match[1]
            if not record:
                raise InputError(f"{where}: line {number}: field .{field} stands before the first record (.I)")
        elif not line.strip():
            continue
        elif not field:
            raise InputError(f"{where}: line {number}: text outside a field (.T, .A, .B, .W)")
        elif field == "W":
            texts[record].append(line)
    if not texts:
        raise InputError(f"{where}: no record (.I) in it")
    return [(record, "\n".join(lines)) for record, lines in texts.items()]


def read_texts(members: Mapping[str, bytes]) -> list[tuple[str, str]]:
    """Return `read_records` of every archive member, one member after the other."""
    return [record for name, content in members.items() for record in read_records(content, name)]
