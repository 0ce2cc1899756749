import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nmspeller.runtime.engine import OnnxEngine, _batch_size


@given(st.lists(st.integers(3, 600), min_size=1, max_size=300))
def test_batches_stay_within_the_budget_with_little_padding(widths: list[int]) -> None:
    ascending = np.sort(np.array(widths))
    while len(ascending):
        size = _batch_size(ascending, OnnxEngine.batch_tokens)
        assert size >= 1
        batch, ascending = ascending[:size], ascending[size:]
        assert size == 1 or size * batch[-1] <= OnnxEngine.batch_tokens
        assert batch[-1] <= batch[0] * 9 // 8 + 1


def test_one_length_fills_the_budget() -> None:
    assert _batch_size(np.full(5000, 32), 768) == 24
