"""What `make run` shows: a sample text checked with the shipped model, or how it is read without one."""

import os
import sys
from importlib.resources import files
from pathlib import Path

from nmspeller.apps.cli import run

SAMPLE = Path(__file__).with_name("sample.txt")


def show_analysis(text: str) -> None:
    """Print the sentence windows of the text, the script of each, and the spans that are never edited."""
    from nmspeller.text.protect import protected_spans
    from nmspeller.text.script import detect
    from nmspeller.text.windows import split

    for number, line in enumerate(text.splitlines(), start=1):
        for window in split(line, limit=128):
            piece = line[window.keep_start : window.keep_stop]
            print(f"{number:3}  {detect(piece).name.lower():<11} {piece}")
        for span in protected_spans(line):
            print(f"     protected   {line[span.start : span.stop]}  ({span.kind})")


def main() -> int:
    """Exit with 0 for findings too: they are what the sample is for."""
    if files("nmspeller").joinpath("shipped", "model.onnx").is_file():
        code = run(["check", os.path.relpath(SAMPLE)])
        return 0 if code == 1 else code
    print("No model is shipped with this version yet; this is how the sample text is read:\n")
    show_analysis(SAMPLE.read_text(encoding="utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
