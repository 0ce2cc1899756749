import pytest
import torch

from nmspeller.errors import InputError
from nmspeller.lab.models.batch import collate, pack
from nmspeller.lab.models.registry import build, parse

SIZES = {
    "vocabulary": 30,
    "hidden": 16,
    "layers": 3,
    "heads": 2,
    "intermediate": 32,
    "positions": 16,
    "mask_id": 4,
    "dropout": 0.0,
    "attention_dropout": 0.0,
}


def speller(name):
    torch.manual_seed(0)
    model = build(parse({"speller": name, "encoder": SIZES})).eval()
    for parameter in model.parameters():
        parameter.data.add_(torch.randn_like(parameter) * 0.3)
    return model


def scores_of(model, ids):
    with torch.no_grad():
        return model(collate([ids]))[0]


def test_no_position_sees_its_own_character_and_every_other_one_does():
    model = speller("context")
    ids = [2, 10, 11, 12, 13, 3]
    before = scores_of(model, ids)
    for place in range(1, 5):
        after = scores_of(model, [*ids[:place], 20, *ids[place + 1 :]])
        assert torch.equal(before[place], after[place])
        others = [other for other in range(1, 5) if other != place]
        assert all(not torch.allclose(before[other], after[other]) for other in others)


def test_bert_does_see_itself():
    model = speller("bert")
    before, after = (scores_of(model, [2, 10, middle, 12, 3]) for middle in (11, 20))
    assert not torch.allclose(before[2], after[2])


def test_it_takes_no_masking_layer():
    with pytest.raises(InputError, match="leave `masking` out"):
        build(parse({"speller": "context", "encoder": SIZES, "masking": {"ngram": "trigram"}}))


def test_padded_and_packed_rows_agree():
    model = speller("context")
    rows = [[2, 10, 11, 3], [2, 12, 13, 14, 15, 3]]
    with torch.no_grad():
        padded, packed = model(collate(rows)), model(pack(rows))
    joined = torch.cat([padded[number, : len(row)] for number, row in enumerate(rows)])
    assert torch.allclose(joined, packed, atol=1e-5)
