# SPDX-License-Identifier: GPL-2.0-only
"""A campaign in the formats of other programs: one file a format, found by listing this folder.

Each has `export(campaign, out)`, which writes files into the folder `out` and gives their paths.
It may have `left_out(campaign)`: sentences about the trials for which there is no file, and why.
What a format cannot hold is not in it; nothing is made up to fill a place.
"""

import pkgutil
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from analysis.errors import MissingLibraryError, RecordError, ReportError
from analysis.records import CampaignRecords


def formats() -> list[str]:
    """Names of the formats that there are; those that begin with a line are parts of others."""
    return sorted(m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_"))


def export(campaign: CampaignRecords, name: str, out: Path) -> Sequence[Path]:
    """Write the valid trials of a campaign in a format; the files that there are now.

    Raises:
        AnalysisError: no such format, nothing in the records that it can hold, a library or
            a place that is not there.
    """
    if name not in formats():
        raise RecordError(f"{name} is no format; the formats are {', '.join(formats())}")
    try:
        found: Sequence[Path] = import_module(f"{__name__}.{name}").export(campaign, made(out))
    except ImportError as error:
        raise MissingLibraryError(
            f"the export needs {error.name}; run ./cellbed setup --library"
        ) from error
    except OSError as error:
        raise ReportError(f"{error.filename or out} cannot be written: {error.strerror}") from error
    return found


def left_out(campaign: CampaignRecords, name: str) -> Sequence[str]:
    """Sentences about the trials for which export() writes no file in this format."""
    told: Callable[[CampaignRecords], Sequence[str]] | None
    told = getattr(import_module(f"{__name__}.{name}"), "left_out", None)
    return told(campaign) if told else ()


def made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder
