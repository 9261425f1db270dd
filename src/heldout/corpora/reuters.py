"""The SGML format of Reuters-21578, distribution 1.0 (Lewis, 1997).

A story stands in one REUTERS element, whose NEWID attribute numbers it; elements are not nested. Only the BODY is used,
which about one story in eight lacks. Characters that SGML reserves are written as entities, and so are the control
characters of the wire. Nearly every body ends in the agency's name on a line of its own: that signature is not read.
"""

import html
import re
from collections.abc import Mapping

from heldout.errors import InputError

STORY = re.compile(r"<REUTERS\b([^>]*)>(.*?)</REUTERS>", re.DOTALL)
NUMBER = re.compile(r'\bNEWID="(\d+)"')
BODY = re.compile(r"<BODY>(.*?)</BODY>", re.DOTALL)
CONTROL = re.compile(r"&#\d+;")
SIGNATURE = re.compile(r"\n\s*reuters?[\s.]*(?:\^m)?\s*$", re.IGNORECASE)  # (some files keep a carriage return as ^M)


def read_stories(content: bytes, where: str) -> list[tuple[str, str]]:
    """Return (NEWID, text of its body) of every story that has a body, in the file's order.

    The file is read as Latin-1, which accepts every byte. A control character becomes a blank.

    Raises:
        InputError: names the file where no whole story is in it or the last one is cut off, or the story: without a
            number, with a number used before, or with a body that does not end.
    """
    sgml = content.decode("latin-1")
    stories = STORY.findall(sgml)
    if not stories or len(stories) != len(re.findall(r"<REUTERS\b", sgml)):
        raise InputError(
            f"{where}: {len(stories)} whole stories (REUTERS elements) in it; expected all, and one or more"
        )
    texts: dict[str, str] = {}
    seen = set()
    for place, (attributes, story) in enumerate(stories, start=1):
        number = NUMBER.search(attributes)
        if number is None or number[1] in seen:
            raise InputError(f"{where}: story {place}: a NEWID that is missing or was used before; expected a new one")
        seen.add(number[1])
        bodies = BODY.findall(story)
        if len(bodies) > 1 or len(bodies) != story.count("<BODY>"):
            raise InputError(f"{where}: story {number[1]}: expected at most one BODY, whole")
        for body in bodies:
            texts[number[1]] = SIGNATURE.sub("", html.unescape(CONTROL.sub(" ", body)))
    return list(texts.items())


def read_texts(members: Mapping[str, bytes]) -> list[tuple[str, str]]:
    """Return `read_stories` of every archive member, in name order, which is the order of the stories.

    Raises:
        InputError: as `read_stories` does, or when two members give stories the same number.
    """
    texts = [story for name in sorted(members) for story in read_stories(members[name], name)]
    numbers = [number for number, _ in texts]
    if len(set(numbers)) != len(numbers):
        raise InputError("Reuters: two files hold a story of the same NEWID; expected every story once")
    return texts
