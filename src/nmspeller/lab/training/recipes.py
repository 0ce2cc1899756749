"""Recipes: what a speller learns from, stage by stage, and how."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from nmspeller.errors import InputError
from nmspeller.lab.configs import read_config
from nmspeller.lab.configs.parsing import check_range, from_mapping
from nmspeller.lab.data.prepared import Prepared
from nmspeller.lab.training.corruption import NoiseConfig
from nmspeller.lab.training.device_pairs import DevicePairs
from nmspeller.lab.training.distillation import TEACHER_SHARE
from nmspeller.lab.training.streams import PairStream
from nmspeller.lab.training.trainer import LoopConfig


@dataclass(frozen=True)
class Stage:
    """One stage of fine-tuning.

    copies: how often each prepared set of pairs is seen in an epoch, e.g. {"sighan15_train": 2}.
    synthetic: fresh synthetic pairs in each epoch.
    corrupted: how often the right side of each pair of a set gets fresh synthetic errors in an epoch.
    batch_sentences or batch_tokens: the size of a batch.
    dropout: replaces the model's own where given.
    teacher_share: of the loss, where there is a teacher; the rest is learnt from the right characters. With 0
    the teacher is not asked.
    teacher_where_right: ask the teacher only where its best character is the right one: it has not learnt all
    that the student is to learn.
    match_layers: stay close to the layers of a teacher of the same size; see `distillation`.
    detect: learn only where the teacher would edit; see `detection`. For prefilters, which need a teacher.
    tags_alone: train the network of tags, and leave the speller below it as it is.
    """

    copies: Mapping[str, int] = field(default_factory=dict)
    synthetic: int = 0
    corrupted: Mapping[str, int] = field(default_factory=dict)
    epochs: int = 1
    batch_sentences: int | None = None
    batch_tokens: int | None = None
    join: float = 0.4
    dropout: float | None = None
    teacher_share: float = TEACHER_SHARE
    teacher_where_right: bool = False
    match_layers: bool = True
    detect: bool = False
    tags_alone: bool = False
    noise: NoiseConfig = field(default_factory=NoiseConfig)
    loop: LoopConfig = field(default_factory=LoopConfig)

    def __post_init__(self) -> None:
        check_range(self, "epochs", "batch_sentences", "batch_tokens", least=1)
        check_range(self, "synthetic", least=0)
        check_range(self, "join", "dropout", "teacher_share", least=0, most=1)
        for name, times in (*self.copies.items(), *self.corrupted.items()):
            if times < 0:
                raise InputError(f"copies of {name} are {times}; give 0 or more.")
        if (self.batch_sentences is None) == (self.batch_tokens is None):
            raise InputError("a stage needs either batch_sentences or batch_tokens.")
        if self.loop.on_device and (self.synthetic or self.corrupted or not self.batch_sentences):
            raise InputError(
                "a stage on_device needs batch_sentences, and learns from copies of pairs alone."
            )

    def stream(self, prepared: Prepared, seed: int) -> PairStream:
        return PairStream(
            prepared,
            self.noise,
            copies=self.copies,
            synthetic=self.synthetic,
            corrupted=self.corrupted,
            epochs=self.epochs,
            batch_sentences=self.batch_sentences,
            batch_tokens=self.batch_tokens,
            seed=seed,
            join=self.join,
            sort=not self.loop.packed,
        )

    def device_pairs(self, prepared: Prepared, device: torch.device) -> DevicePairs:
        """The pairs of a stage that is trained `on_device`."""
        assert self.batch_sentences
        assert self.loop.packed_tokens
        sets = [prepared.pairs(name) for name, times in self.copies.items() for _ in range(times)]
        return DevicePairs(
            sets,
            prepared.vocabulary,
            sentences=self.batch_sentences,
            tokens=self.loop.packed_tokens,
            device=device,
        )


@dataclass(frozen=True)
class Recipe:
    """The stages, in order."""

    stages: tuple[Stage, ...]

    def __post_init__(self) -> None:
        if not self.stages:
            raise InputError("a recipe needs at least one stage.")

    @property
    def dropout(self) -> float | None:
        """The largest that a stage sets: a model that is built without dropout gets none later."""
        return max((stage.dropout for stage in self.stages if stage.dropout is not None), default=None)


@dataclass(frozen=True)
class PretrainRecipe:
    """Pretraining on running text: `batch_rows` rows of `length` tokens a step, `steps` or seconds long."""

    steps: int = 10_000
    batch_rows: int = 512
    length: int = 128
    dropout: float = 0.0
    noise: NoiseConfig = field(default_factory=NoiseConfig)
    loop: LoopConfig = field(default_factory=LoopConfig)

    def __post_init__(self) -> None:
        check_range(self, "steps", "batch_rows", least=1)
        check_range(self, "length", least=3)  # one character between [CLS] and [SEP]
        check_range(self, "dropout", least=0, most=1)


def read_recipe(given: str | Mapping[str, Any]) -> Recipe:
    """A recipe from its name in configs/recipes, the path of a YAML file, or plain values."""
    return from_mapping(Recipe, _values(given), "recipe")


def read_pretrain_recipe(given: str | Mapping[str, Any]) -> PretrainRecipe:
    """The same for pretraining."""
    return from_mapping(PretrainRecipe, _values(given), "recipe")


def _values(given: str | Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(given, Mapping):
        return given
    if not isinstance(given, str):
        raise InputError(f"the recipe is {given!r}; name one, or write its values there.")
    values = read_config("recipes", given)
    return {key: value for key, value in values.items() if key != "name"}


def with_budget(recipe: Recipe, seconds: float) -> Recipe:
    """The recipe with its stages squeezed into a number of seconds.

    Each gets its part of the seconds that the recipe itself gives them; where one has none, all the same.
    """
    own = [stage.loop.seconds or 0.0 for stage in recipe.stages]
    parts = [part / sum(own) if all(own) else 1 / len(own) for part in own]
    return Recipe(
        tuple(
            replace(stage, loop=replace(stage.loop, seconds=seconds * part))
            for stage, part in zip(recipe.stages, parts, strict=True)
        )
    )


def with_seconds(recipe: PretrainRecipe, seconds: float) -> PretrainRecipe:
    """The pretraining recipe with another budget."""
    return replace(recipe, loop=replace(recipe.loop, seconds=seconds))


def without_absent(recipe: Recipe, prepared: Prepared) -> tuple[Recipe, list[str]]:
    """The recipe without the sets that the data folder did not have when it was prepared, and their names.

    Without a corpus there are no synthetic pairs.

    Raises:
        InputError: a stage would have nothing left to learn from.
    """
    absent: dict[str, None] = {}
    stages = []
    for number, stage in enumerate(recipe.stages):
        wanted = [*stage.copies.items(), *stage.corrupted.items()]
        here = [name for name, copies in wanted if copies and name in prepared.absent]
        if stage.synthetic and "corpus" in prepared.absent:
            here.append("corpus")
        absent.update(dict.fromkeys(here))
        stages.append(
            replace(
                stage,
                copies={name: copies for name, copies in stage.copies.items() if name not in here},
                corrupted={name: copies for name, copies in stage.corrupted.items() if name not in here},
                synthetic=0 if "corpus" in here else stage.synthetic,
            )
        )
        left = stages[-1]
        if here and not any((*left.copies.values(), *left.corrupted.values(), left.synthetic)):
            raise InputError(
                f"stage {number} of this recipe learns from {', '.join(here)} alone, which {prepared.folder} "
                "does not have; choose another recipe."
            )
    return Recipe(tuple(stages)), list(absent)
