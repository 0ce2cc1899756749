"""At step 0 a multi-modal or masked speller predicts what the BERT it extends predicts."""

import numpy as np
import pytest
import torch

from nmspeller.lab.models import checkpoint
from nmspeller.lab.models.batch import collate
from nmspeller.lab.models.registry import build, parse
from nmspeller.lab.models.tables import CharacterTables
from nmspeller.lab.training.optimisation import Optimiser, OptimiserConfig
from nmspeller.lab.training.start import start_model

TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(chr(0x4E00 + i) for i in range(195))]
ENCODER = {
    "vocabulary": len(TOKENS), "hidden": 64, "layers": 2, "heads": 4, "intermediate": 128, "positions": 48,
    "mask_id": 4, "dropout": 0.0, "attention_dropout": 0.0,
}  # fmt: skip
SMALL = {"graphic_channels": [4, 4, 8, 8], "phonetic_layers": 1}
AS_BEFORE = {"fusion_init": "random", "modality_scale": 1.0}
MULTI_MODAL = pytest.mark.parametrize("speller", ["realise", "phmospell", "dgspeller"])


@pytest.fixture
def bert(request, tmp_path):
    """A BERT with clear preferences, as a checkpoint; `param` is the spread of its norms' parameters."""
    torch.manual_seed(0)
    model = build(parse({"speller": "bert", "encoder": ENCODER})).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" in name:
                parameter.add_(torch.randn_like(parameter) * request.param)
            else:
                parameter.normal_(std=1.0 if name == "head.output.bias" else 0.15)
    checkpoint.save(tmp_path / "bert", model, TOKENS)
    return model


@pytest.fixture
def start(bert, tmp_path):
    """Start a speller from the BERT."""
    CharacterTables.random(len(TOKENS)).save(tmp_path / "tables.npz")

    def started(description, folder="bert", **options):
        return start_model(description, tmp_path / folder, tables=tmp_path / "tables.npz", **options).eval()

    return started


@torch.no_grad()
def probabilities(model):
    draw = np.random.default_rng(0)
    rows = [np.concatenate([[2], draw.integers(5, len(TOKENS), size), [3]]) for size in (30, 9, 20, 16)]
    batch = collate(rows)
    return model(batch)[batch.real].softmax(dim=-1)


def difference(model, bert):
    return float((probabilities(model) - probabilities(bert)).abs().max())


@MULTI_MODAL
@pytest.mark.parametrize("bert", [0.0], indirect=True)
def test_with_silent_modalities_and_plain_norms_the_start_is_exact(bert, start, speller):
    model = start({"speller": speller, "modality_scale": 0.0, **SMALL})
    torch.testing.assert_close(probabilities(model), probabilities(bert), atol=1e-5, rtol=1e-4)


@MULTI_MODAL
@pytest.mark.parametrize("bert", [0.0, 0.2], indirect=True)
def test_with_the_defaults_the_start_is_close(bert, start, speller):
    assert difference(start({"speller": speller, **SMALL}), bert) < 0.05


@pytest.mark.parametrize("speller", ["realise", "dgspeller"])
@pytest.mark.parametrize("bert", [0.2], indirect=True)
def test_without_them_it_is_not(bert, start, speller):
    assert difference(start({"speller": speller, **SMALL, **AS_BEFORE}), bert) > 0.2


@pytest.mark.parametrize("bert", [0.0], indirect=True)
def test_the_strict_choice_is_a_linear_head(bert, start):
    model = start({"speller": "dgspeller", "head": "linear", **SMALL})
    assert model.head.dense is None
    assert start({"speller": "dgspeller", **SMALL}).head.dense is not None


@pytest.mark.parametrize("bert", [0.0], indirect=True)
def test_pretrained_modalities_are_scaled_once_and_trained_spellers_are_not(bert, start, tmp_path):
    loud = start({"speller": "realise", **SMALL, **AS_BEFORE})
    checkpoint.save(tmp_path / "loud", loud, TOKENS)
    quiet = start({"speller": "realise", **SMALL}, modalities=tmp_path / "loud")
    for module in (quiet.graphic.norm, quiet.phonetic.layers[-1].output_norm):
        torch.testing.assert_close(module.weight.detach(), torch.full((64,), 0.05))
    again = start({"speller": "realise", **SMALL}, folder="loud")
    state = loud.state_dict()
    assert all(torch.equal(tensor, state[name]) for name, tensor in again.state_dict().items())


@pytest.mark.parametrize("bert", [0.0], indirect=True)
def test_a_masking_layer_can_start_as_the_identity(bert, start):
    masked = {"speller": "bert", "masking": {"active": "always", "init": "identity"}}
    torch.testing.assert_close(probabilities(start(masked)), probabilities(bert), atol=1e-5, rtol=1e-4)
    from_layer0 = {"speller": "bert", "masking": {"active": "always"}}
    assert difference(start(from_layer0), bert) > 0.1


@pytest.mark.parametrize("kind", ["adamw", "muon"])
@pytest.mark.parametrize("bert", [0.0], indirect=True)
def test_new_parameters_have_a_rate_of_their_own(bert, start, kind):
    model = start({"speller": "dgspeller", "masking": {"ngram": "trigram"}, **SMALL})
    new = {name.split(".")[0] for name in model.new_parameters if not name.startswith("semantic.masking.")}
    assert new == {"phonetic", "graphic", "fusion"}
    assert any(name.startswith("semantic.masking.") for name in model.new_parameters)
    optimiser = Optimiser(model, OptimiserConfig(kind=kind, rate=1e-3, new_parameter_rate=5.0))
    rates = {
        id(parameter): group["lr"]
        for part in optimiser.parts
        for group in part.param_groups
        for parameter in group["params"]
    }
    for name, parameter in model.named_parameters():
        assert rates[id(parameter)] == pytest.approx(5e-3 if name in model.new_parameters else 1e-3), name


@pytest.mark.parametrize("bert", [0.0], indirect=True)
def test_a_speller_that_starts_from_itself_has_no_new_parameters(start):
    assert not start({"speller": "bert"}).new_parameters
