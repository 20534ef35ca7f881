# SPDX-License-Identifier: GPL-2.0-only
"""Has ovs-vsctl note why it did not make a switch, which Mininet throws away. In the lab.

What changes a switch is a script for the shell in the image (lab/mininet/ovs-command). It stays
this script, so no more programs start, and what ovs-vsctl prints and its status stay what they are.
"""

from __future__ import annotations

from pathlib import Path

COMMAND = Path("/usr/lib/cellbed/changes/ovs-vsctl")
NOTES = Path("/run/cellbed-missed")
CALL = '\n"$command" "$@"\nstatus=$?\n'
# A switch that is there already needs no word: it was made before.
CALL_AND_NOTE = """
{{ said=$("$command" "$@" 2>&1 >&3 3>&-); }} 3>&1
status=$?
[ -z "$said" ] || printf '%s\\n' "$said" >&2
before= switches=
[ $status = 0 ] || for word; do
	[ "$before" != add-br ] || switches="$switches $word"
	before=$word
done
case $said in *'already exists'*) switches= ;; esac
[ -z "$switches" ] || printf 'switch\\t%.200s\\t%.200s\\n' "${{said%%
*}}" "${{switches# }}" >> {notes}
"""


def install(command: Path = COMMAND, notes: Path = NOTES) -> None:
    """Where the image has this command.

    Args:
        command: a copy of lab/mininet/ovs-command.
        notes: a file for lab.py.
    """
    text = command.read_text(errors="replace") if command.exists() else ""
    if CALL in text:
        # A new file: the old one may be the image's, which this does not change.
        command.unlink()
        command.write_text(text.replace(CALL, CALL_AND_NOTE.format(notes=notes)))
        command.chmod(0o755)
