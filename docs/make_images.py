"""Draws the pictures of the documentation into docs/images: `python docs/make_images.py`.

Each is drawn by the examples of a page that shows it.
"""

import contextlib
import re
from pathlib import Path

import torch

DOCS = Path(__file__).resolve().parent
IMAGES = DOCS / "images"
EXAMPLE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = (DOCS.parent / "README.md", DOCS / "tour.md", DOCS / "hidden-states-or-final-state.md")


def draw(page: Path) -> None:
    """Run a page's examples where the pictures that they save are to stand."""
    torch.manual_seed(0)
    names: dict = {"__name__": "page"}
    with contextlib.chdir(IMAGES), contextlib.redirect_stdout(None):
        for example in EXAMPLE.findall(page.read_text(encoding="utf-8")):
            exec(compile(example, page.name, "exec"), names)


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    for page in PAGES:
        draw(page)
