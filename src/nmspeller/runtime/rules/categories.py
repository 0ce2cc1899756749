"""Under what clients of LanguageTool list the rules; ids and issue types are those of its own categories."""

from typing import NamedTuple

from nmspeller.messages import N_


class Category(NamedTuple):
    """A category of LanguageTool's own, with the issue type (of ITS 2.0) that its matches have."""

    id: str
    name: str
    issue_type: str


TYPOS = Category("TYPOS", N_("Wrong characters"), "misspelling")
REPETITIONS = Category("REPETITIONS", N_("Repetitions"), "duplication")
REDUNDANCY = Category("REDUNDANCY", N_("Redundant words"), "style")
NUMBERS = Category("SEMANTICS", N_("Numbers and dates"), "inconsistency")
CONSISTENCY = Category("STYLE", N_("Consistency"), "inconsistency")
NAMES = Category("PROPER_NOUNS", N_("Names"), "inconsistency")
PUNCTUATION = Category("PUNCTUATION", N_("Punctuation"), "typographical")
TYPOGRAPHY = Category("TYPOGRAPHY", N_("Typography"), "whitespace")
