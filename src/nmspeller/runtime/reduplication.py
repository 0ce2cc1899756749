"""What may stand twice on purpose: verbs, as 研究研究, given names, as 冰冰, and what is said thrice."""

from nmspeller.runtime.rules.vocabulary import words
from nmspeller.text.surnames import COMPOUND_SURNAMES, NOT_IN_NAMES, SURNAMES

_VERBS = """
安排 安慰 帮助 保养 比划 比较 比试 表扬 补充 布置 参观 参考 参谋 操练 操心 测试 尝试 充实 抽查 处理
伺候 凑合 打扮 打点 打理 打量 打扫 打探 打听 捣鼓 倒腾 嘀咕 掂量 调查 锻炼 对比 对付 反思 反省 翻译
放松 归拢 分担 分析 分享 丰富 复习 改善 感受 感谢 高兴 巩固 鼓捣 鼓励 观察 观摩 关心 关照 核对 合计 核实
缓和 缓解 回味 回忆 活动 活泛 活跃 机灵 检查 见识 检讨 检验 检阅 讲解 讲究 交代 交流 教训 教育 借鉴
介绍 解释 纠缠 纠正 开导 开心 考察 考虑 考验 恳求 快活 宽慰 拉扯 唠叨 劳动 乐呵 冷静 理解 理顺 联络
联系 练习 凉快 晾晒 了解 料理 领会 领教 领略 遛达 溜达 浏览 麻烦 明白 磨合 磨练 摸索 念叨 努力 暖和
盘算 陪伴 批评 品尝 品味 评估 平衡 切磋 亲近 亲热 清点 请教 清静 清理 请示 轻松 清洗 清醒 庆祝 求证
劝说 热闹 忍耐 认识 商量 商榷 商讨 商议 拾掇 侍候 使唤 试探 试验 适应 收拾 疏导 舒服 梳理 数落 疏通
熟悉 舒展 思考 思量 搜集 算计 谈论 探索 探讨 体会 体谅 体贴 提醒 体验 调剂 调节 调侃 调理 调整 统计
推荐 推敲 完善 玩味 问候 温习 吓唬 显摆 享受 笑话 消化 孝敬 消遣 协商 歇息 欣赏 修改 修理 休息 休整
修整 宣传 学习 训练 熏陶 研究 演练 验证 议论 印证 应付 娱乐 预习 运动 酝酿 张罗 招待 照顾 招呼 照看
照料 照应 折腾 斟酌 振作 整理 支持 指导 指点 指教 祝贺 注意 转悠 装扮 准备 琢磨 总结 走动 走访 钻研
尊重
"""
REDUPLICATED = frozenset(_VERBS.split())
_EMPHATIC = 3


def may_stand_twice(text: str, start: int, stop: int) -> bool:
    """Whether the characters from start to stop, which repeat their neighbours, may be meant to."""
    repeated = text[start:stop]
    return repeated in REDUPLICATED or (
        len(repeated) == 1 and (_is_emphatic(text, start) or _is_given_name(text, start))
    )


def _is_emphatic(text: str, place: int) -> bool:
    """Three of one kind in a row: 急急急."""
    return text[place] * _EMPHATIC in text[max(place - _EMPHATIC + 1, 0) : place + _EMPHATIC]


def _is_given_name(text: str, place: int) -> bool:
    before, given = text[max(place - 2, 0) : place], text[place]
    if len(before) < 2 or before[1] != given or given in NOT_IN_NAMES:
        return False
    if text[max(place - 3, 0) : place - 1] in COMPOUND_SURNAMES:
        return True
    return before[0] in SURNAMES and before not in words().short_words  # 马上上: no Mr Ma
