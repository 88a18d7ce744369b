"""Configuration of the site: `make docs` builds it into docs/_build/html."""

import sys
from pathlib import Path

import nonneg

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "nonneg"
author = copyright = "The nonneg developers"
version = release = nonneg.__version__

extensions = [
    "constants_table",
    "docstrings",
    "mathml",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]
default_role = "py:obj"

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc says types in words
autodoc_member_order = "groupwise"
numpydoc_show_class_members = False  # the template of a class lists its methods
numpydoc_xref_param_type = False

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "nonneg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_theme_options = {
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "auto"}
html_sidebars = {"changelog": [], "index": []}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "plot_",
    "ignore_pattern": "demo",
    "copyfile_regex": "",
    "download_all_examples": False,
    "remove_config_comments": True,
    "min_reported_time": 10,
    "plot_gallery": "True",
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("matplotlib",),
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "capture_repr": (),
}
