"""``python -m meshpace``."""

from meshpace.cli import main

main()
