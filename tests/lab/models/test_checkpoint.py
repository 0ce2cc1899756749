import json
import shutil

import pytest
import torch
from safetensors.torch import load_file, save_file

from nmspeller.errors import InputError
from nmspeller.lab.evaluation.paper import SPELLERS
from nmspeller.lab.models import checkpoint
from nmspeller.lab.models.batch import collate

TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(chr(0x4E00 + i) for i in range(55))]


@pytest.mark.parametrize("speller", list(SPELLERS))
@torch.no_grad()
def test_a_saved_model_is_the_same_when_loaded(make, rows, tmp_path, speller):
    model = make(speller, ngram="left-bigram").eval()
    checkpoint.save(tmp_path / "made" / "here", model, TOKENS, card="# Mine\n")
    again, tokens = checkpoint.load(tmp_path / "made" / "here")
    assert list(tokens) == TOKENS
    assert again.config == model.config
    assert torch.equal(again(collate(rows)), model(collate(rows)))
    assert sorted(path.name for path in (tmp_path / "made" / "here").iterdir()) == sorted(checkpoint.FILES)
    assert (tmp_path / "made" / "here" / "card.md").read_text(encoding="utf-8") == "# Mine\n"


def test_config_is_yaml_and_json(make, tmp_path):
    import yaml

    checkpoint.save(tmp_path, make("realise", ngram="trigram"), TOKENS)
    text = (tmp_path / "config.yaml").read_text(encoding="utf-8")
    assert yaml.safe_load(text) == json.loads(text)
    assert json.loads(text)["model"]["masking"]["ngram"] == "trigram"


def _spoil_config(folder, **changes):
    content = json.loads((folder / "config.yaml").read_text(encoding="utf-8"))
    content["model"].update(changes)
    (folder / "config.yaml").write_text(json.dumps(content), encoding="utf-8")


def _spoil_weights(folder, change):
    tensors = load_file(folder / "model.safetensors")
    change(tensors)
    save_file(tensors, folder / "model.safetensors")


def _cut(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda f: shutil.rmtree(f), "not a folder"),
        (lambda f: (f / "model.safetensors").unlink(), r"no model\.safetensors"),
        (lambda f: (f / "config.yaml").unlink(), r"no config\.yaml"),
        (lambda f: (f / "vocab.txt").unlink(), r"no vocab\.txt"),
        (lambda f: _cut(f / "model.safetensors"), "damaged"),
        (lambda f: (f / "model.safetensors").write_bytes(b""), "damaged"),
        (lambda f: (f / "model.safetensors").write_bytes(b"\x80\x04\x95pickle"), "damaged"),
        (lambda f: _cut(f / "config.yaml"), "damaged"),
        (lambda f: (f / "config.yaml").write_bytes(b"\xff\xfe"), "damaged"),
        (lambda f: (f / "config.yaml").write_text("[]"), "another program wrote it"),
        (lambda f: (f / "config.yaml").write_text('{"model_type": "bert"}'), "another program wrote it"),
        (
            lambda f: (f / "config.yaml").write_text('{"format": "nmspeller checkpoint 1", "model": {}}'),
            "not of the format 'nmspeller checkpoint 2'",
        ),
        (lambda f: (f / "vocab.txt").write_text("\n".join(TOKENS[:7])), r"vocab\.txt has 7 tokens"),
        (lambda f: (f / "vocab.txt").write_text("[PAD]\n"), "lacks"),
        (lambda f: (f / "vocab.txt").write_bytes(b"\xff"), "not UTF-8"),
        (lambda f: _spoil_config(f, speller="gpt"), "unknown speller 'gpt'"),
        (lambda f: _spoil_config(f, masking=None), "not in the model of"),
        (lambda f: _spoil_config(f, head="linear"), "not in the model of"),
        (lambda f: _spoil_config(f, colour="red"), r"model\.colour is unknown"),
        (lambda f: _spoil_config(f, encoder={"hidden": "big"}), r"model\.encoder\.hidden is 'big'"),
        (lambda f: _spoil_weights(f, lambda t: t.pop("head.output.bias")), r"no 'head\.output\.bias'"),
        (lambda f: _spoil_weights(f, lambda t: t.update({"x": torch.ones(3)})), "'x', which"),
        (
            lambda f: _spoil_weights(f, lambda t: t.update({"head.output.bias": torch.ones(3)})),
            r"shape \(3,\)",
        ),
    ],
)
def test_damage_is_reported_in_one_sentence(make, tmp_path, spoil, sentence):
    folder = tmp_path / "checkpoint"
    checkpoint.save(folder, make("bert", ngram="trigram"), TOKENS)
    spoil(folder)
    with pytest.raises(InputError, match=sentence) as error:
        checkpoint.load(folder)
    assert "\n" not in str(error.value)


def test_missing_tables_are_an_error(make, tmp_path):
    checkpoint.save(tmp_path, make("realise"), TOKENS)
    _spoil_weights(tmp_path, lambda tensors: tensors.pop("tables.letters"))
    with pytest.raises(InputError, match="'letters' does not fit"):
        checkpoint.load(tmp_path)


def test_a_vocabulary_of_another_size_is_an_error(make, tmp_path):
    with pytest.raises(InputError, match="59 tokens do not fit"):
        checkpoint.save(tmp_path, make("bert"), TOKENS[:-1])


def test_an_interrupted_save_keeps_the_old_weights(make, tmp_path, monkeypatch):
    first = make("bert")
    checkpoint.save(tmp_path, first, TOKENS)

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", killed)
    with pytest.raises(KeyboardInterrupt):
        checkpoint.save(tmp_path, make("bert"), TOKENS)
    again, _ = checkpoint.load(tmp_path)
    assert torch.equal(again.head.dense.weight, first.head.dense.weight)
