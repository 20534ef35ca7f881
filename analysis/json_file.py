# SPDX-License-Identifier: GPL-2.0-only
"""JSON files of a campaign: an object with a format of its own."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from analysis.errors import RecordError
from analysis.files import regular


def json_document(path: Path, *formats: str) -> Mapping[str, Any]:
    """The JSON object in `path`, of one of these formats, of which the first is the present one."""
    document = json_object(path)
    found = document.get("format")
    if found not in formats:
        raise RecordError(f"{path} has the format '{found}', but this version reads '{formats[0]}'")
    return document


def json_object(path: Path) -> Mapping[str, Any]:
    """The JSON object in `path`."""
    try:
        document = json.loads(regular(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}") from None
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}" if error.doc.strip() else "the file is empty"
        raise RecordError(f"{path} is not JSON ({line}): it is damaged or not whole") from None
    except (ValueError, RecursionError):
        raise RecordError(f"{path} is not JSON: it is damaged or not whole") from None
    if not isinstance(document, dict):
        raise RecordError(f"{path} is not a JSON object")
    return document
