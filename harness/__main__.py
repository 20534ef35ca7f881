# SPDX-License-Identifier: GPL-2.0-only
"""`./cellbed`: runs a command and turns its errors into one line and an exit code."""

from __future__ import annotations

import sys

import click

from harness.cli import cellbed
from harness.errors import CellbedError


def main() -> int:
    """Exit codes: harness/errors.py; 2 also for a wrong option, 130 after Ctrl-C."""
    try:
        cellbed.main(prog_name="cellbed", standalone_mode=False)
    except CellbedError as error:
        console = getattr(error, "console", "")
        if console:
            print(console, file=sys.stderr)
        print(f"cellbed: {error}", file=sys.stderr)
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return 2
    except (KeyboardInterrupt, click.Abort):
        print("cellbed: interrupted; finished trials are kept", file=sys.stderr)
        return 130
    except OSError as error:
        name = f"{error.filename}: " if error.filename else ""
        print(f"cellbed: {name}{error.strerror or error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
