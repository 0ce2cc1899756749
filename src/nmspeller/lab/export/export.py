"""From a trained checkpoint to the ONNX folder that `Speller` reads."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from nmspeller.errors import InputError
from nmspeller.files import write_whole
from nmspeller.lab.data import neighbours
from nmspeller.lab.data.edit_noise import EditNoise
from nmspeller.lab.data.edit_sets import DEV_FILE, EditPair, read_dev
from nmspeller.lab.data.neighbours import Neighbours
from nmspeller.lab.data.pairs import Pair
from nmspeller.lab.data.prepared import check_vocabulary
from nmspeller.lab.export.activations import quantise_weights
from nmspeller.lab.export.arithmetic import Float, Integer
from nmspeller.lab.export.bert_graph import build
from nmspeller.lab.export.evidence_weights import fit_evidence
from nmspeller.lab.export.prefilter_calibration import calibrate_prefilter
from nmspeller.lab.export.remembering_engine import RememberingEngine
from nmspeller.lab.export.tag_thresholds import calibrate_tags, target_pairs
from nmspeller.lab.export.thresholds import calibrate
from nmspeller.lab.export.weights import SpellerWeights, read_weights
from nmspeller.runtime import prefilter
from nmspeller.runtime.device import need_exported
from nmspeller.runtime.pipeline import Pipeline
from nmspeller.runtime.policy import Level, Policy
from nmspeller.runtime.prefilter import PrefilterThresholds
from nmspeller.runtime.verified import sha256
from nmspeller.text.vocabulary import Vocabulary


def export_model(
    checkpoint: str | Path,
    out: str | Path,
    *,
    texts: Sequence[str] | None = None,
) -> Path:
    """Write model.onnx, vocab.txt, card.md and a policy.json that is not calibrated yet.

    A checkpoint of quantisation-aware training becomes an int8 model with the same numbers. A prefilter that
    the folder held before is removed: it belongs to another model.

    Args:
        checkpoint: a checkpoint of ours, or a Hugging Face BertForMaskedLM folder.
        out: the folder to write; files of the same names in it are replaced, each whole or not at all.
        texts: some hundred sentences of the kind that will be read, to fit eight-bit integers to. Without
            them a checkpoint that is not rounded stays in single precision, four times as large.

    Raises:
        InputError: the checkpoint cannot be read, or is of a kind that cannot be exported.
    """
    source, out = _rounded(read_weights(checkpoint), texts), Path(out)
    content = _graph(source)
    out.mkdir(parents=True, exist_ok=True)
    for name in (prefilter.FILE, prefilter.THRESHOLDS):
        (out / name).unlink(missing_ok=True)
    write_whole(out / "vocab.txt", (source.folder / "vocab.txt").read_bytes())
    write_whole(out / "card.md", _card(source))
    policy = Policy.uncalibrated()
    window = min(policy.window, source.encoder.positions - 2)
    digits = hashlib.sha256(content).hexdigest()
    replace(policy, window=window, sha256={"model.onnx": digits}).write(out / "policy.json")
    write_whole(out / "model.onnx", content)
    return out


def record_hash(folder: str | Path) -> Policy:
    """Write the hash of a model.onnx that was not made by `export_model` to its policy.json."""
    folder = Path(folder)
    need_exported(folder)
    policy = Policy.read(folder / "policy.json")
    policy = replace(policy, sha256={"model.onnx": sha256(folder / "model.onnx")})
    policy.write(folder / "policy.json")
    return policy


_LONGEST = 128  # of a row with errors


class EditSets(NamedTuple):
    """Dev sets of unequal length, and the noise that makes such errors."""

    dev: Mapping[str, Sequence[EditPair]]
    noise: EditNoise
    vocabulary: Vocabulary

    @classmethod
    def of(cls, folder: Path) -> "EditSets":
        """Those of a folder that `lab data prepare` wrote."""
        vocabulary = Vocabulary.from_file(folder / "vocab.txt")
        noise = EditNoise(Neighbours.load(folder / neighbours.FILE), vocabulary, _LONGEST)
        return cls(read_dev(folder / DEV_FILE), noise, vocabulary)


def calibrate_model(
    folder: str | Path,
    dev: Sequence[Pair],
    clean: Sequence[str] = (),
    edits: EditSets | None = None,
    others: Sequence[Pair] = (),
) -> Policy:
    """Choose the thresholds of an exported model and write them to its policy.json.

    edits: for the weights and thresholds of tags; without them these stay as they are.
    others: pairs of other kinds, on which the number of passes is chosen, too.
    """
    folder = Path(folder)
    pipeline = Pipeline(folder)
    unequal: Sequence[EditPair] = ()
    if edits is not None:
        check_vocabulary(folder, edits.vocabulary)
        unequal = target_pairs(pipeline, edits.dev)
    policy = calibrate(pipeline, dev, clean, others)
    if edits is not None:
        policy = replace(policy, evidence=fit_evidence(pipeline, clean, edits.noise))
        policy.write(folder / "policy.json")
        weighing = Pipeline(folder)
        weighing.wrap_engine(RememberingEngine)
        replaced = [pair for pair in dev if pair.source != pair.target]
        policy = calibrate_tags(weighing, policy, unequal, clean, replaced)
    policy.write(folder / "policy.json")
    return policy


def export_prefilter(
    checkpoint: str | Path, folder: str | Path, *, texts: Sequence[str] | None = None
) -> Path:
    """Write the prefilter.onnx of an exported model, and a prefilter.json that leaves nothing out yet.

    Args:
        checkpoint: a very small speller, of a kind that `export_model` takes.
        folder: what `export_model` wrote.
        texts: as for `export_model`.

    Raises:
        InputError: the checkpoint cannot be exported or does not fit the model, or the folder holds no model.
    """
    source, folder = read_weights(checkpoint), Path(folder)
    need_exported(folder)
    policy = Policy.read(folder / "policy.json")
    if source.vocabulary.tokens != Vocabulary.from_file(folder / "vocab.txt").tokens:
        raise InputError(
            f"{source.folder} has another vocab.txt than {folder}; train a prefilter with that of its model."
        )
    longest = source.encoder.positions - 2
    if policy.window > longest:
        raise InputError(
            f"{source.folder} reads {longest} characters at once, and {folder} {policy.window}; "
            "train a prefilter with as many positions as its model."
        )
    content = _graph(_rounded(source, texts, candidates=False), candidates=False)
    # Thresholds chosen for another prefilter must never meet this one, whatever happens in between.
    PrefilterThresholds(dict.fromkeys(Level, 0.0)).write(folder / prefilter.THRESHOLDS)
    write_whole(folder / prefilter.FILE, content)
    return folder / prefilter.FILE


def calibrate_prefilter_model(
    folder: str | Path, dev: Sequence[Pair], clean: Sequence[str] = ()
) -> PrefilterThresholds:
    """Choose the thresholds of an exported model's prefilter and write them to its prefilter.json."""
    folder = Path(folder)
    thresholds = calibrate_prefilter(Pipeline(folder, prefilter=True), dev, clean)
    thresholds.write(folder / prefilter.THRESHOLDS)
    return thresholds


def _rounded(
    source: SpellerWeights, texts: Sequence[str] | None, *, candidates: bool = True
) -> SpellerWeights:
    """The source as it was, or rounded where there are texts to fit integers to."""
    return source if texts is None else quantise_weights(source, texts, candidates=candidates)


def _graph(source: SpellerWeights, *, candidates: bool = True) -> bytes:
    """The source as an ONNX file, in integers where it is rounded."""
    arithmetic = Integer if source.encoder.fake_quantised else Float
    model = build(source, arithmetic(source.weights), candidates=candidates)
    content: bytes = model.SerializeToString(deterministic=True)
    return content


def _card(source: SpellerWeights) -> bytes:
    card = source.folder / "card.md"
    return card.read_bytes() if card.is_file() else b"# A speller exported from Hugging Face weights\n"
