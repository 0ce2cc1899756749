"""Damaged Office files: one sentence in the user's language, without the words of a library."""

import pytest
from word_files import package, with_members

from nmspeller.apps.documents.document import from_bytes
from nmspeller.errors import InputError
from nmspeller.messages import speaking

RAW = package("<w:p><w:r><w:t>我门很好</w:t></w:r></w:p>")
BODY = "word/document.xml"
MEMBER = RAW.index(b"PK\x01\x02")  # the first one, in the directory of the archive


def with_byte(at, value):
    return RAW[:at] + bytes([value]) + RAW[at + 1 :]


NO_ARCHIVE = "(no whole zip archive).", "（不是完整的 zip 压缩包）。"
DAMAGED = (
    "(its content is damaged or written in an unusual way).",
    "（内容已损坏，或写法特殊）。",
)


@pytest.mark.parametrize(
    ("raw", "sentences"),
    [
        (b"PK\x03\x04 broken", NO_ARCHIVE),
        (RAW[:-10], NO_ARCHIVE),
        (with_members(RAW, {BODY: "<a><b></a>"}), DAMAGED),
        (with_members(RAW, {BODY: ""}), DAMAGED),
        (with_members(RAW, {BODY: '<?xml version="1.0" encoding="klingon"?><a/>'}), DAMAGED),
        (with_members(RAW, {"_rels/.rels": "nonsense"}), DAMAGED),
        (with_byte(60, RAW[60] ^ 0xFF), DAMAGED),  # compressed content
        (with_byte(MEMBER + 10, 99), DAMAGED),  # the method of compression
        (with_byte(MEMBER + 6, 99), DAMAGED),  # the version that is needed
    ],
)
def test_what_is_wrong_is_said_in_the_language_of_the_user(raw, sentences):
    for language, sentence in zip(("en", "zh"), sentences, strict=True):
        with speaking(language), pytest.raises(InputError) as wrong:
            from_bytes("a.docx", raw)
        beginning = {
            "en": "a.docx is not a Word document that can be read ",
            "zh": "a.docx 不是可读取的 Word 文档",
        }
        assert str(wrong.value) == beginning[language] + sentence


def test_a_member_with_a_password_is_one():
    with pytest.raises(InputError, match=r"^a\.docx has a password; save it without"):
        from_bytes("a.docx", with_byte(MEMBER + 8, 1))
