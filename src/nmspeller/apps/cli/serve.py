"""`nmspeller serve`"""

from pathlib import Path

import typer

from nmspeller.apps.cli.conflicts import require
from nmspeller.apps.cli.options import (
    FINDINGS,
    MODEL,
    NO_RULES,
    ONE_CHOICE_OF_RULES,
    PREFILTER,
    RULES,
    WORDS,
    chosen_rules,
)
from nmspeller.apps.http.workers import block_sighup
from nmspeller.errors import InputError
from nmspeller.messages import N_, _
from nmspeller.runtime.rule_matches import DEFAULT_RULES

HELP = N_("Serve the speller over HTTP: a page at /, /v1/check, and /v2/check for every LanguageTool client.")


def serve(
    context: typer.Context,
    host: str = typer.Option(
        "127.0.0.1", help=N_("Address to listen on; any but localhost needs --api-key.")
    ),
    port: int = typer.Option(
        8081, min=0, max=65535, help=N_("Port to listen on; LanguageTool clients use 8081 by default.")
    ),
    workers: int = typer.Option(
        1, min=1, help=N_("Processes, each with its own engine; they share the cores.")
    ),
    threads: int | None = typer.Option(
        None, min=1, help=N_("Threads of each engine; by default cores / workers.")
    ),
    model: Path | None = MODEL,
    level: str = typer.Option(
        "balanced",
        rich_help_panel=FINDINGS,
        help=N_("careful, balanced or thorough, unless a request sets it."),
    ),
    words: list[Path] = WORDS,
    prefilter: bool = PREFILTER,
    rules: str = RULES,
    no_rules: bool = NO_RULES,
    api_key: str | None = typer.Option(
        None,
        envvar="NMSPELLER_API_KEY",
        help=N_("Require this key from clients (better set in the environment)."),
    ),
    insecure: bool = typer.Option(False, "--insecure", help=N_("Allow a public address without an API key.")),
    allow_origin: list[str] = typer.Option(
        [],
        help=N_(
            "Web origin that may send requests, such as https://example.org; may be repeated; * for all."
        ),
    ),
    allow_host: list[str] = typer.Option(
        [],
        help=N_("Host name under which a proxy or this machine's browser asks; may be repeated."),
    ),
    max_text_length: int | None = typer.Option(
        None,
        help=N_(
            "Longest text of one request, in characters; by default 1,000,000 for this machine alone, "
            "otherwise 100,000."
        ),
    ),
    max_body_bytes: int | None = typer.Option(
        None,
        help=N_(
            "Largest request body; by default 70,000,000 bytes for this machine alone, otherwise 2,000,000."
        ),
    ),
    batch_tokens: int = typer.Option(2_048, help=N_("Characters of a request that are checked together.")),
    queue_tokens: int = typer.Option(
        131_072, help=N_("Characters that may wait before requests are answered with 429.")
    ),
    longest_wait: float = typer.Option(
        2.0, help=N_("Seconds of work that may wait before requests are answered with 429.")
    ),
    time_limit: float = typer.Option(60.0, help=N_("Seconds before a request is answered with 503.")),
    log_text: bool = typer.Option(
        False, "--log-text", help=N_("Write the texts into the log, for debugging only.")
    ),
) -> None:
    """Run the server until it is stopped."""
    require(context, (ONE_CHOICE_OF_RULES,))
    block_sighup()
    try:
        from nmspeller.apps.http.server import run
        from nmspeller.apps.http.settings import Settings
    except ModuleNotFoundError as missing:
        if missing.name and missing.name.startswith("nmspeller"):
            raise
        raise InputError(_("`serve` needs its extra: pip install 'nmspeller[serve]'.")) from None
    run(
        Settings(
            host=host,
            port=port,
            workers=workers,
            threads=threads,
            model=str(model) if model else None,
            level=level,
            words=tuple(map(str, words or ())),
            prefilter=prefilter,
            rules=chosen_rules(rules, none=no_rules, default=DEFAULT_RULES),
            api_key=api_key,
            insecure=insecure,
            allow_origins=tuple(allow_origin),
            allow_hosts=tuple(allow_host),
            max_text_length=max_text_length,
            max_body_bytes=max_body_bytes,
            batch_tokens=batch_tokens,
            queue_tokens=queue_tokens,
            longest_wait=longest_wait,
            time_limit=time_limit,
            log_text=log_text,
        )
    )
