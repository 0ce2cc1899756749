"""Words that people misspell on purpose."""

from nmspeller.text.slang import slang_ranges


def test_slang_is_found_where_it_stands():
    text = "真的泰裤辣，连歪果仁都说泰裤辣"
    assert [text[start:stop] for start, stop in slang_ranges(text)] == ["泰裤辣", "歪果仁", "泰裤辣"]
    assert slang_ranges("这本书很好看") == []
