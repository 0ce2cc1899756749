"""The implementation of `nmspeller review`: the files, and the exit code of the dialogue about them."""

import signal
from collections.abc import Iterator
from functools import partial

from nmspeller.apps.check_review.review import Review
from nmspeller.apps.check_review.session import Quit, Session, ToReview
from nmspeller.apps.cli.inputs import Input
from nmspeller.apps.cli.job import INTERRUPTED, CheckJob, exit_on_signal


def review(job: CheckJob, names: list[str]) -> int:
    """Ask about each finding in the terminal and return the exit code."""
    signal.signal(signal.SIGTERM, exit_on_signal)
    session = Session(job.words, job.report_error)
    dialogue = Review(session)
    interrupted = False
    try:
        dialogue.run(_to_review(job, names))
    except Quit:
        pass
    except KeyboardInterrupt:
        interrupted = True
    job.tell_what_was_not_checked()
    code = INTERRUPTED if interrupted else job.exit_code(found=session.found)
    dialogue.end_process_if_searching(code)
    return code


def _to_review(job: CheckJob, names: list[str]) -> Iterator[ToReview]:
    for one in job.inputs.named(names):
        if one.path is not None:
            yield _of_file(job, one)


def _of_file(job: CheckJob, one: Input) -> ToReview:
    assert one.path is not None
    return ToReview(
        one.path,
        load=partial(job.load, one),
        speller=partial(job.speller, one.config),
        level=job.level_for(one),
        wanted=partial(job.unknown, one),
        doubted=partial(job.unknown_hints, one),
        write=partial(job.write, one.path),
    )
