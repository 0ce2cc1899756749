"""Why an edit is proposed, in one sentence for people: how the characters relate, and what word is meant."""

from collections.abc import Callable
from dataclasses import dataclass

from nmspeller.knowledge.pinyin import Syllable, spelling
from nmspeller.messages import N_, _
from nmspeller.runtime.explain import closest_readings, heard, look_similar
from nmspeller.runtime.findings import Edit, Reason
from nmspeller.runtime.rules import RULES
from nmspeller.runtime.rules.vocabulary import words
from nmspeller.text.hanzi import is_hanzi
from nmspeller.text.script import Simplified, simplify

_NEIGHBOURS = 12  # characters on either side among which words are looked for
_LONGEST_WORD = 8

_PARTICLES = {
    "的": N_("的 follows an attribute and precedes the noun."),
    "地": N_("地 follows an adverbial and precedes the verb."),
    "得": N_("得 follows a verb or an adjective and precedes its complement."),
}
# By how the two characters sound, and whether they look similar.
_RELATIONS = {
    ("same", False): N_("{wrong} and {right} sound the same"),
    ("same", True): N_("{wrong} and {right} sound the same and look similar"),
    ("tone", False): N_("{wrong} and {right} differ only in tone"),
    ("tone", True): N_("{wrong} and {right} differ only in tone and look similar"),
    ("similar", False): N_("{wrong} and {right} sound similar"),
    ("similar", True): N_("{wrong} and {right} sound and look similar"),
    ("other", True): N_("{wrong} and {right} look similar"),
}


def why(text: str, edit: Edit) -> str:
    """One short sentence, in the present language, that explains the edit of a text."""
    if edit.reason is Reason.USER_LIST:
        return _("Your list of replacements has {target} for {source}.").format(
            source=edit.source, target=edit.target
        )
    if edit.reason in _TAGGED:
        return _TAGGED[edit.reason](text, edit)
    if edit.target in _PARTICLES and (edit.reason is Reason.DE or edit.rule == "de_pattern"):
        return _(_PARTICLES[edit.target])
    rule = RULES.get(edit.rule or "")
    if rule is not None and rule.id != "idiom":
        return _(rule.explanation)
    change = _Change.of(text, edit)
    return _sentence(change.relations(), change.conclusion())


def _missing(text: str, edit: Edit) -> str:
    if idiom := _Change.of(text, edit).idiom():
        return _("{target} is missing; the idiom is {idiom}.").format(target=edit.target, idiom=idiom)
    before = text[edit.offset - 1 : edit.offset]
    if not before or not is_hanzi(before):
        return _("{target} may be missing here.").format(target=edit.target)
    return _("{target} may be missing after {before}.").format(target=edit.target, before=before)


def _extra(text: str, edit: Edit) -> str:
    size = edit.length
    around = text[max(0, edit.offset - size) : edit.offset], text[edit.stop : edit.stop + size]
    said = _("{source} is written twice.") if edit.source in around else _("{source} may not belong here.")
    return said.format(source=edit.source)


def _swapped(text: str, edit: Edit) -> str:
    if idiom := _Change.of(text, edit).idiom():
        return _("The characters of {source} are in the wrong order; the idiom is {idiom}.").format(
            source=edit.source, idiom=idiom
        )
    return _("The characters of {source} may be in the wrong order; {target} fits the sentence.").format(
        source=edit.source, target=edit.target
    )


_TAGGED: dict[Reason, Callable[[str, Edit], str]] = {
    Reason.MISSING: _missing,
    Reason.EXTRA: _extra,
    Reason.SWAPPED: _swapped,
}


def _sentence(relations: list[str], conclusion: str) -> str:
    if not relations:
        return _("{clause}.").format(clause=conclusion)
    return _("{relation}; {conclusion}.").format(relation=_(", ").join(relations), conclusion=conclusion)


@dataclass(frozen=True)
class _Change:
    """An edit with the text around it, before and after; `start` is where the edit is in both."""

    edit: Edit
    start: int
    before: Simplified
    after: Simplified

    @classmethod
    def of(cls, text: str, edit: Edit) -> "_Change":
        left = text[max(0, edit.offset - _NEIGHBOURS) : edit.offset]
        right = text[edit.stop : edit.stop + _NEIGHBOURS]
        return cls(
            edit, len(left), simplify(left + edit.source + right), simplify(left + edit.target + right)
        )

    def relations(self) -> list[str]:
        """What each exchanged character has in common with the one it replaces."""
        return [relation for place in self._exchanged() if (relation := self._relation(place))]

    def conclusion(self) -> str:
        """The word that the edit makes, or what fits the sentence."""
        source, target = self.edit.source, self.edit.target
        if not source:
            return _("{target} is missing here").format(target=target)
        if not target:
            return _("{source} does not belong here").format(source=source)
        if idiom := self.idiom():
            return _("the idiom is {idiom}").format(idiom=idiom)
        word = self._word()
        if word is None:
            return _("{target} fits the sentence better").format(target=target)
        shown = self.after.source[word]
        in_source = slice(word.start, word.stop + len(source) - len(target))
        if _is_word(self.before.text[in_source]):
            return _("{target} fits the sentence better than {source}").format(
                target=shown, source=self.before.source[in_source]
            )
        return _("{word} is a word").format(word=shown)

    def idiom(self) -> str | None:
        """The idiom that the edit makes."""
        word = self._word()
        return self.after.source[word] if word and self.after.text[word] in words().idioms else None

    def _exchanged(self) -> list[int]:
        """Where one character has replaced another."""
        if len(self.edit.source) != len(self.edit.target):
            return []
        pairs = zip(self.edit.source, self.edit.target, strict=True)
        return [place for place, (wrong, right) in enumerate(pairs, self.start) if wrong != right]

    def _relation(self, place: int) -> str | None:
        """What two characters have in common, judged in Simplified and shown as they are written."""
        wrong, right = self.before.text[place], self.after.text[place]
        readings = closest_readings(wrong, right)
        relation = _RELATIONS.get((_kind_of_sound(readings), look_similar(wrong, right)))
        if relation is None:
            return None
        ours, theirs = readings or (None, None)
        return _(relation).format(
            wrong=_read(self.before.source[place], ours), right=_read(self.after.source[place], theirs)
        )

    def _word(self) -> slice | None:
        """The longest word with a changed character in it: 天气 rather than 今天天气, but a whole idiom."""
        changed = self._exchanged() or range(self.start, self.start + len(self.edit.target))
        for is_word in (_is_short_word_or_idiom, _is_word):
            with_change = [
                (start, stop)
                for start, stop in _words_in(self.after.text, is_word)
                if any(start <= place < stop for place in changed)
            ]
            if with_change:
                return slice(*max(with_change, key=lambda bounds: bounds[1] - bounds[0]))
        return None


def _kind_of_sound(pair: tuple[Syllable, Syllable] | None) -> str:
    likeness = heard(*pair) if pair else Reason.CONTEXT
    if likeness is Reason.SIMILAR_SOUND:
        ours, theirs = (syllable._replace(tone=0) for syllable in pair or ())
        return "tone" if ours == theirs else "similar"
    return "same" if likeness is Reason.SAME_SOUND else "other"


def _read(character: str, reading: Syllable | None) -> str:
    """A character with its reading."""
    if reading is None:
        # Translators: add the quotation marks in which your language cites a character, if any.
        return _("{character}").format(character=character)
    return _("{character} {pinyin}").format(character=character, pinyin=spelling(reading))


def _words_in(text: str, is_word: Callable[[str], bool]) -> list[tuple[int, int]]:
    """Start and stop of the words of two or more characters, where the text is cut into the fewest pieces."""
    fewest = [0]
    starts = [0]
    for stop in range(1, len(text) + 1):
        count, start = min(
            (fewest[start] + 1, start)
            for start in range(max(0, stop - _LONGEST_WORD), stop)
            if start == stop - 1 or is_word(text[start:stop])
        )
        fewest.append(count)
        starts.append(start)
    found = []
    stop = len(text)
    while stop:
        if stop - starts[stop] > 1:
            found.append((starts[stop], stop))
        stop = starts[stop]
    return found


def _is_short_word_or_idiom(text: str) -> bool:
    return text in words().short_words or text in words().idioms


def _is_word(text: str) -> bool:
    return text in words().short_words or text in words().long_words
