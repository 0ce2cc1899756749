"""Where a model runs, and which of a folder's files it then comes from."""

from pathlib import Path

from nmspeller.errors import InputError
from nmspeller.runtime.choice import Choice
from nmspeller.runtime.engine import Engine
from nmspeller.runtime.findings import AnyEngine
from nmspeller.runtime.glance import DOUBTS, Glance
from nmspeller.runtime.glance import FILE as GLANCE
from nmspeller.text.vocabulary import Vocabulary

_EXPORTED = ("model.onnx",)
_CHECKPOINTS = (("model.safetensors", "config.yaml"), ("model.safetensors", "config.json"))


class Device(Choice):
    """The processor, or an NVIDIA GPU."""

    CPU = "cpu"
    CUDA = "cuda"


def weight_files(folder: Path, device: Device) -> tuple[Path, ...]:
    """What the model is read from: on the processor rather the export, on a GPU rather the checkpoint.

    Raises:
        InputError: the folder holds no model.
    """
    preferred = (_EXPORTED, *_CHECKPOINTS) if device is Device.CPU else (*_CHECKPOINTS, _EXPORTED)
    for names in preferred:
        if all((folder / name).is_file() for name in names):
            return tuple(folder / name for name in names)
    raise _no_export(folder)


def need_exported(folder: Path) -> None:
    """Make sure that the folder holds an export.

    Raises:
        InputError: it does not.
    """
    if not (folder / "model.onnx").is_file():
        raise _no_export(folder)


def _no_export(folder: Path) -> InputError:
    return InputError(f"{folder} holds no model.onnx; give a folder that `nmspeller export` wrote.")


def glance_files(folder: Path, device: Device) -> tuple[Path, Path]:
    """The folder's glance and its doubts.

    PyTorch reads everything: beside a GPU, the small speller on the processor would be the slower part.

    Raises:
        InputError: there is none, or none that would save time.
    """
    if device is not Device.CPU or weight_files(folder, device)[0].name != "model.onnx":
        raise InputError("only an exported model on the processor can be quick; leave `quick` out.")
    if not (folder / GLANCE).is_file():
        raise InputError(
            f"{folder} holds no {GLANCE} to be quick with; leave `quick` out, or make one with "
            f"`{Glance.command}`."
        )
    return folder / GLANCE, folder / DOUBTS


def open_engine(
    folder: Path, vocabulary: Vocabulary, device: Device, *, threads: int | None = None
) -> AnyEngine:
    """The folder's model, loaded: on the processor an export by ONNX Runtime, all else by PyTorch."""
    files = weight_files(folder, device)
    exported = files[0].name == "model.onnx"
    if exported and device is Device.CPU:
        return Engine(files[0], vocabulary, threads=threads)
    from nmspeller.runtime.exported import read_exported
    from nmspeller.runtime.torch_engine import TorchEngine
    from nmspeller.runtime.weights import read_source

    source = read_exported(folder) if exported else read_source(folder)
    return TorchEngine(source, vocabulary, device.value, threads=threads)
