"""What a model is made of, as frozen dataclasses; no torch, so that exporters read them too."""

from dataclasses import dataclass, field

from nmspeller.errors import InputError
from nmspeller.lab.configs.parsing import check_range

BEST = 5
"""How many candidates a model proposes for a position."""

NGRAMS = {
    "unigram": (0,),
    "left-bigram": (-1, 0),
    "right-bigram": (0, 1),
    "trigram": (-1, 0, 1),
}
"""The paper's four choices of masked positions, as offsets from the current one."""


@dataclass(frozen=True)
class EncoderConfig:
    """The sizes of a BERT encoder; the defaults are BERT-base with Google's Chinese vocabulary.

    fake_quantised: the model is of quantisation-aware training; see `fake_quantisation`.
    """

    vocabulary: int = 21128
    hidden: int = 768
    layers: int = 12
    heads: int = 12
    intermediate: int = 3072
    positions: int = 512
    dropout: float = 0.1
    attention_dropout: float = 0.1
    norm_epsilon: float = 1e-12
    mask_id: int = 103
    fake_quantised: bool = False

    def __post_init__(self) -> None:
        check_range(self, "vocabulary", "hidden", "layers", "heads", "intermediate", "positions", least=1)
        check_range(self, "dropout", "attention_dropout", least=0, most=1)
        if self.hidden % self.heads:
            raise InputError(
                f"hidden size {self.hidden} is no multiple of {self.heads} heads; change either."
            )
        if not 0 <= self.mask_id < self.vocabulary:
            raise InputError(f"mask_id {self.mask_id} is outside the vocabulary of {self.vocabulary} tokens.")


@dataclass(frozen=True)
class MaskingConfig:
    """N-gram masking.

    ngram: one of the paper's four names.
    offsets: any other set of relative positions to mask, instead of an n-gram.
    active: in 'training' only, or 'always'.
    init: 'from_layer0' copies the encoder's first layer; 'identity' starts with attention and feed-forward at
    zero, so that the encoder's input is at first what it was; 'random' is BERT's initialisation.
    """

    ngram: str = "trigram"
    offsets: tuple[int, ...] = ()
    active: str = "training"
    init: str = "from_layer0"

    def __post_init__(self) -> None:
        if not self.offsets and self.ngram not in NGRAMS:
            raise InputError(f"unknown n-gram {self.ngram!r}; use {', '.join(NGRAMS)}, or give offsets.")
        if self.active not in ("training", "always"):
            raise InputError(f"masking is active in 'training' or 'always', not {self.active!r}.")
        if self.init not in ("from_layer0", "identity", "random"):
            raise InputError(
                f"the masking layer starts 'from_layer0', 'identity' or 'random', not {self.init!r}."
            )

    @property
    def masked_offsets(self) -> tuple[int, ...]:
        return tuple(sorted(set(self.offsets or NGRAMS[self.ngram])))


@dataclass(frozen=True)
class SpellerConfig:
    """What all spellers share; a speller with options of its own adds to it.

    speller: the speller's name in the registry.
    head: 'mlm' is BERT's pretrained head; 'linear' is the paper's dense layer.
    tags: three more outputs per position: extra, something missing before it, swapped with the next.
    """

    speller: str
    encoder: EncoderConfig = field(default_factory=EncoderConfig)
    masking: MaskingConfig | None = None
    head: str = "mlm"
    tags: bool = False

    def __post_init__(self) -> None:
        if self.head not in ("mlm", "linear"):
            raise InputError(f"the head is 'mlm' or 'linear', not {self.head!r}.")
