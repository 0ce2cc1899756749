import sys

import psutil
import pytest

from nmspeller.runtime.memory import release_free_memory


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no malloc_trim")
def test_what_is_free_is_given_back():
    objects = [bytearray(1000) for _ in range(100_000)]
    kept = objects[-1]  # at the end of the heap, so that it cannot shrink by itself
    del objects
    before = psutil.Process().memory_info().rss
    release_free_memory()
    assert before - psutil.Process().memory_info().rss > 50_000_000
    assert kept is not None
