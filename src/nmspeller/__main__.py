"""`python -m nmspeller`"""

from nmspeller.apps.cli import main

main()
