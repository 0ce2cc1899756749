"""Write the table of sizes and costs into docs/models.md.

    python -m nmspeller.lab.models.describe docs/models.md

Operations are counted, not timed, on models without weights, so that the table is the same on every machine.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from nmspeller.errors import InputError
from nmspeller.lab.configs.parsing import to_mapping
from nmspeller.lab.models.batch import Batch
from nmspeller.lab.models.characters import Cached
from nmspeller.lab.models.config import EncoderConfig, MaskingConfig
from nmspeller.lab.models.registry import build, parse
from nmspeller.lab.models.speller import SpellerModel
from nmspeller.lab.models.tables import CharacterTables

VOCABULARY = 8372
CHARACTERS = 30
NAMES = {
    "bert": ("BERT", "NM-BERT"),
    "spellgcn": ("SpellGCN", "NM-SpellGCN"),
    "dcn": ("DCN", "NM-DCN"),
    "phmospell": ("PHMOSpell", "NM-PHMOSpell"),
    "realise": ("ReaLiSe", "NM-ReaLiSe"),
    "dgspeller": ("DGSpeller", "DNSpeller"),
}
START, END = "<!-- sizes: start -->", "<!-- sizes: end -->"


def main() -> None:
    path = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/models.md")
    text = path.read_text(encoding="utf-8")
    path.write_text(with_table(text, "\n".join(table())), encoding="utf-8")


def with_table(text: str, lines: str) -> str:
    """The page with the lines between its two markers."""
    if START not in text or END not in text:
        raise InputError(f"the page has no {START} and {END}; add them where the table belongs.")
    before, rest = text.split(START, 1)
    after = rest.split(END, 1)[1]
    return f"{before}{START}\n{lines}\n{END}{after}"


def table() -> Iterator[str]:
    """Markdown, one row per model, masked and not."""
    yield f"Encoder of BERT-base, vocabulary of {VOCABULARY:,}; one sentence of {CHARACTERS} characters."
    yield ""
    yield "| model | parameters (M) | prediction (GFLOP) | × BERT | masking always active (GFLOP) | × BERT |"
    yield "|---|---:|---:|---:|---:|---:|"
    bert = 0.0
    for speller, (plain_name, masked_name) in NAMES.items():
        plain, masked = described(speller, masked=False), described(speller, masked=True)
        base = operations(plain)
        bert = bert or base  # BERT is the first row
        yield _row(plain_name, plain, base, None, bert)
        yield _row(masked_name, masked, base, operations(masked), bert)


def _row(name: str, model: SpellerModel, base: float, always: float | None, bert: float) -> str:
    parameters = sum(parameter.numel() for parameter in model.parameters()) / 1e6
    masked = "| |" if always is None else f"{always / 1e9:.2f} | {always / bert:.2f} |"
    return f"| {name} | {parameters:.1f} | {base / 1e9:.2f} | {base / bert:.2f} | {masked}"


def described(speller: str, *, masked: bool) -> SpellerModel:
    """A full-size model without weights (on PyTorch's meta device), in eval mode."""
    encoder = EncoderConfig(vocabulary=VOCABULARY, mask_id=4)
    masking = to_mapping(MaskingConfig(active="always")) if masked else None
    values = {"speller": speller, "encoder": to_mapping(encoder), "masking": masking}
    with torch.device("meta"):
        model = build(parse(values), _blank_tables())
    return model.to("meta").eval()


def operations(model: SpellerModel) -> float:
    """Floating-point operations of one prediction; tables that are computed once per model do not count."""
    hidden = model.config.encoder.hidden
    for module in model.modules():
        if isinstance(module, Cached):
            module.cached(lambda: torch.zeros(VOCABULARY, hidden, device="meta"))
    batch = Batch(torch.zeros(1, CHARACTERS + 2, dtype=torch.long, device="meta"))
    with FlopCounterMode(display=False) as counter:
        model.predict(batch)
    return float(counter.get_total_flops())


def _blank_tables() -> CharacterTables:
    pair = np.array([[5], [6]], dtype=np.int32)
    return CharacterTables(
        letters=np.zeros((VOCABULARY, 8), dtype=np.uint8),
        bitmaps=np.zeros((VOCABULARY, 3, 32, 32), dtype=np.uint8),
        syllables=np.zeros(VOCABULARY, dtype=np.int32),
        sound=pair,
        shape=pair,
    )


if __name__ == "__main__":
    main()
