# SPDX-License-Identifier: GPL-2.0-only
"""Runs the tests of Mininet's examples in a lab, each by itself; prints a row of a table a test.

    cp tests/bench/mininet/examples.py MININET-2.3.0/examples/test/
    ./cellbed mininet --limit 100000 MININET-2.3.0/examples/test/examples.py [NAME...]
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

# Virtual: the longest of those that end takes 400.
LIMIT_S = 1200
RESULTS = ("OK", "FAILED", "Error", "Exception")


def main() -> None:
    print("| test | result | virtual s | what it says |\n| --- | --- | --- | --- |", flush=True)
    names = sys.argv[1:] or sorted(path.stem for path in Path().glob("test_*.py"))
    for name in names:
        begin = time.monotonic()
        passed, said = run(name)
        took = time.monotonic() - begin
        print(f"| {name} | {passed} | {took:.0f} | {said} |", flush=True)


def run(name: str) -> tuple[str, str]:
    """Passes or not, and the line that says why."""
    with Path("/tmp", f"{name}.said").open("w") as stream:
        try:
            done = subprocess.run(
                ["python3", f"{name}.py", "-v"], stdin=subprocess.DEVNULL, stdout=stream,
                stderr=subprocess.STDOUT, timeout=LIMIT_S, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return "no end", f"within {LIMIT_S} s"
        finally:
            subprocess.run(["mn", "-c"], capture_output=True, check=False)
    lines = Path(stream.name).read_text(errors="replace").splitlines()
    told = [line for line in lines if any(word in line for word in RESULTS)]
    return "fails" if done.returncode else "passes", (told or lines or [""])[-1].strip()[:100]


if __name__ == "__main__":
    main()
