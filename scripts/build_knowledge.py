"""Build the tables that nmspeller ships, so that a user needs neither fonts nor pypinyin.

The same sources give the same bits every time:

    python scripts/build_knowledge.py script

writes src/nmspeller/text/script_characters.txt from OpenCC.
"""

import sys
from pathlib import Path

import opencc

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "nmspeller"
UNIFIED_IDEOGRAPHS = [chr(code) for code in (*range(0x3400, 0x4DC0), *range(0x4E00, 0xA000))]


def is_everyday(character: str, codec: str, first: bytes, last: bytes) -> bool:
    """Whether the character is in the first, common, level of a national standard."""
    try:
        return first <= character.encode(codec) <= last
    except UnicodeEncodeError:
        return False


def build_script() -> None:
    """Two lines: characters that are only Traditional, characters that are only Simplified.

    OpenCC changes 后 to 後, and yet 后 is a Traditional character too: one that everyday writing in the other
    script uses tells nothing.
    """
    to_simplified, to_traditional = opencc.OpenCC("t2s").convert, opencc.OpenCC("s2t").convert
    traditional = [
        character
        for character in UNIFIED_IDEOGRAPHS
        if to_simplified(character) != character
        and not is_everyday(character, "gb2312", b"\xb0\xa1", b"\xd7\xf9")
    ]
    simplified = [
        character
        for character in UNIFIED_IDEOGRAPHS
        if to_traditional(character) != character
        and to_simplified(character) == character
        and not is_everyday(character, "big5", b"\xa4\x40", b"\xc6\x7e")
    ]
    (PACKAGE / "text" / "script_characters.txt").write_text(
        "".join(traditional) + "\n" + "".join(simplified) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    for name in sys.argv[1:] or ["script"]:
        {"script": build_script}[name]()
