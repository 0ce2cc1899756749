"""Opens, checks and corrects damaged documents of one format: `mutations.py FORMAT COUNT [FIRST_SEED]`.

Each must be corrected, and can be opened again then, or be refused with an `InputError`, in bounded time and
memory. Prints what did not, with its seed; exits with 1 if there was anything.
"""

import io
import random
import resource
import signal
import sys
import traceback
import zipfile
from contextlib import suppress

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
    return bytes(content)


def with_mutated_members(raw, chance):
    """An archive that is whole, but with members that are changed, missing, twice or under another name."""
    output = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(raw)) as old, zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            way = chance.randrange(12)
            content = mutated(old.read(name), chance) if way < 4 else old.read(name)
            if way != 4:
                new.writestr(name, content)
            if way == 5:
                new.writestr(chance.choice([name, f"{name}.xml", "../a"]), mutated(content, chance))
    return output.getvalue()


def corrected(format, seed):
    """Correct the document of a seed; raises whatever goes wrong."""
    chance = random.Random(seed)
    raw, _after = random_document(format, seed)
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
        return
    if is_archive:
        from_bytes(name, written)
        assert edits or written == raw, "nothing was corrected, but something changed"


def main(format, count, first=0):
    resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))

    def too_slow(number, frame):
        raise TimeoutError(f"longer than {_SECONDS} seconds")

    signal.signal(signal.SIGALRM, too_slow)
    failures = 0
    for seed in range(first, first + count):
        signal.alarm(_SECONDS)
        try:
            corrected(format, seed)
        except Exception:
            failures += 1
            print(f"{format}, seed {seed}:\n{traceback.format_exc()}", flush=True)
        finally:
            signal.alarm(0)
    return 1 if failures else 0


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
