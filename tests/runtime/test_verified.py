"""A model file that is not the one of its policy is an error, at the cost of one hash after each change."""

import os
import shutil
from pathlib import Path
from threading import Event

import pytest

from nmspeller import InputError, Speller
from nmspeller.messages import speaking
from nmspeller.runtime import verified
from nmspeller.runtime.pipeline import SHIPPED
from nmspeller.runtime.policy import Policy
from nmspeller.runtime.verified import sha256, verify, verifying


@pytest.fixture
def hashed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The files that were hashed, where every file is worth remembering."""
    found: list[Path] = []

    def counted(path: Path) -> str:
        found.append(path)
        return sha256(path)

    monkeypatch.setattr(verified, "sha256", counted)
    monkeypatch.setattr(verified, "_REMEMBERED_BYTES", 0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return found


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"weights")
    return path


def in_a_new_process() -> None:
    verified._remembered.cache_clear()


def test_the_shipped_model_has_the_hash_of_its_policy() -> None:
    assert Policy.read(SHIPPED / "policy.json").sha256 == {"model.onnx": sha256(SHIPPED / "model.onnx")}


def test_a_model_with_one_other_byte(model_folder: Path, tmp_path: Path) -> None:
    broken = shutil.copytree(model_folder, tmp_path / "broken")
    content = bytearray((broken / "model.onnx").read_bytes())
    content[-100] ^= 1  # in a weight: the file can still be loaded
    (broken / "model.onnx").write_bytes(content)
    with pytest.raises(InputError, match=r"model\.onnx is damaged, or is not the file that policy\.json"):
        Speller(broken, threads=1)


def test_a_file_is_hashed_while_it_is_loaded(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    is_loading = Event()

    def hashed_in_another_thread(path: Path) -> str:
        assert is_loading.wait(60)
        return sha256(path)

    monkeypatch.setattr(verified, "sha256", hashed_in_another_thread)
    with verifying([model], {"model.onnx": sha256(model)}):
        is_loading.set()


def test_a_damaged_file_is_called_so_whatever_loading_it_says(model: Path) -> None:
    with (
        speaking("zh"),
        pytest.raises(InputError, match=r"model\.onnx 已损坏"),
        verifying([model], {"model.onnx": "0" * 64}),
    ):
        raise InputError("it cannot be loaded")


def test_an_exported_model_needs_a_hash_and_a_checkpoint_does_not(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"policy\.json has no hash of model\.onnx; export the model again"):
        verify([tmp_path / "model.onnx"], {})
    verify([tmp_path / "model.safetensors", tmp_path / "config.yaml"], {})


def test_a_checkpoint_with_a_hash_is_verified(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    with pytest.raises(InputError, match=r"model\.safetensors is damaged"):
        verify([tmp_path / "model.safetensors"], {"model.safetensors": "0" * 64})


def test_a_file_is_hashed_once_until_it_changes(model: Path, hashed: list[Path]) -> None:
    hashes = {"model.onnx": sha256(model)}
    for _time in range(3):
        verify([model], hashes)
        in_a_new_process()
    assert hashed == [model]
    times = model.stat()
    model.write_bytes(b"WEIGHTS")
    os.utime(model, ns=(times.st_atime_ns, times.st_mtime_ns))
    with pytest.raises(InputError, match="is damaged"):
        verify([model], hashes)
    assert hashed == [model, model]


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"stamp": 5}', b"\xff"])
def test_a_damaged_memory_is_written_again(
    model: Path, hashed: list[Path], tmp_path: Path, content: bytes
) -> None:
    hashes = {"model.onnx": sha256(model)}
    verify([model], hashes)
    [memory] = (tmp_path / "cache" / "nmspeller" / "hashes").iterdir()
    memory.write_bytes(content)
    for _time in range(2):
        in_a_new_process()
        verify([model], hashes)
    assert hashed == [model, model]


def test_without_a_folder_to_remember_in_every_process_hashes(
    model: Path, hashed: list[Path], tmp_path: Path
) -> None:
    (tmp_path / "cache").write_bytes(b"not a folder")
    for _time in range(2):
        verify([model], {"model.onnx": sha256(model)})
        verify([model], {"model.onnx": sha256(model)})
        in_a_new_process()
    assert hashed == [model, model]
