# SPDX-License-Identifier: GPL-2.0-only
"""A report as one HTML file that needs nothing else: style, plots and what moves are in it."""

from jinja2 import Environment, PackageLoader, StrictUndefined

from analysis.report.model import Claims, Explore, Gallery, Report, Sheet

TEMPLATE = "report.html.j2"


def render(report: Report) -> str:
    """The report as an HTML document."""
    environment = Environment(
        loader=PackageLoader("analysis.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.tests["sheet"] = lambda part: isinstance(part, Sheet)
    environment.tests["gallery"] = lambda part: isinstance(part, Gallery)
    environment.tests["explore"] = lambda part: isinstance(part, Explore)
    environment.tests["claims"] = lambda part: isinstance(part, Claims)
    return environment.get_template(TEMPLATE).render(report=report)
