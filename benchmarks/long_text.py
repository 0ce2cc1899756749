"""A made-up novel for benchmarks, with an error in one sentence of twenty, and what a process has used."""

import os
import random
from pathlib import Path

ERROR_RATE = 1 / 20
PARAGRAPH = 4  # sentences
SENTENCES = (
    "清晨的雾还没有散，村口的老槐树下已经坐了几个人。",
    "他推开窗户，看见院子里落了一层薄薄的雪。",
    "火车晚点了四十分钟，候车室里的人越来越多。",
    "母亲把晒干的玉米装进袋子，一袋一袋地搬到屋里。",
    "这封信她读了很多遍，每一遍都觉得少了点什么。",
    "桥下的水流得很急，两岸的芦苇被风吹得弯下了腰。",
    "老板娘笑着说，今天的鱼是刚从江里打上来的。",
    "他记得那年夏天特别热，连知了都不愿意叫。",
    "图书馆的灯一盏一盏地灭了，只剩下门口的那一盏。",
    "孩子们在操场上追来追去，谁也不肯先停下来。",
    "医生看完片子，沉默了一会儿，才慢慢地开口。",
    "走了大半天，他们终于在山坳里找到了那座小庙。",
    "电话响了三声就断了，她再打过去，已经没有人接。",
    "会议开到很晚，最后谁也没有说服谁。",
    "他把旧照片按年份排好，放进一只铁盒子里。",
    "雨停了以后，空气里有一股泥土的味道。",
)
ERRORS = (
    "我门一早就出发了，路上几乎没有遇到别的车。",
    "今天的天汽真好，大家都想出去走一走。",
    "他在也没有回过那个小镇。",
    "这个问题以经讨论过很多次了。",
    "请你在门口座一会儿，我马上就来。",
    "她高心地把这个消息告诉了所有的人。",
    "老师向大家借绍了新来的同学。",
    "他们在公圆里拍了很多照片。",
)


def made_text(characters: int, separator: str) -> str:
    """Sentences of which no two are the same: what is repeated is read once."""
    chance = random.Random(0)
    pieces: list[str] = []
    length = sentences = 0
    while length < characters:
        sentence = chance.choice(ERRORS if chance.random() < ERROR_RATE else SENTENCES)
        pieces.append(f"第{sentences + 1}段，{sentence}")
        length += len(pieces[-1])
        sentences += 1
        if sentences % PARAGRAPH == 0:
            pieces.append(separator)
    return "".join(pieces)


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return round((int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"), 2)


def peak_memory(pid: int) -> float | None:
    """In megabytes; None if the process has ended."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return round(int(line.split()[1]) / 1024, 1)
    return None
