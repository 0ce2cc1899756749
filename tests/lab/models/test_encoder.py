import json
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from nmspeller.errors import InputError
from nmspeller.lab.data.folder import data_folder
from nmspeller.lab.models import hugging_face
from nmspeller.lab.models.batch import Batch, collate, pack
from nmspeller.lab.models.bert import BertSpeller
from nmspeller.lab.models.config import SpellerConfig
from nmspeller.lab.models.hugging_face import read_encoder_config

SPECIAL = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n"


@pytest.fixture(params=[1, 2], ids=["one token type", "two token types"])
def theirs(request, tmp_path):
    """A Hugging Face model with random weights, biases and norms included, saved in tmp_path / "hf"."""
    import transformers

    config = transformers.BertConfig(
        vocab_size=60,
        hidden_size=32,
        num_hidden_layers=3,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=48,
        type_vocab_size=request.param,
    )
    model = transformers.BertForMaskedLM(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.3)
    model.save_pretrained(tmp_path / "hf")
    (tmp_path / "hf" / "vocab.txt").write_text(
        SPECIAL + "\n".join(str(i) for i in range(55)), encoding="utf-8"
    )
    return model


def ours_from(folder: Path) -> BertSpeller:
    model = BertSpeller(SpellerConfig(speller="bert", encoder=read_encoder_config(folder)))
    hugging_face.load_backbone(model, folder)
    return model.eval()


@torch.no_grad()
def assert_parity(ours: BertSpeller, theirs, batch: Batch) -> None:
    expected = theirs(batch.ids, attention_mask=batch.real.long(), output_hidden_states=True)
    hidden = ours.semantic(batch)
    torch.testing.assert_close(
        hidden[batch.real], expected.hidden_states[-1][batch.real], atol=1e-5, rtol=1e-5
    )
    torch.testing.assert_close(ours(batch)[batch.real], expected.logits[batch.real], atol=1e-4, rtol=1e-5)


def test_equals_hugging_face_on_random_weights(theirs, tmp_path, rows):
    ours = ours_from(tmp_path / "hf")
    assert ours.config.encoder.mask_id == 4
    assert_parity(ours, theirs, collate(rows))
    assert_parity(ours, theirs, collate(rows[:1], pad_multiple=1))


def test_reads_old_names_and_bare_encoders(theirs, tmp_path, rows):
    path = tmp_path / "hf" / "model.safetensors"
    old = {
        name.removeprefix("bert.")
        .replace("LayerNorm.weight", "LayerNorm.gamma")
        .replace("LayerNorm.bias", "LayerNorm.beta"): tensor
        for name, tensor in load_file(path).items()
    }
    save_file(old, path)
    assert_parity(ours_from(tmp_path / "hf"), theirs, collate(rows))


def test_writes_what_hugging_face_reads(theirs, tmp_path, rows):
    import transformers

    hugging_face.write(ours_from(tmp_path / "hf"), tmp_path / "back")
    back, report = transformers.BertForMaskedLM.from_pretrained(tmp_path / "back", output_loading_info=True)
    assert not any(report[kind] for kind in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    ids = collate(rows[1:2], pad_multiple=1).ids
    torch.testing.assert_close(back.eval()(ids).logits, theirs(ids).logits, atol=1e-4, rtol=1e-5)


def test_a_linear_head_is_written_as_a_bare_encoder(make, tmp_path):
    import transformers

    hugging_face.write(make("bert", head="linear"), tmp_path)
    _, report = transformers.BertModel.from_pretrained(tmp_path, output_loading_info=True)
    assert not report["unexpected_keys"]
    assert all("pooler" in name for name in report["missing_keys"])


def test_a_model_that_masks_in_prediction_is_not_written_as_a_plain_bert(make, tmp_path):
    with pytest.raises(InputError, match="cannot be written as a plain BERT"):
        hugging_face.write(make("bert", ngram="trigram", active="always"), tmp_path)


def test_equals_hugging_face_on_the_shared_backbone(tmp_path, monkeypatch):
    import transformers

    try:
        source = data_folder().parent / "backbone"
    except InputError as absent:
        pytest.skip(str(absent))
    if not (source / "dequantize.py").is_file():
        pytest.skip("no backbone beside the data folder")
    monkeypatch.setattr(sys, "argv", ["dequantize.py", str(tmp_path)])
    runpy.run_path(str(source / "dequantize.py"), run_name="__main__")
    ours = ours_from(tmp_path)
    theirs = transformers.BertForMaskedLM.from_pretrained(tmp_path).eval()
    draw = np.random.default_rng(0)
    batch = collate([np.concatenate([[2], draw.integers(5, 8372, size), [3]]) for size in (5, 20)])
    with torch.no_grad():
        hidden = ours.semantic(batch)[batch.real]
        expected = theirs.bert(batch.ids, attention_mask=batch.real.long()).last_hidden_state[batch.real]
    torch.testing.assert_close(hidden, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("ngram", [None, "trigram"])
@torch.no_grad()
def test_a_sentence_scores_the_same_with_padding_in_any_batch_and_packed(make, rows, ngram):
    model = make("bert", ngram=ngram).eval()
    alone = torch.cat([model(collate([row], pad_multiple=1))[0] for row in rows])
    for batch in (collate(rows), collate(rows, pad_multiple=40), pack(rows), pack(rows, longest=30)):
        scores = model(batch)
        scores = scores[batch.real] if isinstance(batch, Batch) else scores
        torch.testing.assert_close(scores, alone, atol=1e-6, rtol=1e-5)
    backwards = model(pack(rows[::-1]))
    torch.testing.assert_close(backwards[: len(rows[-1])], alone[-len(rows[-1]) :], atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("speller", ["bert", "dcn"])
def test_gradients_are_the_same_packed_and_padded(make, rows, speller):
    model = make(speller, ngram="trigram").eval()
    targets = [np.concatenate([[-100], row[1:-1], [-100]]) for row in rows]
    gradients = []
    for batch in (collate(rows, targets), pack(rows, targets)):
        model.zero_grad()
        model.loss(batch).backward()
        gradients.append({name: p.grad.clone() for name, p in model.named_parameters()})
    torch.testing.assert_close(gradients[0], gradients[1], atol=1e-6, rtol=1e-4)


@torch.no_grad()
def test_bf16_is_close_to_fp32(make, rows):
    model = make("bert", ngram="trigram").eval()
    batch = collate(rows)
    exact = model(batch).softmax(-1)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        rough = model(batch).float().softmax(-1)
    torch.testing.assert_close(rough, exact, atol=5e-3, rtol=0.1)


@pytest.mark.parametrize("packed", [False, True])
def test_compiles_without_graph_breaks(make, rows, packed):
    model = make("bert", ngram="trigram", encoder={"dropout": 0.0, "attention_dropout": 0.0}).train()
    batch = (pack if packed else collate)(rows, rows)
    compiled = torch.compile(model.loss, backend="eager", fullgraph=True)
    torch.testing.assert_close(compiled(batch), model.loss(batch))


@pytest.mark.parametrize("speller", ["dcn", "realise"])
def test_other_spellers_compile_too(make, rows, speller):
    sizes = {"layers": 1, "dropout": 0.0, "attention_dropout": 0.0}
    model = make(speller, ngram="trigram", encoder=sizes).train()
    batch = collate(rows, rows)
    compiled = torch.compile(model.loss, backend="eager", fullgraph=speller == "dcn")
    torch.testing.assert_close(compiled(batch), model.loss(batch))


def test_a_dropout_of_0_adds_no_module(make):
    model = make("bert", encoder={"dropout": 0.0, "attention_dropout": 0.0})
    assert not any(isinstance(module, torch.nn.Dropout) for module in model.modules())


def test_loss_without_targets_is_zero_not_nan(make, rows):
    loss = make("bert").loss(collate(rows, [np.full(len(row), -100) for row in rows]))
    assert loss.item() == 0


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda folder: (folder / "model.safetensors").unlink(), "safetensors only"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"\x80\x02pickle"), "damaged"),
        (lambda folder: (folder / "model.safetensors").rename(folder / "pytorch_model.bin"), "only a pickle"),
        (lambda folder: (folder / "vocab.txt").write_text("a\nb"), r"lacks .*\[MASK\]"),
        (lambda folder: (folder / "config.json").write_text("{"), "not a Hugging Face BERT folder"),
        (lambda folder: (folder / "config.json").write_text('{"model_type": "t5"}'), "only BERT"),
        (lambda folder: (folder / "config.json").write_text("{}"), "does not have 'vocab_size'"),
        (lambda folder: _change(folder, num_hidden_layers=4), "not a BERT of 4 layers"),
        (lambda folder: _change(folder, intermediate_size=128), "of shape"),
    ],
)
def test_errors_for_bad_folders_say_what_is_wrong(theirs, tmp_path, spoil, sentence):
    spoil(tmp_path / "hf")
    with pytest.raises(InputError, match=sentence):
        ours_from(tmp_path / "hf")


def _change(folder: Path, **values: int) -> None:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps({**config, **values}), encoding="utf-8")


def test_exporters_read_names_and_checkpoints_without_torch_or_yaml():
    code = (
        "import sys\n"
        "from nmspeller.lab.models import checkpoint, config, names, tables\n"
        "assert 'torch' not in sys.modules and 'yaml' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
