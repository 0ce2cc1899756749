"""Common surnames, in both scripts, what stands behind one but is no given name, and where names may be."""

from collections.abc import Iterator

from nmspeller.text.hanzi import HANZI
from nmspeller.text.patterns import lazy_pattern

SURNAMES = (
    "王李张張刘劉陈陳杨楊黄黃赵趙吴吳周徐孙孫马馬朱胡郭何林罗羅郑鄭梁谢謝宋唐许許邓鄧韩韓冯馮曹彭曾肖蕭萧田董潘袁蔡"
    "蒋蔣余于杜叶葉程魏苏蘇吕呂丁沈任姚卢盧傅钟鍾姜崔谭譚廖范汪陆陸金石戴贾賈韦韋邱侯邹鄒熊孟秦阎閻薛江尹段雷黎史龙龍"
    "陶贺賀顾顧毛郝龚龔邵万萬钱錢严嚴赖賴武戚莫孔汤湯"
)
_COMPOUND = """
欧阳 歐陽 司马 司馬 诸葛 諸葛 上官 司徒 东方 東方 夏侯 皇甫 尉迟 尉遲 公孙 公孫 慕容 令狐 宇文 长孙 長孫 端木
独孤 獨孤 南宫 南宮 轩辕 軒轅 呼延 澹台 闾丘 太史 申屠 公冶 宗政 濮阳 濮陽 淳于 单于 單于 仲孙 仲孫 钟离 鍾離
第五 百里 拓跋 西门 西門
"""
COMPOUND_SURNAMES = frozenset(_COMPOUND.split())
# Characters that go between a name and its verb, or make the surname a word of its own.
NOT_IN_NAMES = (
    "也就又还還都却卻便只才再曾正没沒不的了在和对對向是这這那一说說道笑等们們先老总總某家太"
    "并並则則将將给給为為把被跟与與"
)
# A name may follow them in the middle of a clause.
_BEFORE_NAMES = "和跟与與同由叫给給找问問让讓请請被"
_NAME = lazy_pattern(
    rf"(?:(?<![{HANZI}])|(?<=[{_BEFORE_NAMES}]))[{SURNAMES}]((?:(?![{NOT_IN_NAMES}])[{HANZI}]){{1,2}})"
)


def given_names(text: str) -> Iterator[tuple[int, int]]:
    """The start and stop of what may be a given name: one or two characters behind a surname."""
    return (match.span(1) for match in _NAME.finditer(text))
