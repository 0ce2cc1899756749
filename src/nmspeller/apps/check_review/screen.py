"""What the terminal shows during a review: lines that stay when one scrolls back, and a prompt below them."""

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.control import Control
from rich.segment import ControlType
from rich.text import Text

from nmspeller.apps.reports.findings import Doubt, Finding, visible
from nmspeller.apps.reports.terminal import doubt_row, printable
from nmspeller.messages import N_, _
from nmspeller.text.windows import LINE_END, sentences

KEYS = (
    ("a, Enter", N_("accept the replacement")),
    ("1-9", N_("accept another candidate")),
    ("e", N_("type a replacement")),
    ("s", N_("skip this finding")),
    ("i", N_("skip all findings equal to it")),
    ("w", N_("add a word to my words")),
    ("u", N_("undo the last decision")),
    ("q, Ctrl-C", N_("quit, and continue later")),
    ("?", N_("show these keys")),
)
_REACH = 400  # characters around a finding among which its sentence is
_LINES = 4  # of the terminal, for a sentence


class Screen:
    """Writes to standard output."""

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(highlight=False, emoji=False, markup=False)
        self._moves = not self._console.is_dumb_terminal
        self._prompted = False

    def heading(self, name: str) -> None:
        self.say("")
        self.say(printable(name), style="bold")

    def say(self, text: str | Text, style: str = "") -> None:
        """A line that stays."""
        self.clear_prompt()
        self._console.print(text, style=style, overflow="fold")

    def note(self, text: str, style: str = "dim") -> None:
        """What came of a key."""
        self.say(f"  {text}", style)

    def keys(self) -> None:
        width = max(cell_len(key) for key, _text in KEYS)
        for key, text in KEYS:
            self.say(Text.assemble("  ", (key.ljust(width), "bold"), "  ", _(text)))

    def finding(self, text: str, one: Finding, candidates: tuple[str, ...], heading: str) -> None:
        """One finding: its number and place, its sentence, the replacement, other candidates."""
        self.say("")
        self.say(heading, style="dim")
        self.say(self._sentence(text, one))
        change = Text.assemble(
            "  ",
            (printable(visible(one.source)), "bold red"),
            " → ",
            (printable(visible(one.target)), "bold green"),
            (f"  {one.reason}  {one.confidence:.2f}", "dim"),
        )
        self.say(change)
        if candidates:
            others = Text("  ")
            for key, candidate in enumerate(candidates, 1):
                others.append(f"{key} ", style="dim").append(f"{printable(candidate)}   ")
            others.rstrip()
            self.say(others)

    def doubt(self, one: Doubt, place: str) -> None:
        """A hint, as `check` shows it."""
        self.say(doubt_row(one, place), style="yellow")

    def prompt(self, text: str) -> None:
        """A line that the next one replaces."""
        self.clear_prompt()
        narrow = max(self._console.width - 1, 1)
        shown = text if cell_len(text) <= narrow else set_cell_size(text, narrow)
        self._console.print(Text(shown, style="bold"), end="", soft_wrap=True)
        self._console.file.flush()
        self._prompted = True

    def clear_prompt(self) -> None:
        if self._prompted:
            if self._moves:
                self._console.control(Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2)))
            else:
                self._console.line()
            self._prompted = False

    def _sentence(self, text: str, one: Finding) -> Text:
        """The finding's sentence with the wrong text marked, or what of it fits into a few lines."""
        start, stop = _sentence_bounds(text, one)
        room = max((self._console.width - 2) * _LINES - 2, 8) - cell_len(one.source)
        before = _last_cells(printable(text[start : one.offset]), room // 2)
        rest = printable(text[one.offset + one.length : stop])
        after = _first_cells(rest, room - cell_len(before))
        shown = Text()
        if len(before) < one.offset - start:
            shown.append("…", style="dim")
        wrong = printable(one.source) or "‸"
        # Where there are no styles at all, brackets mark the place.
        shown.append(before).append(
            wrong if self._console.color_system or self._console.no_color else f"【{wrong}】",
            style="bold reverse red",
        )
        shown.append(after)
        if len(after) < len(rest):
            shown.append("…", style="dim")
        lines = Text("\n").join(_folded(shown, self._console.width - 2))
        return Text("\n").join(Text("  ").append_text(line) for line in lines.split("\n"))


def _sentence_bounds(text: str, one: Finding) -> tuple[int, int]:
    start, end = max(one.line_start, one.offset - _REACH), one.offset + one.length
    line_end = LINE_END.search(text, end, end + _REACH)
    stop = line_end.start() if line_end else min(end + _REACH, len(text))
    for first, last in sentences(text[start:stop]):
        if start + first <= one.offset < start + last:
            return start + first, max(start + last, end)
    return start, stop


def _first_cells(text: str, cells: int) -> str:
    stop = 0
    while stop < len(text) and (cells := cells - cell_len(text[stop])) >= 0:
        stop += 1
    return text[:stop]


def _last_cells(text: str, cells: int) -> str:
    return _first_cells(text[::-1], cells)[::-1]


def _folded(text: Text, width: int) -> list[Text]:
    """The text in lines of at most `width` cells, broken anywhere: Chinese has no spaces to break at."""
    lines, start = [], 0
    while start < len(text):
        stop = start + max(len(_first_cells(text.plain[start:], width)), 1)
        lines.append(text[start:stop])
        start = stop
    return lines
