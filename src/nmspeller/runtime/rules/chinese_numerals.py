"""Small numbers in Chinese numerals or digits, as dates and times have them."""

NUMERALS = "〇零一二三四五六七八九十廿卅"
_DIGITS = {numeral: value for value, numeral in enumerate("零一二三四五六七八九")} | {"〇": 0}
_TENS = {"十": 1, "廿": 2, "卅": 3}


def value(number: str) -> int | None:
    """The value of a number below 100, or of a year written digit by digit; None where it is neither."""
    if number.isdecimal():
        return int(number)
    for sign, tens in _TENS.items():
        before, ten, after = number.partition(sign)
        if ten and len(before) <= (sign == "十") and len(after) <= 1:
            first, last = _DIGITS.get(before or "一"), _DIGITS.get(after or "零")
            if first is not None and last is not None:
                return 10 * (first if sign == "十" else tens) + last
            return None
    digits = [_DIGITS.get(numeral) for numeral in number]
    # 七八月 are two months.
    if not digits or None in digits or (len(digits) == 2 and digits[0]):
        return None
    return int("".join(map(str, digits)))
