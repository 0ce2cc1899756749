"""A recipe that trains the network of tags and leaves the speller below it as it is."""

import pytest
import torch

from nmspeller.errors import InputError
from nmspeller.lab.training.finetune import finetune
from nmspeller.lab.training.recipes import read_recipe
from nmspeller.lab.training.start import start_model

LOOP = {"precision": "fp32", "log_every": 1, "save_seconds": 0, "optimiser": {"rate": 1e-2}}
STAGE = {"copies": {"sighan13_train": 4}, "batch_sentences": 8, "dropout": 0.3, "loop": LOOP}


def changed(model, before):
    """The first part of the name of each parameter that differs, and whether all may learn."""
    names = {
        name.partition(".")[0]
        for name, tensor in model.state_dict().items()
        if (tensor != before[name]).any()
    }
    return names, all(parameter.requires_grad for parameter in model.parameters())


@pytest.mark.parametrize(
    ("stages", "parts"),
    [
        ([{**STAGE, "tags_alone": True}], {"tags"}),
        ([{**STAGE, "tags_alone": True}, STAGE], {"tags", "semantic", "head"}),
    ],
)
def test_nothing_below_the_tags_is_changed_by_such_a_stage(
    little_prepared, little_start, tmp_path, stages, parts
):
    model = start_model({"speller": "bert", "tags": True}, little_start)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    finetune(model, read_recipe({"stages": stages}), little_prepared, out=tmp_path)
    assert changed(model, before) == (parts, True)


def test_the_speller_below_has_no_dropout(little_prepared, little_start, tmp_path):
    model = start_model({"speller": "bert", "tags": True}, little_start, dropout=0.3)
    recipe = read_recipe({"stages": [{**STAGE, "tags_alone": True}]})
    finetune(model, recipe, little_prepared, out=tmp_path)
    shares = {
        name.partition(".")[0]: module.p
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Dropout)
    }
    assert shares == {"semantic": 0.0, "tags": 0.3}


def test_a_model_without_tags_is_refused(little_prepared, little_start, tmp_path):
    model = start_model({"speller": "bert"}, little_start)
    with pytest.raises(InputError, match="start from one with tags"):
        finetune(
            model, read_recipe({"stages": [{**STAGE, "tags_alone": True}]}), little_prepared, out=tmp_path
        )
