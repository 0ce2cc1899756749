"""The outputs for characters that are extra, missing and swapped."""

import math

import pytest
import torch

from nmspeller import InputError
from nmspeller.lab.data.alignment import EXTRA, MISSING, SWAPPED
from nmspeller.lab.models import checkpoint
from nmspeller.lab.models.batch import NO_TARGET, collate, pack
from nmspeller.lab.models.config import EncoderConfig, SpellerConfig
from nmspeller.lab.models.registry import build, parse
from nmspeller.lab.models.speller import TAG_WEIGHT, tag_bits, tag_loss
from nmspeller.lab.models.tag_network import log_likelihoods
from nmspeller.lab.models.tag_sizes import states_read, tag_shapes

SIZES = {"vocabulary": 40, "hidden": 16, "layers": 2, "heads": 2, "intermediate": 32, "positions": 32}

TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(chr(0x4E00 + n) for n in range(35))]


def speller(**options):
    torch.manual_seed(0)
    encoder = EncoderConfig(**SIZES, mask_id=4, **options)
    return build(SpellerConfig(speller="bert", encoder=encoder, tags=True)).eval()


def test_each_bit_is_a_label_of_its_own():
    bits = tag_bits(torch.tensor([0, EXTRA, MISSING, EXTRA | MISSING, SWAPPED, NO_TARGET]))
    assert bits.tolist() == [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 0]]


def test_the_loss_is_the_mean_over_labelled_positions():
    scores = torch.tensor([[0.0, 0.0, 0.0], [9.0, -9.0, -9.0], [5.0, 5.0, 5.0]])
    found = tag_loss(scores, torch.tensor([0, EXTRA, NO_TARGET]))
    wanted = (3 * math.log(2) + 3 * math.log1p(math.exp(-9))) / 2
    assert float(found) == pytest.approx(wanted, rel=1e-5)
    assert float(tag_loss(scores, torch.full((3,), NO_TARGET))) == 0


def test_tags_add_to_the_loss_where_there_are_labels():
    model = speller()
    rows = [torch.tensor([2, 7, 8, 9, 3])]
    targets, tags = [torch.tensor([-100, 7, 8, 9, -100])], [torch.tensor([-100, 0, EXTRA, 0, MISSING])]
    plain, tagged = collate(rows, targets), collate(rows, targets, tags=tags)
    extra = tag_loss(model.outputs(tagged).tags, tagged.tags)
    assert model.loss(tagged).item() == pytest.approx(
        (model.loss(plain) + TAG_WEIGHT * extra).item(), rel=1e-5
    )
    packed = pack(rows, targets, tags=tags)
    assert model.loss(packed).item() == pytest.approx(model.loss(tagged).item(), rel=1e-4)


def test_training_learns_where_something_is_extra_missing_and_swapped():
    model = speller(dropout=0.0, attention_dropout=0.0).train()
    rows = [torch.tensor([2, 7, 7, 9, 3]), torch.tensor([2, 8, 9, 3]), torch.tensor([2, 11, 10, 3])]
    targets = [
        torch.tensor([-100, *row[1:-1], -100]) for row in ([2, 7, 7, 9, 3], [2, 8, 9, 3], [2, 10, 11, 3])
    ]
    tags = [
        torch.tensor(row) for row in ([-100, 0, EXTRA, 0, 0], [-100, 0, 0, MISSING], [-100, SWAPPED, 0, 0])
    ]
    batch = pack(rows, targets, tags=tags)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for _ in range(60):
        model.loss(batch).backward()
        optimiser.step()
        optimiser.zero_grad()
    likely = (model.eval().predict_tags(batch) > 0.5) & (batch.tags != NO_TARGET)[:, None]
    assert likely.nonzero().tolist() == [[2, 0], [8, 1], [10, 2]]


@pytest.mark.parametrize("quantised", [False, True])
def test_a_checkpoint_keeps_its_tags(tmp_path, quantised):
    model = speller(fake_quantised=quantised)
    checkpoint.save(tmp_path, model, TOKENS)
    again, _ = checkpoint.load(tmp_path)
    batch = collate([torch.tensor([2, 7, 8, 3])])
    assert torch.equal(again.predict_tags(batch), model.predict_tags(batch))
    assert type(again.tags) is type(model.tags)  # never rounded


def test_models_without_tags_load_as_before(tmp_path):
    model = build(SpellerConfig(speller="bert", encoder=EncoderConfig(**SIZES, mask_id=4)))
    assert model.tags is None
    assert not any(name.startswith("tags.") for name in model.state_dict())
    old = parse({"speller": "bert", "encoder": {**SIZES, "mask_id": 4}})
    assert not old.tags


@pytest.mark.parametrize("name", ["dcn", "dgspeller"])
def test_only_bert_has_tags(name):
    with pytest.raises(InputError, match="leave out `tags`"):
        build(parse({"speller": name, "encoder": {**SIZES, "mask_id": 4}, "tags": True}))


def test_the_sizes_of_the_network_are_known_without_torch():
    encoder = EncoderConfig(**SIZES, mask_id=4)
    model = build(SpellerConfig(speller="bert", encoder=encoder, tags=True))
    found = {name: tuple(weight.shape) for name, weight in model.tags.state_dict().items()}
    assert found == tag_shapes(encoder)


@pytest.mark.parametrize(("layers", "read"), [(12, (3, 6, 9, 12)), (2, (1, 1, 2, 2)), (1, (1, 1, 1, 1))])
def test_states_are_read_at_each_quarter(layers, read):
    assert states_read(layers) == read


def test_a_row_is_tagged_the_same_alone_padded_and_packed():
    model = speller()
    rows = [torch.tensor([2, 7, 8, 9, 10, 3]), torch.tensor([2, 11, 12, 3]), torch.tensor([2, 13, 3])]
    alone = [model.predict_tags(collate([row], pad_multiple=1))[0] for row in rows]
    padded, packed = model.predict_tags(collate(rows)), model.predict_tags(pack(rows))
    assert torch.allclose(packed, torch.cat(alone), atol=1e-6)
    for row, own, found in zip(rows, alone, padded, strict=True):
        assert torch.allclose(found[: len(row)], own, atol=1e-6)


def test_the_likelihoods_are_of_a_character_its_neighbours_and_the_best():
    scores = torch.randn(1, 5, 40)
    batch = collate([torch.tensor([2, 7, 8, 9, 3])], pad_multiple=1)
    logarithms = scores.log_softmax(dim=-1)[0]
    found = log_likelihoods(scores, batch)[0]
    for place, (here, after, before) in {1: (7, 8, 2), 2: (8, 9, 7), 3: (9, 3, 8)}.items():
        wanted = [*(logarithms[place, each] for each in (here, after, before)), logarithms[place].max()]
        assert found[place].tolist() == pytest.approx([float(each) for each in wanted], abs=1e-5)
    assert not found[[0, 4]].any()  # [CLS] and [SEP]
