# SPDX-License-Identifier: GPL-2.0-only
"""What Python 3 says when it runs a program of Python 2 that it could read. On the host."""

from __future__ import annotations

import re

# Modules that Python 3 calls otherwise, and that --python2 knows.
MODULES = (
    "BaseHTTPServer", "ConfigParser", "Queue", "SocketServer", "StringIO", "__builtin__",
    "cPickle", "cStringIO", "commands", "httplib", "urllib2", "urlparse",
)  # fmt: skip
ERROR = re.compile(
    r"""^(?:\[(?P<program>[^\]\n]+)\][ ])?(?P<error>
      TypeError:[ ](
        a[ ]bytes-like[ ]object[ ]is[ ]required,[ ]not[ ]'str'
      | can[ ]only[ ]concatenate[ ]str[ ]\(not[ ]"bytes"\)[ ]to[ ]str
      | can't[ ]concat[ ]str[ ]to[ ]bytes
      | write\(\)[ ]argument[ ]must[ ]be[ ]str,[ ]not[ ]bytes
      | cannot[ ]use[ ]a[ ]string[ ]pattern[ ]on[ ]a[ ]bytes-like[ ]object
      | '(dict_keys|dict_values|dict_items|map|filter|zip)'[ ]object[ ]is[ ]not[ ]subscriptable
      | object[ ]of[ ]type[ ]'(map|filter|zip)'[ ]has[ ]no[ ]len\(\)
      | 'float'[ ]object[ ]cannot[ ]be[ ]interpreted[ ]as[ ]an[ ]integer
      )
    | AttributeError:[ ]'dict'[ ]object[ ]has[ ]no[ ]attribute[ ]
        '(has_key|iteritems|iterkeys|itervalues)'
    | NameError:[ ]name[ ]
        '(basestring|cmp|execfile|file|long|raw_input|reduce|unichr|unicode|xrange)'[ ]
        is[ ]not[ ]defined
    )""",
    re.MULTILINE | re.VERBOSE,
)


def found_in(text: str) -> str:
    """The error that a program of Python 2 has, or nothing. Some programs of Python 3 have it, too:
    a sentence about it must not be sure.
    """
    found = ERROR.search(text)
    return found["error"] if found else ""


def remedy_in(text: str, *, converted: bool) -> str:
    """A sentence about such an error and what may help, or nothing.

    Args:
        text: of the script, or with its name in brackets of a program beside it.
        converted: the script runs with --python2, which says nothing of a program that was started
            by python3.
    """
    found = ERROR.search(text)
    if not found:
        return ""
    program = found["program"] or ""
    if "pox" in program:
        help_ = "add --package python2.7, and start this program by python2.7"
    elif converted and not program:
        return ""
    elif program.startswith("ryu") and (converted or found["error"].startswith("TypeError")):
        help_ = "correct this line, as --python2 leaves a controller that Python 3 can read"
    else:
        help_ = "start this program by python2" if converted else "try --python2"
    said = f"[{program}] {found['error']}" if program else found["error"]
    return f"{said}: Python 3 says this of many programs of Python 2; {help_}"
