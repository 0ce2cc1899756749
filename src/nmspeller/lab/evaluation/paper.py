"""The paper's own figures, typed once, to stand beside ours.

Haiyun Yang: Block the Label and Noise: An N-Gram Masked Speller for Chinese Spell Checking, arXiv
2305.03314 (2023), Tables 1 to 4. Trained on SIGHAN and Wang271K, from BERT-wwm (DCN: RoBERTa-wwm,
SpellGCN: Google's).

The recalls tell how many wrong sentences were counted (`COUNTED`): those of the simplified sets, with 地
and 得 kept in the reference of SIGHAN13. SpellGCN and DCN were tested on other copies, with the numbers
of the releases: their rows are not quite comparable with the others.
"""

from typing import NamedTuple

CITATION = "arXiv 2305.03314"

MODELS = {
    "bert": ("BERT", "NM-BERT"),
    "spellgcn": ("SpellGCN", "NM-SpellGCN"),
    "dcn": ("DCN", "NM-DCN"),
    "phmospell": ("PHMOSpell", "NM-PHMOSpell"),
    "realise": ("ReaLiSe", "NM-ReaLiSe"),
    "dgspeller": ("DGSpeller", "DNSpeller"),
}
"""The paper's names of each speller, without and with n-gram masking."""

NGRAMS = ("none", "unigram", "left-bigram", "right-bigram", "trigram")


class Row(NamedTuple):
    """Sentence-level precision, recall and F1; `off` (the paper's star): masked in training only."""

    detection: tuple[float, float, float]
    correction: tuple[float, float, float]
    off: bool


RESULTS = {
    ("bert", False, "sighan13"): Row((87.00, 80.64, 83.70), (85.78, 79.51, 82.52), False),
    ("bert", False, "sighan14"): Row((64.84, 68.08, 66.42), (62.82, 65.96, 64.35), False),
    ("bert", False, "sighan15"): Row((75.48, 80.22, 77.78), (73.39, 78.00, 75.63), False),
    ("bert", True, "sighan13"): Row((88.33, 81.87, 84.98), (87.22, 80.84, 83.91), False),
    ("bert", True, "sighan14"): Row((65.44, 68.46, 66.92), (63.97, 66.92, 65.41), False),
    ("bert", True, "sighan15"): Row((75.65, 80.41, 77.96), (73.91, 78.56, 76.16), True),
    ("spellgcn", False, "sighan13"): Row((82.19, 73.05, 77.35), (80.50, 71.54, 75.76), False),
    ("spellgcn", False, "sighan14"): Row((65.88, 67.98, 66.91), (62.77, 64.78, 63.76), False),
    ("spellgcn", False, "sighan15"): Row((76.45, 79.09, 77.75), (73.64, 76.18, 74.89), False),
    ("spellgcn", True, "sighan13"): Row((84.15, 74.45, 79.00), (82.79, 73.25, 77.72), True),
    ("spellgcn", True, "sighan14"): Row((65.69, 67.42, 66.54), (63.85, 65.54, 64.68), True),
    ("spellgcn", True, "sighan15"): Row((76.40, 77.09, 76.74), (74.60, 75.27, 74.93), True),
    ("dcn", False, "sighan13"): Row((85.32, 77.45, 81.20), (83.55, 75.85, 79.52), False),
    ("dcn", False, "sighan14"): Row((64.65, 66.48, 65.55), (63.74, 65.54, 64.62), False),
    ("dcn", False, "sighan15"): Row((76.06, 78.55, 77.28), (72.89, 75.27, 74.06), False),
    ("dcn", True, "sighan13"): Row((86.41, 78.36, 82.19), (85.41, 77.45, 81.24), True),
    ("dcn", True, "sighan14"): Row((65.73, 66.10, 65.92), (64.61, 64.97, 64.79), True),
    ("dcn", True, "sighan15"): Row((76.90, 79.27, 78.07), (74.78, 77.09, 75.92), False),
    ("phmospell", False, "sighan13"): Row((88.38, 83.01, 85.61), (87.39, 82.08, 84.65), False),
    ("phmospell", False, "sighan14"): Row((65.50, 68.65, 67.04), (63.30, 66.35, 64.79), False),
    ("phmospell", False, "sighan15"): Row((76.23, 80.04, 78.09), (75.35, 79.11, 77.19), False),
    ("phmospell", True, "sighan13"): Row((88.25, 82.80, 85.44), (86.61, 81.26, 83.85), False),
    ("phmospell", True, "sighan14"): Row((66.12, 69.81, 67.91), (64.12, 67.69, 65.86), False),
    ("phmospell", True, "sighan15"): Row((78.31, 82.07, 80.14), (77.25, 80.96, 79.06), True),
    ("realise", False, "sighan13"): Row((87.71, 82.29, 84.91), (86.17, 80.84, 83.42), False),
    ("realise", False, "sighan14"): Row((63.99, 67.31, 65.60), (62.34, 65.58, 63.92), False),
    ("realise", False, "sighan15"): Row((75.97, 79.48, 77.69), (74.56, 78.00, 76.24), False),
    ("realise", True, "sighan13"): Row((87.94, 81.87, 84.80), (86.73, 80.74, 83.63), False),
    ("realise", True, "sighan14"): Row((65.99, 69.04, 67.48), (64.71, 67.69, 66.17), True),
    ("realise", True, "sighan15"): Row((77.82, 81.70, 79.71), (76.76, 80.59, 78.63), True),
    ("dgspeller", False, "sighan13"): Row((88.58, 83.11, 85.76), (87.71, 82.29, 84.91), False),
    ("dgspeller", False, "sighan14"): Row((66.11, 69.04, 67.54), (64.64, 67.50, 66.04), False),
    ("dgspeller", False, "sighan15"): Row((76.13, 80.78, 78.39), (74.91, 79.48, 77.13), False),
    ("dgspeller", True, "sighan13"): Row((88.78, 82.29, 85.41), (87.67, 81.26, 84.34), True),
    ("dgspeller", True, "sighan14"): Row((65.93, 69.23, 67.54), (64.65, 67.88, 66.23), False),
    ("dgspeller", True, "sighan15"): Row((78.04, 80.78, 79.38), (76.96, 79.67, 78.29), False),
}
"""Tables 1 and 2: speller, masked, set."""

COUNTED = {model: (998, 531, 550) if model in ("spellgcn", "dcn") else (971, 520, 541) for model in MODELS}
"""Sentences with errors in SIGHAN13, 14 and 15, of which all the recalls of a speller are whole shares."""

BERT_NGRAMS = {
    "none": {"sighan13": 82.52, "sighan14": 64.35, "sighan15": 75.63},
    "unigram": {"sighan13": 82.48, "sighan14": 62.52, "sighan15": 75.43},
    "left-bigram": {"sighan13": 82.89, "sighan14": 63.64, "sighan15": 75.64},
    "right-bigram": {"sighan13": 83.91, "sighan14": 64.17, "sighan15": 76.03},
    "trigram": {"sighan13": 82.20, "sighan14": 65.41, "sighan15": 76.16},
}
"""Table 3: correction F1 of BERT with each n-gram."""

BEST_NGRAMS = {
    "bert": {"sighan13": "right-bigram", "sighan14": "trigram", "sighan15": "trigram"},
    "spellgcn": {"sighan13": "trigram", "sighan14": "right-bigram", "sighan15": "right-bigram"},
    "realise": {"sighan13": "trigram", "sighan14": "trigram", "sighan15": "left-bigram"},
    "dcn": {"sighan13": "trigram", "sighan14": "right-bigram", "sighan15": "left-bigram"},
    "phmospell": {"sighan14": "right-bigram", "sighan15": "left-bigram"},
    "dgspeller": {"sighan14": "left-bigram", "sighan15": "trigram"},
}
"""Table 4: the n-gram that gains most; none gains where a set is absent."""
