"""What identifies a job, and the errors that keep two jobs from mixing in one folder."""

from typing import Any

from nmspeller import __version__
from nmspeller.apps.batch.filesystem import file_system, sha256
from nmspeller.apps.batch.job import BatchJob
from nmspeller.apps.batch.plan import Plan, key
from nmspeller.apps.batch.sources import Source
from nmspeller.apps.batch.store import MANIFEST, QUARANTINE, WORK, Store
from nmspeller.errors import InputError
from nmspeller.messages import _


def identity(job: BatchJob, model_hash: str, plan: Plan) -> dict[str, Any]:
    """The part of the manifest that must not change when a job resumes."""
    return {
        "nmspeller": __version__,
        "model": model_hash,
        "options": job.options(),
        "inputs": [
            {
                "address": planned.source.address,
                "name": planned.source.name,
                "size": planned.size,
                "key": planned.key,
                "sha256": planned.sha256,
                "rows": planned.rows,
            }
            for planned in plan.sources
        ],
    }


def check_same_job(started: dict[str, Any], job: BatchJob, model_hash: str, sources: list[Source]) -> None:
    """Raise InputError if the job was started with another model, other options or other input."""

    def fail(difference: str) -> None:
        raise InputError(
            _(
                "{output} holds another job ({difference}); give another OUTPUT, or remove that folder."
            ).format(output=job.output, difference=difference)
        )

    for name, value in job.options().items():
        before = started["options"].get(name)
        if before != value:
            fail(
                _("{option}: another file").format(option=name)
                if name == "--words"
                else _("{option}: {before!r}, not {now!r}").format(option=name, before=before, now=value)
            )
    # After the options, one of which changes the hash.
    if started["model"] != model_hash:
        fail(_("another model"))
    if started["nmspeller"] != __version__:
        fail(_("started by nmspeller {version}").format(version=started["nmspeller"]))
    before = [(file["address"], file["name"]) for file in started["inputs"]]
    if before != [(source.address, source.name) for source in sources]:
        fail(_("other input files"))


def check_unchanged_input(started: dict[str, Any], job: BatchJob, sources: list[Source]) -> None:
    """Raise InputError if the content of an input file has changed; a new modification time is no change."""
    for file, source in zip(started["inputs"], sources, strict=True):
        if file["key"] != key(source) and file["sha256"] != sha256(source.address):
            raise InputError(
                _(
                    "{file} has changed since the job in {output} read it; give another OUTPUT, or remove "
                    "that one, to start again."
                ).format(file=source.shown, output=job.output)
            )


def check_output_folder(job: BatchJob, sources: list[Source], store: Store) -> None:
    """Raise InputError for an OUTPUT inside the input, around it, or with files that are not this job's."""
    fs, root = file_system(job.output)
    inside = f"{fs.unstrip_protocol(root).rstrip('/')}/"
    for source in sources:
        if source.address.startswith(inside):
            raise InputError(
                _("{file} is inside OUTPUT; choose another output folder.").format(file=source.shown)
            )
        if source.name in (MANIFEST, QUARANTINE) or source.name.startswith(WORK):
            raise InputError(
                _("{name} is a reserved name in OUTPUT; rename the file.").format(name=source.name)
            )
    for given in job.inputs:
        given_fs, given_root = file_system(given)
        if given_fs.isdir(given_root) and inside.startswith(
            f"{given_fs.unstrip_protocol(given_root).rstrip('/')}/"
        ):
            raise InputError(
                _("OUTPUT is inside the input {input}; choose a folder outside it.").format(input=given)
            )
    if fs.isfile(root):
        raise InputError(_("{output} is a file; OUTPUT is a folder to write to.").format(output=job.output))
    if store.read_manifest() is None and store.read_job() is None:
        for source in sources:
            if store.output.size(source.name) is not None:
                raise InputError(
                    _("{file} exists already; give another OUTPUT.").format(
                        file=store.output.path(source.name)
                    )
                )
