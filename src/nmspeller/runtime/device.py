"""The device that a model runs on, and the files of a model folder that it is loaded from."""

from pathlib import Path

from nmspeller.errors import InputError
from nmspeller.messages import _
from nmspeller.runtime.choice import Choice
from nmspeller.runtime.decoder import ScoringEngine
from nmspeller.runtime.engine import OnnxEngine
from nmspeller.runtime.native.engine import NativeEngine, NativePrefilter
from nmspeller.runtime.native.weights import UnsupportedError
from nmspeller.runtime.prefilter import COMMAND, THRESHOLDS, OnnxPrefilter, Prefilter
from nmspeller.runtime.prefilter import FILE as PREFILTER
from nmspeller.text.vocabulary import Vocabulary

_EXPORTED = ("model.onnx",)
_CHECKPOINTS = (("model.safetensors", "config.yaml"), ("model.safetensors", "config.json"))


class Device(Choice):
    """The CPU, or an NVIDIA GPU."""

    CPU = "cpu"
    CUDA = "cuda"


def weight_files(folder: Path, device: Device) -> tuple[Path, ...]:
    """The files to load the model from: preferably the export on the CPU, the checkpoint on a GPU.

    Raises:
        InputError: the folder holds no model.
    """
    preferred = (_EXPORTED, *_CHECKPOINTS) if device is Device.CPU else (*_CHECKPOINTS, _EXPORTED)
    for names in preferred:
        if all((folder / name).is_file() for name in names):
            return tuple(folder / name for name in names)
    raise _no_export(folder)


def need_exported(folder: Path) -> None:
    """Check that the folder holds an exported model.

    Raises:
        InputError: it does not.
    """
    if not (folder / "model.onnx").is_file():
        raise _no_export(folder)


def _no_export(folder: Path) -> InputError:
    return InputError(
        _("{folder} holds no model.onnx; give a folder that `nmspeller lab export` wrote.").format(
            folder=folder
        )
    )


def prefilter_files(folder: Path) -> tuple[Path, Path]:
    """The folder's prefilter and its thresholds.

    Raises:
        InputError: there is none.
    """
    if not (folder / PREFILTER).is_file():
        raise InputError(
            _("{folder} holds no {file}; leave the prefilter out, or make one with `{command}`.").format(
                folder=folder, file=PREFILTER, command=COMMAND
            )
        )
    return folder / PREFILTER, folder / THRESHOLDS


def open_prefilter(
    folder: Path, vocabulary: Vocabulary, device: Device, *, threads: int | None = None
) -> Prefilter:
    """The folder's prefilter, loaded by what its model is loaded by."""
    if _is_exported(folder, device):
        try:
            return NativePrefilter(folder / PREFILTER, vocabulary, threads=threads)
        except UnsupportedError:
            return OnnxPrefilter(folder / PREFILTER, vocabulary, threads=threads)
    from nmspeller.runtime.torch_engine import TorchPrefilter

    return TorchPrefilter.open(folder, vocabulary, device.value, threads=threads)


def open_engine(
    folder: Path, vocabulary: Vocabulary, device: Device, *, threads: int | None = None
) -> ScoringEngine:
    """The folder's model, loaded: on the processor an export, all else by PyTorch.

    The native engine runs an export where it can, else ONNX Runtime.
    """
    if _is_exported(folder, device):
        try:
            return NativeEngine(folder / "model.onnx", vocabulary, threads=threads)
        except UnsupportedError:
            return OnnxEngine(folder / "model.onnx", vocabulary, threads=threads)
    from nmspeller.runtime.torch_engine import TorchEngine

    exported = weight_files(folder, device)[0].name == "model.onnx"
    return TorchEngine.open(folder, vocabulary, device.value, exported=exported, threads=threads)


def _is_exported(folder: Path, device: Device) -> bool:
    return device is Device.CPU and weight_files(folder, device)[0].name == "model.onnx"
