"""The commands ``meshpace`` and ``python -m meshpace``."""

from meshpace.starting import ends_at_once


def main() -> None:
    """Loads the command line and runs it."""
    ends_at_once()
    from meshpace.cli import main as run

    run()


if __name__ == "__main__":
    main()
