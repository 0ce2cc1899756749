"""Scripts import each other from their own folder."""

import sys
from pathlib import Path

SCRIPTS = str(Path(__file__).parents[2] / "scripts")
if SCRIPTS not in sys.path:
    sys.path.append(SCRIPTS)
