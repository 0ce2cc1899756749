import pytest

from nmspeller.runtime.rules import RULES, RuleMatch
from nmspeller.text.protect import protected_spans


def matches(rule, text):
    return list(RULES[rule].matches(text, protected_spans(text)))


def test_offset_of_a_doubled_character():
    assert matches("doubled_character", "这是我的的书。") == [RuleMatch(4, 1, "的", "", "doubled_character")]


@pytest.mark.parametrize(
    "right",
    [
        "你看看，慢慢走，妈妈谢谢你。",
        "人人都好，天天都来，刚刚好好的。",
        "事情就不了了之了。",
        "小时了了，大未必佳。",
        "小时了了谓年幼时聪明。",
        "那个女的的名字。",
        "用不着着慌。",
        "我受不了了，他来得了了吗？",
        "为了了解情况，他去了。",
        "目的的确定很难。",
        "他的的确确来过。",
        "我们坐爸爸的的士去。",
        "的的喀喀湖很美。",
        "这就是今天的的黎波里和当年的的里雅斯特。",
        "是是非非，说不清楚。",
        "的确良衣服，我的的确良衣服。",
        "舒舒服服地睡。",
        "一根根，一部部，一件件。",
        "取消消费税。",
        "中国国家队。",
        "吉尔吉斯斯坦。",
        "他在寻找着着陆场。",
        "蚕丝被被弄脏了。",
        "李冰冰和范冰冰来了。",
        "亮晶晶的星星。",
        "這是老師的的確確說過的。",
        "為了瞭解情況。",
    ],
)
def test_reduplication_is_right(right):
    assert matches("doubled_character", right) == []
    assert matches("doubled_word", right) == []


@pytest.mark.parametrize(
    "right",
    [
        "人人为我，我为人人。",
        "你们救了我们我们还怀疑你们。",
        "我们，我们去。",
        "因为因为……我害怕。",
        "“因为因为，我不想去。”他结结巴巴地说。",
        "但是但是那个还没有准备好",
        "现在的这些这些，都来自过去的那些那些经历。",
        "这个计划是根据根据地的情况制定的。",
        "他把药一种一种地试过了。",
        "乐队正在进行进行曲的练习。",
        "学校公布了通过通过率计算的成绩。",
    ],
)
def test_words_of_two_clauses_and_stutters_are_right(right):
    assert matches("doubled_word", right) == []


@pytest.mark.parametrize(
    "right",
    [
        "他现在在家。",
        "但是是否回来还不知道。",
        "这是实实在在的事。",
        "民主和和平都很重要。",
        "一对对情侣走过。",
        "证据在在说明问题。",
        "自以为是是缺点。",
        "他从从容容地走了。",
        "一把把椅子摆好了。",
        "他今天打牌把把赢，手气真好。",
        "这盘棋他还着着记得。",
        "山上的植被被破坏了。",
        "这批木材已被被告人卖掉。",
        "这样是不好的的说。",
        "这部电影的导演是是枝裕和。",
        "他恶很很地看了我一眼。",
        "他又很很的骂了几句。",
        "呃是是蚊子咬的。",
        "他是是来…帮忙的。",
        "“我是是来帮忙的。”他说。",
        "那件衣服很很好看吧",
        "经常打飞的的人要买保险。",
        "请老爷赏小的的脸。",
        "这件事在他心里了了分明。",
        "工程正着着进行，敌人不着着防备。",
        "今天又了了一件心事，可以说一了百了了。",
        "记者采访了滴滴快的的负责人。",
        "杭州是一个很热闹的的方。",
        "以上内容或或少地说明了问题。",
        "请求经路由由网关转发。",
        "他不由由衷地感叹。",
        "这是点睛之的的写法。",
        "那支破的的箭还插着，箭中的的声音很响。",
        "开出租的的姐很辛苦。",
        "句子里的的字用错了，老师讲了的的用法。",
        "爷们们和哥们们都来了，娘们们也来了。",
        "现在的问题是是先走还是先吃。",
        "他想知道的是是谁干的。",
        "他想的是是坐车去还是走路去。",
        "我把把都中，他们把把都输。",
        "领导要把把方向。",
        "我们对对表，再对对口供。",
        "货物将从从化出发。",
        "水厂给给排水工程供货。",
        "轮船驶向向家坝，大家向向警予学习。",
        "大明江山系于于谦一身，字出于于右任之手。",
        "项目由由国际公司承建。",
        "城市与与之相邻的村庄合作。",
        "孩子跑向向他招手的人。",
        "公司给给过钱的人发奖。",
    ],
)
def test_a_character_of_two_words_is_right(right):
    assert matches("doubled_character", right) == []


@pytest.mark.parametrize(
    ("wrong", "doubled"),
    [
        ("这是姐姐的的笔。", "的"),
        ("字符串中包含的的字符", "的"),
        ("同学们们来了。", "们"),
        ("这里是是学校。", "是"),
        ("你要把把窗户关好。", "把"),
        ("他们对对这个结果很满意。", "对"),
        ("孩子们从从山上下来。", "从"),
        ("书已经给给小明了。", "给"),
        ("他向向老师鞠躬。", "向"),
        ("他与与同学一起走。", "与"),
    ],
)
def test_a_character_of_no_word_is_deleted(wrong, doubled):
    assert [match.source for match in matches("doubled_character", wrong)] == [doubled]


@pytest.mark.parametrize("right", ["真的吗……", "他——走了", "好！！", "真的？？", "什么？！"])
def test_style_is_left_alone(right):
    assert matches("doubled_punctuation", right) == []


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ("好，，", (1, 2, "，，", "，")),
        ("好。。", (1, 2, "。。", "。")),
        ("好。。。。", (1, 4, "。。。。", "……")),
        ("好、、、", (1, 3, "、、、", None)),
        ("好，。", (1, 2, "，。", None)),
    ],
)
def test_doubled_punctuation(wrong, expected):
    assert matches("doubled_punctuation", wrong) == [RuleMatch(*expected, "doubled_punctuation")]
