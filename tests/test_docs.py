"""Examples in docs and in the READMEs run and print what the page says; pictures and links are there."""

import contextlib
import io
import re
from pathlib import Path

import make_images
import pytest
import torch

ROOT = Path(__file__).parents[1]
ALL = sorted([*(ROOT / "docs").glob("*.md"), *ROOT.glob("README*.md")])
PAGES = [page for page in ALL if "```python" in page.read_text()]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_of_a_page_print_what_it_says(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # pictures and weights that an example saves
    torch.manual_seed(0)
    names: dict = {"__name__": "page"}
    blocks = BLOCK.findall(page.read_text())
    for index, (language, text) in enumerate(blocks):
        if language != "python":
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(text, f"{page.name}, block {index}", "exec"), names)
        following = blocks[index + 1] if index + 1 < len(blocks) else ("", "")
        assert printed.getvalue() == (following[1] if following[0] == "text" else "")


@pytest.mark.parametrize("page", ALL, ids=lambda page: page.name)
def test_links_and_pictures_of_a_page_are_there(page):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", ALL, ids=lambda page: page.name)
def test_a_page_draws_the_pictures_that_it_shows(page):
    shown = re.findall(r"\]\((?:docs/)?images/([^)]+)\)", page.read_text())
    drawn = re.findall(r'savefig\("([^"]+)"\)', page.read_text())
    assert sorted(shown) == sorted(drawn)


def test_the_script_draws_all_pictures_and_no_other(tmp_path, monkeypatch):
    drawn = {path.name for path in make_images.IMAGES.iterdir()}
    monkeypatch.setattr(make_images, "IMAGES", tmp_path)
    for page in make_images.PAGES:
        make_images.draw(page)
    assert {path.name for path in tmp_path.iterdir()} == drawn


@pytest.mark.parametrize("name", ["README", "docs/hidden-states-or-final-state"])
def test_both_languages_have_the_same_examples_and_figures(name):
    def language_free(page):
        text = re.sub(r" *#.*", "", "".join(text for _, text in BLOCK.findall(page.read_text())))
        return text, re.findall(r"\d+(?:\.\d+)?", "".join(re.findall(r"^\|.*\d.*\|$", page.read_text(), re.MULTILINE)))

    assert language_free(ROOT / f"{name}.md") == language_free(ROOT / f"{name}.zh.md")


def test_pages_have_examples():
    names = {page.name for page in PAGES}
    assert {"tour.md", "laws.md", "hidden-states-or-final-state.md", "hidden-states-or-final-state.zh.md"} <= names
