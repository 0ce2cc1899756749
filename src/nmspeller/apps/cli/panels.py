"""Help in which the options stand in groups."""

from collections import defaultdict
from typing import Any

from typer.core import TyperCommand

from nmspeller.messages import _


class PanelCommand(TyperCommand):
    """Lists options under the heading that their `rich_help_panel` names, without boxes around them."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        panels: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        for parameter in self.get_params(ctx):
            otherwise = "Arguments" if parameter.param_type_name == "argument" else "Options"
            if record := parameter.get_help_record(ctx):
                panel = getattr(parameter, "rich_help_panel", None)
                panels[_(panel) if panel else otherwise].append(record)
        for heading, records in panels.items():
            with formatter.section(heading):
                formatter.write_dl(records)
