"""One call adds n-gram masking to a Hugging Face BERT."""

import runpy
from pathlib import Path

import pytest
import torch

from nmspeller.errors import InputError
from nmspeller.lab.models.batch import collate
from nmspeller.lab.models.bert import BertSpeller
from nmspeller.lab.models.config import MaskingConfig, SpellerConfig
from nmspeller.lab.models.hugging_face import load_backbone, read_encoder_config
from nmspeller.lab.models.plugin import mask_bert

EXAMPLE = Path(__file__).resolve().parents[3] / "docs" / "examples" / "mask_hf_bert.py"


@pytest.fixture
def theirs():
    import transformers

    config = transformers.BertConfig(
        vocab_size=60,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=48,
    )
    return transformers.BertForMaskedLM(config).eval()


@torch.no_grad()
def test_equals_our_masked_bert(theirs, tmp_path, rows):
    import transformers

    theirs.save_pretrained(tmp_path)
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n", encoding="utf-8")
    for ngram in ("left-bigram", "trigram"):
        config = SpellerConfig(
            speller="bert",
            encoder=read_encoder_config(tmp_path),
            masking=MaskingConfig(ngram=ngram, active="always"),
        )
        ours = BertSpeller(config).eval()
        load_backbone(ours, tmp_path)
        plain = transformers.BertForMaskedLM.from_pretrained(tmp_path).eval()
        masked = mask_bert(plain, ngram, mask_id=4, active="always")
        batch = collate(rows)
        found = masked(batch.ids, attention_mask=batch.real.long()).logits
        torch.testing.assert_close(found[batch.real], ours(batch)[batch.real], atol=1e-5, rtol=1e-5)
        unpadded = masked(batch.ids[4:, :16]).logits
        torch.testing.assert_close(unpadded, ours(collate(rows[4:], pad_multiple=1)), atol=1e-5, rtol=1e-5)


@torch.no_grad()
def test_prediction_is_unchanged_with_masking_in_training_only(theirs, rows):
    ids = collate(rows).ids
    before = theirs(ids).logits
    assert mask_bert(theirs, mask_id=4) is theirs
    assert torch.equal(theirs(ids).logits, before)


def test_the_layer_trains_and_is_saved_with_the_model(theirs, rows):
    ids = collate(rows).ids
    mask_bert(theirs, "unigram", mask_id=4, init="random").train()
    theirs(ids, labels=ids).loss.backward()
    own = {name: p for name, p in theirs.named_parameters() if "ngram_masking" in name}
    assert own
    assert all(parameter.grad is not None for parameter in own.values())
    assert set(own) <= set(theirs.state_dict())


def test_other_models_are_an_error(theirs):
    with pytest.raises(InputError, match="not a BERT"):
        mask_bert(torch.nn.Linear(2, 2))
    mask_bert(theirs, mask_id=4)
    with pytest.raises(InputError, match="already"):
        mask_bert(theirs, mask_id=4)


def test_the_example_in_the_docs_runs(capsys):
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    assert "loss" in capsys.readouterr().out
