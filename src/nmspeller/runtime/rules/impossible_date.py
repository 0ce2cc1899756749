"""Dates and times that no calendar and no clock has: 2024年13月5日, 四月三十一日, 晚上25:61."""

from calendar import monthrange
from collections.abc import Iterator, Sequence

from nmspeller.messages import N_
from nmspeller.runtime.rules.categories import NUMBERS as CATEGORY
from nmspeller.runtime.rules.chinese_numerals import NUMERALS, value
from nmspeller.runtime.rules.closed import NUMBERS, Closed
from nmspeller.runtime.rules.rule import Example, Group, Note, Rule, RuleMatch, replace
from nmspeller.text.patterns import lazy_pattern
from nmspeller.text.protect import Span

# 三十一 has three numerals; four are a year whose 年 is missing: 一三零二月.
_NUMBER = f"[0-9]{{1,2}}|[{NUMERALS}]{{1,3}}"
# The end of a date is looked for first, and what stands before it then: 月 is rarer than a numeral.
_END = lazy_pattern(f"月(?:(?P<day>{_NUMBER})[日号號](?![线線店楼樓文令别別院馆館])|(?![0-9{NUMERALS}]))")
_BEGIN = lazy_pattern(
    f"(?:(?<![0-9{NUMERALS}])(?P<year>[12][0-9]{{3}}|[一二][{NUMERALS}]{{3}})年)?"
    f"(?<![0-9{NUMERALS}/.~～—–至到-])(?P<month>{_NUMBER})\\Z"
)
_LONGEST_BEGIN = 10
# Without a digit there is no match of the two behind it: most texts are passed over after a glance.
_DIGIT = lazy_pattern("[0-9]")
_ISO_DATE = lazy_pattern(
    "(?<![0-9A-Za-z./_-])(?P<year>(?:19|20)[0-9]{2})(?P<sign>[-/])(?P<month>[0-9]{1,2})(?P=sign)(?P<day>[0-9]{1,2})"
    "(?![0-9A-Za-z/_-])"
)
# 25:61 may be a score, a ratio or the length of a film; it is a time after a word for one.
_CLOCK = lazy_pattern(
    "(?:[上中下]午|[晚早]上|[凌清]晨|傍晚|[日号號]|定于|(?:[时時][间間刻])[是为為]?)[ \u00a0]?"
    "(?P<time>(?P<hour>[0-9]{1,2})(?:[:：](?P<minute>[0-9]{2})(?![0-9:：])|[时時点點](?P<spoken>[0-9]{2})分(?!之)))"
)
# Months of the old calendar have 29 or 30 days, whatever their number.
_LUNAR = lazy_pattern(
    "[农農阴陰旧舊夏][历曆]|[元一二三四五六七八九十子丑寅卯辰巳午未申酉戌亥]年|帝|王|公元前|[闰閏]|"
    "康熙|雍正|乾隆|嘉[庆慶]|道光|咸[丰豐]|同治|光[绪緒]|宣[统統]|洪武|永[乐樂]|[万萬][历曆]|崇[祯禎]"
)
# Calendars with other months, or with other leap years.
_FOREIGN = lazy_pattern("[藏傣彝回][历曆]|伊斯[兰蘭][历曆]|波斯[历曆]|儒略[历曆]|希伯[来來][历曆]")
# A number of a thing may look like a date.
_NUMBERED = lazy_pattern("(?:[编編批型序单單文][号號]|代[码碼]|[编編][码碼])(?:[为為是]|[:：])?[ \u00a0]?\\Z")
_NEARBY = 12
# Who doubts a date, quotes it, or gives it as an example of a wrong one, knows that there is none.
_NAMED_WRONG = lazy_pattern("不存在|不合法|非法|无效|無效|错误|錯誤|不正确|不正確|[没沒]有\\Z|[《“‘「『]\\Z")
_DOUBTED = lazy_pattern("[”」』]?(?:[吗嗎呢么麼]|[？?！!])")
_LUNAR_DAYS = 30
_LUNAR_NUMERALS = frozenset("廿卅")
_TWO_MONTHS = "九十"
# 〇月〇日 is a form to be filled in.
_BLANKS = "〇零"
_LEAP_YEAR = 2000
_MONTHS, _HOURS, _MINUTES = 12, 24, 60
# 昨日98:87 is a score: who mistypes a time hardly writes a later hour.
_LATEST_HOUR = 29


class ImpossibleDate(Rule):
    """Hints at dates and times that do not exist; which one is meant only the writer knows."""

    id = "impossible_date"
    name = N_("Impossible date or time")
    explanation = N_("There is no such date or time.")
    category = CATEGORY
    group = Group.SPELLING
    is_precise = True
    example = Example("会议改到2024年4月31日召开。", None)

    def matches(self, text: str, protected: Sequence[Span]) -> Iterator[RuleMatch]:
        closed = Closed(protected, but=NUMBERS)
        end = 0
        for start, stop, note in sorted(_doubtful(text)):
            if start >= end and not closed.overlaps(start, stop) and not _may_be_right(text, start, stop):
                yield replace(self, text, start, stop, None, note)
                end = stop


def _doubtful(text: str) -> Iterator[tuple[int, int, Note]]:
    for date_end in _END.finditer(text):
        before = max(0, date_end.start() - _LONGEST_BEGIN)
        begin = _BEGIN.search(text[before : date_end.start()])
        if begin and (begin["year"] or date_end["day"]):
            start = before + begin.start()
            note = _doubt_of_date(begin["year"], begin["month"], date_end["day"], _is_lunar(text, start))
            if note:
                yield start, date_end.end(), note
    if not _DIGIT.search(text):
        return
    for match in _ISO_DATE.finditer(text):
        if note := _doubt_of_date(match["year"], match["month"], match["day"], False):
            yield *match.span(), note
    for match in _CLOCK.finditer(text):
        hour, minute = int(match["hour"]), int(match["minute"] or match["spoken"])
        if _HOURS < hour <= _LATEST_HOUR or (hour <= _HOURS and minute >= _MINUTES):
            yield *match.span("time"), Note(N_("Hours go up to 24 and minutes up to 59."))


def _may_be_right(text: str, start: int, stop: int) -> bool:
    nearby = max(0, start - _NEARBY)
    is_named = any(naming.search(text, nearby, start) for naming in (_NAMED_WRONG, _FOREIGN, _NUMBERED))
    return is_named or _DOUBTED.match(text, stop) is not None


def _is_lunar(text: str, start: int) -> bool:
    return _LUNAR.search(text, max(0, start - _NEARBY), start) is not None


def _doubt_of_date(year: str | None, month: str, day: str | None, may_be_lunar: bool) -> Note | None:
    number = value(month)
    if number is None or month in (_TWO_MONTHS, *_BLANKS):
        return None
    if not 1 <= number <= _MONTHS:
        return Note(N_("There is no month {month}."), (("month", month),))
    # Historians write 1644年三月三十日 for a day of the old calendar.
    is_of_two_kinds = year is not None and year.isdigit() and year.isascii() and not (day or month).isascii()
    may_be_lunar = (may_be_lunar and not year) or is_of_two_kinds or not _LUNAR_NUMERALS.isdisjoint(day or "")
    date = value(day) if day else 1
    days = monthrange((value(year) if year else None) or _LEAP_YEAR, number)[1]
    if date is None or 1 <= date <= (max(days, _LUNAR_DAYS) if may_be_lunar else days):
        return None
    return Note(N_("This month has {days} days."), (("days", str(days)),))
