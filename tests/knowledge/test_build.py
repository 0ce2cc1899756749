"""The shipped tables are what scripts/build_knowledge.py makes."""

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from nmspeller.knowledge import glyphs, pinyin

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "build_knowledge.py"
SAMPLE = "的一是在不了有和人这中大为上个国我以要他时来用们漢灣龍鬱〇"


@pytest.fixture(scope="module")
def build() -> ModuleType:
    for needed in ("jieba", "fontTools", "PIL", "pypinyin"):
        pytest.importorskip(needed)
    spec = importlib.util.spec_from_file_location("build_knowledge", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
def test_glyphs_are_drawn_bit_for_bit(build: ModuleType) -> None:
    for package, font in (("fonts-noto-cjk", build.GOTHIC), ("fonts-arphic-ukai", build.KAI)):
        if not font.exists():
            pytest.skip(f"the Debian package {package} is not installed")
    drawn = np.array([[build.draw(character, face) for face in range(3)] for character in SAMPLE])
    np.testing.assert_array_equal(drawn, glyphs.bitmaps_of(SAMPLE))


def test_readings_are_pypinyins(build: ModuleType) -> None:
    uses = build.readings_in_words()
    for character in SAMPLE:
        assert tuple(build.syllables_of(character, uses[character])) == pinyin.readings(character)


def test_the_table_of_scripts_is_opencc(
    build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped = (build.PACKAGE / "text" / "script_characters.txt").read_bytes()
    (tmp_path / "text").mkdir()
    monkeypatch.setattr(build, "PACKAGE", tmp_path)
    build.build_script()
    rebuilt = (tmp_path / "text" / "script_characters.txt").read_bytes()
    assert rebuilt == shipped


def test_tables_are_saved_the_same_every_time(
    build: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "KNOWLEDGE", tmp_path)
    for name in ("a.npz", "b.npz"):
        build.save(name, list(SAMPLE), numbers=np.arange(10, dtype=np.uint16))
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
