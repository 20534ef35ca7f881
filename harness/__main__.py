# SPDX-License-Identifier: GPL-2.0-only
"""`./cellbed`, from its first moment on: Ctrl-C ends it with a sentence, also during imports."""

from __future__ import annotations

import signal
import sys

if __name__ == "__main__":
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # ./cellbed holds it back
        from harness.cli.program import main

        code = main()
    except KeyboardInterrupt:  # before main() could say it, or after
        print("cellbed: interrupted", file=sys.stderr)
        code = 130
    sys.exit(code)
