"""Opens, checks and corrects damaged documents: `mutations.py FORMAT COUNT [FIRST_SEED [FILE]]`.

Each must be corrected, and can be opened again then, or be refused with an `InputError`, in bounded time and
memory. The documents are random ones; with a file, every second one is a damaged copy of it. Prints what
failed, with its seed, and in the last line, as JSON, how many were corrected and refused and how long the
slowest took; exits with 1 if any failed.
"""

import io
import json
import random
import resource
import signal
import sys
import time
import traceback
import zipfile
from copy import deepcopy
from pathlib import Path

from lxml import etree
from random_documents import FORMATS
from random_documents import document as random_document
from random_tokens import ErrorChecker

from nmspeller.apps.documents.document import check, from_bytes
from nmspeller.errors import InputError

_SECONDS = 20
_BYTES = 2 << 30
_STRANGE = [
    b"\0", b"\xff\xfe", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\r", b"<", b"&", b"&#0;", b"&#x110000;", b"]]>",
    b"<![CDATA[", b"<!--", b"<!DOCTYPE a>", b"PK\x05\x06", b"PK\x03\x04", b"{", b"}", b"\\", b"$",
    b'"', b"'''", b"`" * 50, b"*" * 50, b"[" * 50, b"\n" * 50,
    "漏".encode(), "漏".encode("gb18030"), "漏".encode("utf-16-le"),
]  # fmt: skip


def mutated(raw, chance):
    """Some bytes with a few random changes."""
    content = bytearray(raw)
    for _ in range(chance.choice([1, 1, 2, 5, 20])):
        at, length = chance.randrange(len(content) + 1), chance.choice([1, 1, 2, 8, 100])
        way = chance.randrange(6)
        if way == 0:
            content[at : at + length] = chance.randbytes(length)
        elif way == 1:
            del content[at : at + length]
        elif way == 2:
            content[at:at] = chance.choice(_STRANGE)
        elif way == 3:
            start = chance.randrange(len(content) + 1)
            content[at:at] = content[start : start + length]
        elif way == 4:
            content[at:at] = content[at : at + length] * chance.choice([2, 50])
        elif content[at : at + 1]:
            content[at] ^= 1 << chance.randrange(8)
    # What is no longer UTF-8 is mostly refused at once, so half of what was it stays it.
    return bytes(content).decode(errors="ignore").encode() if chance.random() < 0.5 else bytes(content)


def rearranged(xml, chance):
    """XML that is well-formed, but with elements that are moved, missing, repeated or something else."""
    try:
        root = etree.fromstring(xml)
    except etree.XMLSyntaxError:
        return mutated(xml, chance)
    elements = [element for element in root.iter() if isinstance(element.tag, str)]
    for _ in range(chance.choice([1, 2, 5])):
        one, other = chance.choice(elements), chance.choice(elements)
        way = chance.randrange(5)
        if way == 0:
            other.append(deepcopy(one))
        elif way == 1 and one.getparent() is not None:
            one.getparent().remove(one)
        elif way == 2:
            one.tag = other.tag
        elif way == 3:
            one.attrib.update(other.attrib)
        else:
            one.text, one.tail = other.tail, other.text
    return etree.tostring(root, encoding=chance.choice(["utf-8", "utf-16", "gb18030"]))


def with_mutated_members(raw, chance):
    """An archive that is whole, but with members that are changed, missing, twice or under another name."""
    output = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as old, zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            way = chance.randrange(12)
            damage = chance.choice([mutated, rearranged])
            content = damage(old.read(name), chance) if way < 4 else old.read(name)
            if way != 4:
                new.writestr(name, content)
            if way == 5:
                new.writestr(chance.choice([name, f"{name}.xml", "../a"]), mutated(content, chance))
    return output.getvalue()


def corrected(format, seed, file=None):
    """Correct the document of a seed, and return whether it was not refused; raises whatever goes wrong."""
    chance = random.Random(seed)
    raw = file if file and seed % 2 else random_document(format, seed)[0]
    is_archive = zipfile.is_zipfile(io.BytesIO(raw))
    damage = with_mutated_members if is_archive and chance.random() < 0.7 else mutated
    raw = damage(raw, chance)
    name = FORMATS[format]
    try:
        document = from_bytes(name, raw)
        edits = check(ErrorChecker(), document).edits
        written = document.with_edits(edits)
        if format == "docx":
            from_bytes(name, document.with_edits(edits, track=True))
    except InputError:
        return False
    if is_archive:
        from_bytes(name, written)
        assert edits or written == raw, "nothing was corrected, but something changed"
    return True


def main(format, count, first=0, file=None):
    resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))

    def too_slow(number, frame):
        raise TimeoutError(f"longer than {_SECONDS} seconds")

    signal.signal(signal.SIGALRM, too_slow)
    counts = {"corrected": 0, "refused": 0, "failed": 0}
    slowest = 0.0
    for seed in range(first, first + count):
        signal.alarm(_SECONDS)
        began = time.process_time()
        try:
            outcome = "corrected" if corrected(format, seed, file) else "refused"
        except Exception:
            outcome = "failed"
            print(f"{format}, seed {seed}:\n{traceback.format_exc()}", flush=True)
        finally:
            signal.alarm(0)
        counts[outcome] += 1
        slowest = max(slowest, time.process_time() - began)
    print(json.dumps({**counts, "slowest_seconds": slowest}))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    format, *numbers = sys.argv[1:4]
    file = Path(sys.argv[4]).read_bytes() if sys.argv[4:] else None
    sys.exit(main(format, *map(int, numbers), file=file))
