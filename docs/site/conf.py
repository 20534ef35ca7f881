# SPDX-License-Identifier: GPL-2.0-only
"""How Sphinx makes the site. pages.py puts its pages together."""

project = "cellbed"
html_title = project
root_doc = "index"
extensions = ["myst_parser", "sphinx_copybutton"]
myst_heading_anchors = 4
suppress_warnings = ["toc.not_included"]  # a page that only another page links to

html_theme = "furo"
html_favicon = "static/icon.svg"
html_static_path = ["static"]
html_css_files = ["style.css"]
html_copy_source = False
html_show_search_summary = False  # a page opened from the disk may not read others
html_show_sphinx = False
html_show_copyright = False
