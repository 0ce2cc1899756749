"""Sentences of running text with other people in them: a speller must leave every name alone.

A name is known by what stands around it, a title or a verb of speech, so that no tagger is needed; it is
replaced, throughout its sentence, by a surname and given name drawn from lists.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from nmspeller.text.hanzi import HANZI
from nmspeller.text.patterns import lazy_pattern

# The commonest hundred and fifty, in the order of how many people have them.
SURNAMES = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪"
    "田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文庞樊兰殷施陶洪翟安颜倪严牛温"
    "芦季俞章鲁葛伍韦申尤毕聂丛焦向柳邢路岳齐梅莫庄辛管祝左涂谷祁时舒耿牟卜詹关苗凌费纪靳盛童欧甄项曲成游阳裴席卫查屈鲍"
)
GIVEN = (
    "伟芳娜秀英敏静丽强磊军洋勇艳杰娟涛明超兰霞平刚桂文辉玲建华国红梅鑫宇浩然轩子涵梓萱欣怡诗琪雨桐一诺俊熙博思远晨曦嘉"
    "懿睿泽昊天佳颖雪莹晓东志鹏海波海燕春生玉珍凤云龙飞振宁永康德福家豪书恒启航承恩宏达立新树林克勤少华世昌仁义礼智信忠孝"
    "琳瑶璐琦瑾瑜珊珂玥玮琛珺璇璟煜炜烨焱煊炫灿炳焕润泓泽沛沐沁淇淑渊源清涵澜潇瀚洲津浦溪汐江河湖钰铭锐锋钧铮锦鑫镇银桦"
    "楠栋梁柏松桥彬森楷榕榆槿芷若芸菲萌莉莎莲菁萍薇蕾蓉荣茜茵芮苒芊葳岚峰峻岩崇嵩巍岳冉冰冬凯凡利力劲勋励化北千卓博厚原"
    "双友可叶合同吉向君吟和品哲唯善喜嘉四圣坤培基堂增声复夏多大奇奕妍妮姗威婉婕婧婷媛嫣孟季学宁安定宗宜宝实宣容宾密寅富"
    "寒尚岱川工巧帆帅希常干平年庆应廷廉弘弦彤彦影征微心必怀恬恺悦悠情惠想意慧成才扬承抒拓挺捷敬文斌斐方旋无日旭时昕星春昱"
    "晏晔普景晴智暄暖曼月朋朔望朝本权来果枫柔柯栩格桑梦梵梨棋楚榛正武民水汉沅治泉法泰洁洛浩涛深湘滢滨满漫漪潮澄火灵炎熹爱"
    "牧特玄玉珠理琬琰瑞璞瓒田甜畅白皓益盈真知石砚硕祎祖祥禄福禹秉秋程稼穆立竹笑筠简箫籽紫红纯纶绍经绮维绿绪缨罗美翔翠翰"
    "老耀聪肃育胜能自良艺节苏苗茂范荷莹萧蓓蔓蔚薪藜行衡裕西言誉诚语谊谦谨豫贝贞贤贵赋赫超越跃路辰迅运进连远逸通道邦郁采里"
    "钦长闻阳阿陶隆雁雄雅雨雯雷霁霄霆霏霖青靖静韬韵音韶顺颂风飘香驰驹骁骏骞高魁鲁鸣鸿鹤麒麟麦黎齐"
)
_TITLES = (
    "记者|通讯员|教授|主任|书记|主席|总理|部长|局长|厂长|经理|校长|院长|博士|"
    "同志|先生|女士|老师|医生|队长|导演|作家|演员|选手|队员"
)
_SAYS = (
    "说|道|认为|表示|指出|介绍|告诉|回忆|强调|先生|女士|同志|教授|博士|老师|医生|"
    "主任|小姐|大夫|报道|摄|主持|出席|参加|会见"
)
_NAME = lazy_pattern(rf"(?:(?<=[，。、；：（])|^|{_TITLES})([{SURNAMES}][{HANZI}]{{2}})(?={_SAYS})")
# What also stands before such a verb: no surname begins it.
_NO_NAME = lazy_pattern(
    "[的了是在不有这那我你他她它们也就都还又很要会可将把被与和同对为向从到于以之其说道地得着过]"
)
_SHORT = 0.2  # the share of names with one given character
_DOUBLED = 0.1  # of the others, those with one character twice: 冰冰
_SENTENCE = lazy_pattern(r"[^。！？]+[。！？]")


def sentences_with_names(lines: Iterable[str], seed: int) -> Iterator[str]:
    """Every sentence of 12 to 100 characters with a person in it, the person's name replaced."""
    random = np.random.default_rng((seed, 7))
    for line in lines:
        for sentence in _SENTENCE.findall(line):
            if 12 <= len(sentence) <= 100 and (found := _NAME.search(sentence)):
                name = found[1]
                if not _NO_NAME.search(name):
                    yield sentence.replace(name, invented_name(random))


def invented_name(random: np.random.Generator) -> str:
    """A surname and one or two given characters; surnames as unevenly as people have them."""
    rank = min(int(random.exponential(30)), len(SURNAMES) - 1)
    given = [GIVEN[number] for number in random.integers(len(GIVEN), size=2)]
    if random.random() < _DOUBLED:
        given[1] = given[0]
    return SURNAMES[rank] + "".join(given[: 1 if random.random() < _SHORT else 2])
