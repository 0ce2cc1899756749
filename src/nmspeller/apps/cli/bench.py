"""`nmspeller bench`"""

import typer

from nmspeller.errors import InputError

app = typer.Typer(help="Benchmarks.", no_args_is_help=True, rich_markup_mode=None)


@app.callback(invoke_without_command=True)
def _later() -> None:
    raise InputError("`bench` is not built yet.")
