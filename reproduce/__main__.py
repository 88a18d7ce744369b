"""Run the papers' experiments on public data: ``python reproduce`` for all pages, ``python reproduce faces mri`` for some.

Each page is written to ``reproduction/NAME.html``; ``reproduction/index.html`` lists them.
"""

import importlib
import sys
from pathlib import Path

from _page import FOLDER, document, marked, publish
from nonneg import datasets

PAGES = sorted(path.stem for path in Path(__file__).parent.glob("[!_]*.py"))


def main(names: list[str]) -> int:
    unknown = set(names) - set(PAGES)
    if unknown:
        print(f"No page is called {', '.join(map(repr, sorted(unknown)))}. There are: {', '.join(PAGES)}.", file=sys.stderr)
        return 2
    modules = {name: importlib.import_module(name) for name in PAGES}
    left_out = {}
    for name in names or PAGES:
        try:
            publish(name, modules[name].TITLE, modules[name].build)
        except (datasets.FetchError, ImportError) as error:  # data or pooch not at hand: the other pages may still run
            left_out[name] = f"left out: {error}"
            print(f"  {left_out[name]}", file=sys.stderr)
    items = []
    for name, module in modules.items():
        made = (FOLDER / f"{name}.html").exists()
        link = f'<a href="{name}.html">{marked(module.TITLE)}</a>' if made else f"{marked(module.TITLE)} (not run)"
        items.append(f"<li>{link} {marked(left_out.get(name, ''))}</li>")
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "index.html").write_text(
        document("The papers' experiments, run again", f"<ul>{''.join(items)}</ul>"), encoding="utf8"
    )
    print(f"{FOLDER / 'index.html'}")
    return 1 if left_out else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
