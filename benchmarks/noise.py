"""How synthetic errors compare with real ones: where they fall, and what is written instead.

    python benchmarks/noise.py PREPARED

PREPARED is what `lab data prepare` wrote. The real errors are those of its dev pairs, of which nothing
was counted; the noise model's are made in the held-out text. Writes docs/results/noise.md and its figures.
"""

import argparse
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nmspeller.lab.data.datasets import DataTable
from nmspeller.lab.data.folder import data_folder
from nmspeller.lab.data.noise import NoiseModel
from nmspeller.lab.data.prepared import Ids, Prepared
from page import PAGES, table, write_figures, write_page

PROFILES = {
    "learners (SIGHAN14 and 15, Lang-8, essays)": "learner",
    "native writers (SIGHAN13, ECSpell, web, revisions)": "writer",
    "input methods (queries, words of one sound)": "input_method",
    "scanner and speech (Wang, captions)": "scanner",
}
# Occurrences in a million characters; the last group has no upper end.
EDGES = (0, 10, 100, 1_000, 10_000)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("prepared", type=Path)
    parser.add_argument("--out", type=Path, default=PAGES)
    options = parser.parse_args()
    prepared = Prepared(options.prepared)
    found = measure(prepared)
    write_figures("noise", found, options.out)
    write_page("noise", page(found), options.out)
    print(page(found))


def measure(prepared: Prepared) -> dict[str, Any]:
    """The real errors' groups and bits, and the groups of synthetic ones."""
    noise, hanzi = prepared.noise, prepared.vocabulary.is_hanzi()
    counts = np.bincount(prepared.corpus(), minlength=len(hanzi)) * hanzi
    groups = np.digitize(1e6 * counts / counts.sum(), EDGES[1:])
    real = []
    sets = DataTable.read(data_folder()).training()
    for name, profile in PROFILES.items():
        pairs = [prepared.pairs(f"{each}_dev") for each, one in sets.items() if one.noise == profile]
        right, wrong = (
            np.concatenate([getattr(each, side) for each in pairs]) for side in ("target", "source")
        )
        differ = right != wrong
        real.append(
            {
                "errors_of": name,
                "errors": int(differ.sum()),
                "rates": rates(groups[right], differ & hanzi[right], hanzi[right]),
                "bits": {
                    profile: bits(noise, number, right[differ], wrong[differ])
                    for number, profile in enumerate(noise.names)
                },
            }
        )
    text = prepared.corpus("heldout")
    made = [
        {"profile": profile, "rates": rates(groups[text], noise.place[number][text], hanzi[text])}
        for number, profile in enumerate(noise.names)
    ]
    return {"edges": EDGES, "real": real, "made": made}


def rates(groups: NDArray[Any], errors: NDArray[Any], counted: NDArray[Any]) -> list[float]:
    """How often each group is misspelt, as a multiple of how often any character is."""
    mean = errors.sum() / counted.sum()
    return [
        round(float(errors[groups == group].sum() / max(counted[groups == group].sum(), 1) / mean), 2)
        for group in range(len(EDGES))
    ]


def bits(noise: NoiseModel, profile: int, right: Ids, wrong: Ids) -> dict[str, float]:
    """How surprising the profile finds what was written, and the share that it would never write.

    right, wrong: of each error, (errors,).
    """
    shares = np.diff(noise.wrong_cumulative[profile, right], axis=1, prepend=0)
    likely = np.where(noise.wrong[profile, right] == wrong[:, None], shares, 0).max(axis=1)
    return {
        "bits": round(float(-np.log2(likely[likely > 0]).mean()), 2),
        "never": round(100 * float((likely <= 0).mean()), 1),
    }


def page(found: dict[str, Any]) -> str:
    edges = [f"{edge:,}" for edge in found["edges"]]
    between = [f"{low} to {high}" for low, high in pairwise(edges[1:])]
    profiles = [each["profile"] for each in found["made"]]
    rows = [
        (each.get("errors_of") or f"synthetic: `{each['profile']}`", *map(str, each["rates"]))
        for each in (*found["real"], *found["made"])
    ]
    surprises = [
        (
            each["errors_of"],
            f"{each['errors']:,}",
            *(f"{each['bits'][name]['bits']} ({each['bits'][name]['never']} %)" for name in profiles),
        )
        for each in found["real"]
    ]
    return f"""# Synthetic errors beside real ones

Written by `benchmarks/noise.py`. Real errors are those of the dev pairs, of which nothing was counted;
synthetic ones are those of the noise model's profiles in held-out text.

How often characters are misspelt, as a multiple of the mean, by how often they occur in a million:

{table(("", f"under {edges[1]}", *between, f"over {edges[-1]}"), rows)}

How many bits each profile needs to tell what was written for a character that is wrong, and in parentheses
which share of the errors it would never make:

{table(("errors of", "errors", *(f"`{name}`" for name in profiles)), surprises)}
"""


if __name__ == "__main__":
    main()
