"""What of the page's accessibility can be told without a browser: contrast of its colours, alternative texts, heads of
tables, names of parts, and that nothing comes from elsewhere.
"""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from loopwright.profile.store import ProfileStore
from loopwright.report.page import STYLE, page
from loopwright.report.sortable import SCRIPT, policy
from loopwright.report.subjects import contents
from report.contrast import GRAPHICS, TEXT, contrast
from report.pages import read
from report.stored import NOW, fill

CSS = STYLE.read_text(encoding="utf-8")


def themes() -> dict[str, dict[str, str]]:
    """The colours of each: light, dark, paper."""
    blocks = re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)
    found = [dict(re.findall(r"--(\w+): (#\w{6})", block)) for block in blocks]
    return dict(zip(("light", "dark", "paper"), found, strict=True))


@pytest.mark.parametrize("theme", ["light", "dark", "paper"])
def test_colours_stand_out(theme: str) -> None:
    colours = themes()[theme]
    for ground in ("paper", "head"):
        assert {name: contrast(colours[name], colours[ground]) for name in ("text", "quiet", "s0")
                if contrast(colours[name], colours[ground]) < TEXT} == {}  # fmt: skip
    drawn = {name: contrast(colours[name], colours["paper"]) for name in (*(f"s{k}" for k in range(6)), "fails")}
    drawn |= {f"{name} on a row": contrast(colours[name], colours["head"]) for name in ("s0", "s1", "fails")}
    assert {name: ratio for name, ratio in drawn.items() if ratio < GRAPHICS} == {}


def test_all_themes_have_all_colours() -> None:
    light, dark, paper = themes().values()
    assert light.keys() == dark.keys() == paper.keys()
    used = set(re.findall(r"var\(--(\w+)\)", CSS))
    assert used <= light.keys()


class _Parts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.levels: list[int] = []
        self.unnamed: list[str] = []
        self.tables = self.heads = self.landmarks = 0
        self.language = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in ("h1", "h2", "h3", "h4"):
            self.levels.append(int(tag[1]))
        if (
            tag == "svg"
            and given.get("aria-hidden") != "true"
            and not (given.get("role") == "img" and given.get("aria-label"))
        ):
            self.unnamed.append(str(attrs))
        if given.get("role") == "region" and not given.get("aria-label"):
            self.unnamed.append(str(attrs))
        self.tables += tag == "table"
        self.heads += tag == "thead"
        if tag == "th" and given.get("scope") != "col":
            self.unnamed.append(str(attrs))
        self.landmarks += tag == "main"
        self.language = given.get("lang") or "" if tag == "html" else self.language


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = fill(tmp_path_factory.mktemp("store") / "store.sqlite3")
    with ProfileStore.open(path, readonly=True) as store:
        return page(store, contents(store), NOW)


def test_parts_have_names_and_headings_an_order(made: str) -> None:
    parts = _Parts()
    parts.feed(made)
    assert parts.unnamed == [] and parts.tables == parts.heads > 3
    assert (parts.landmarks, parts.language) == (1, "en")
    assert parts.levels[0] == 1 and parts.levels.count(1) == 1
    steps = [later - before for before, later in zip(parts.levels, parts.levels[1:], strict=False)]
    assert max(steps) <= 1


def test_nothing_comes_from_elsewhere_and_one_script_may_run(made: str) -> None:
    found = read(made)
    assert found.faults == [] and found.scripts == [SCRIPT]
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy() and "default-src 'none'" in policy()
    assert "</" not in SCRIPT and policy() in made.replace("&#x27;", "'")


def test_sorted_or_not_everything_is_there(made: str) -> None:
    """Without the script the page says as much."""
    assert made.count('class="sortable"') >= 4 and "<button" not in made


def test_titles_are_without_the_ir_and_repetition(tmp_path: Path) -> None:
    found = " ".join(read(page_of(tmp_path)).text)
    assert "float64[2] C" not in found and not re.search(r"(\d+ x ){3,}", found)


def page_of(folder: Path) -> str:
    path = fill(folder / "store.sqlite3")
    with ProfileStore.open(path, readonly=True) as store:
        return page(store, contents(store), NOW)
