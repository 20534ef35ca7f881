# SPDX-License-Identifier: GPL-2.0-only
"""Runs the tests of Mininet's examples in a lab, each by itself; prints a row of a table a test.

tests/bench/mininet/run calls it in the folder of the tests.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

# Virtual: the longest of those that end takes 400.
LIMIT_S = 1200
RESULTS = ("OK", "FAILED", "Error", "Exception", "skipped")
LAST = "tree1024"  # its thousand hosts take memory that does not come back


def main() -> None:
    print("| example | result | virtual s | what it says |\n| --- | --- | --- | --- |", flush=True)
    names = [path.stem.removeprefix("test_") for path in Path().glob("test_*.py")]
    for name in sys.argv[1:] or sorted(names, key=lambda name: (name == LAST, name)):
        begin = time.monotonic()
        result, said = run(name)
        took = time.monotonic() - begin
        print(f"| {name} | {result} | {took:.0f} | {said} |", flush=True)


def run(name: str) -> tuple[str, str]:
    """Whether a test passes, and the line that says why."""
    with Path("/tmp", f"{name}.said").open("w") as stream:
        try:
            done = subprocess.run(
                ["python3", f"test_{name}.py", "-v"], stdin=subprocess.DEVNULL, stdout=stream,
                stderr=subprocess.STDOUT, timeout=LIMIT_S, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return "no end", f"within {LIMIT_S} s"
        finally:
            subprocess.run(["mn", "-c"], capture_output=True, check=False)
    lines = Path(stream.name).read_text(errors="replace").splitlines()
    told = [line for line in lines if any(word in line for word in RESULTS)]
    said = (told or lines or [""])[-1].strip()[:100]
    result = "skipped" if "skipped" in said else "passes"
    return "fails" if done.returncode else result, said


if __name__ == "__main__":
    main()
