"""Of edits with some probability, how many are right."""

import numpy as np
import pytest

from nmspeller.errors import InputError
from reliability import draw_reliability, reliability


def test_reliability_counts_each_edit_once(tmp_path):
    rng = np.random.default_rng(0)
    sure = np.append(rng.random(1000), [0.0, 1.0])
    right = rng.random(len(sure)) < sure
    means, shares, sizes = reliability(sure, right)
    assert sum(sizes) == len(sure)
    assert np.dot(means, sizes) == pytest.approx(sure.sum())
    assert np.dot(shares, sizes) == pytest.approx(right.sum())
    np.testing.assert_allclose(means, shares, atol=0.15)
    draw_reliability(sure, right, tmp_path / "reliability.png")
    assert (tmp_path / "reliability.png").read_bytes().startswith(b"\x89PNG")


def test_without_edits_there_is_nothing_to_draw(tmp_path):
    with pytest.raises(InputError, match="some edits"):
        draw_reliability([], [], tmp_path / "no.png")
