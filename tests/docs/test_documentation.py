"""The pages are true: their programs run and print what stands below them, their links and commands exist."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
import yaml

from docs.blocks import MARK, Block, blocks, expected, links, matches, program
from loopwright.cli.main import app
from loopwright.steps.catalogue import STEPS
from loopwright.steps.schedule import parse_schedule, print_schedule

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = [*(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")), *sorted(ROOT.glob("docs/*.md"))]
WITH_PROGRAMS = [page for page in PAGES if "```python" in page.read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", WITH_PROGRAMS, ids=lambda page: page.stem)
def test_its_programs_run_and_print_what_it_says(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    wanted = expected(text)
    script = tmp_path / page.with_suffix(".py").name.lower()
    script.write_text(program(text), encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-W", "error", script.name], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, f"a program of {page.name} failed:\n{ran.stderr}"
    for (block, says), printed in zip(wanted, ran.stdout.split(MARK + "\n"), strict=False):
        assert says is None or matches(says, printed), f"{page.name}:{block.line} prints\n{printed}\nand not\n{says}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_its_links_lead_somewhere(page: Path) -> None:
    missing = [link for link in links(page.read_text(encoding="utf-8")) if not (page.parent / link).exists()]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_its_commands_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    shell = "\n".join("\n".join(block.lines) for block in blocks(text) if block.language in ("", "sh"))
    shell += "\n" + "\n".join(re.findall(r"`([^`\n]+)`", text))
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    commands = {command.name for command in (*app.registered_commands, *app.registered_groups)}
    assert set(re.findall(r"^make ([a-z]+)", shell, re.MULTILINE)) <= targets
    assert set(re.findall(r"^(?:\.venv/bin/)?loopwright ([a-z]+)", shell, re.MULTILINE)) <= commands


def test_what_show_prints_is_what_it_says(tmp_path: Path) -> None:
    """`loopwright show PAGE.py:kernel ...` where PAGE is the page itself, followed by what it prints."""
    shown = [(page, command, says) for page in WITH_PROGRAMS for command, says in _shown(page)]
    assert len(shown) >= 1
    for page, command, says in shown:
        text = page.read_text(encoding="utf-8")
        (tmp_path / page.with_suffix(".py").name).write_text(program(text), encoding="utf-8")
        run = [sys.executable, "-c", "from loopwright.cli.main import run; run()", *shlex.split(command)[1:]]
        ran = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert ran.returncode == 0, ran.stderr
        assert matches(says, ran.stdout), f"{page.name}: `{command}` prints\n{ran.stdout}\nand not\n{says}"


def _shown(page: Path) -> list[tuple[str, str]]:
    """The commands `loopwright show` of a page on its own programs, each with the text block after it."""
    found = list(blocks(page.read_text(encoding="utf-8")))
    start = f"loopwright show {page.stem}.py:"
    return [
        (block.lines[0], "\n".join(after.lines))
        for block, after in pairwise(found)
        if block.language == "sh" and block.lines[0].startswith(start) and after.language == "text"
    ]


def test_the_table_of_steps_is_the_catalogue() -> None:
    page = (ROOT / "docs" / "schedules.md").read_text(encoding="utf-8")
    table = page.split("## All steps")[1].split("\n## ")[0]
    rows = [re.findall(r"`([^`]+)`", line.split(" | ")[0])[0] for line in table.splitlines() if line.startswith("| `")]
    assert {row.split()[0] for row in rows} == {step.name for step in STEPS}
    written = [text for text in re.findall(r"`([^`]+)`", table) if text.split()[0] in {step.name for step in STEPS}]
    steps = [text for text in written if " " in text and "..." not in text]
    assert len(rows) == len(STEPS) < len(steps)
    assert [print_schedule(parse_schedule(text)) for text in steps] == steps


def test_there_are_pages() -> None:
    names = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "api.md", "build.md", "debugging.md", "devices.md"]
    names += ["first-hour.md", "gallery.md", "glossary.md", "gpu.md", "guide.md", "index.md", "internals.md"]
    names += ["language.md", "layouts.md", "numba.md", "performance.md", "safety.md", "schedules.md"]
    names += ["store.md", "support.md", "tuning.md"]
    assert [page.name for page in PAGES] == names
    without = ["CHANGELOG.md", "CONTRIBUTING.md", "api.md", "build.md", "gallery.md", "glossary.md", "internals.md"]
    without += ["support.md"]
    assert [page.name for page in PAGES if page not in WITH_PROGRAMS] == without


def test_every_page_is_found_from_the_first_one() -> None:
    first = links((ROOT / "docs" / "index.md").read_text(encoding="utf-8"))
    pages = {page.name for page in PAGES if page.parent.name == "docs"} - {"index.md"}
    assert pages == {Path(one).name for one in first}


def test_the_site_has_every_page() -> None:
    """`make docs` builds it, and fails where a link or an anchor leads nowhere."""
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))["nav"]
    listed = [
        page for part in nav for pages in part.values() for page in ([pages] if isinstance(pages, str) else pages)
    ]
    assert sorted(listed) == sorted(page.name for page in PAGES if page.name != "README.md")


def test_the_glossary_names_files_that_there_are() -> None:
    named = re.findall(r"`([\w/]+\.(?:py|c|h))`", (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"))
    assert len(named) > 40
    assert [file for file in named if not (ROOT / "src" / "loopwright" / file).is_file()] == []


# ---- the checks can fail ------------------------------------------------------------------------------------------

PAGE = """\
# A page
```python
x = 1
print(x)
```

```text
1
```
Words.
```python
print(x + 1)
```
```sh
make run
```
See [that](docs/that.md#part) and [this](https://example.org), not `a[0](x)`.
"""


def test_blocks_keep_their_lines() -> None:
    assert [(block.language, block.line, block.end) for block in blocks(PAGE)] == [
        ("python", 3, 5), ("text", 8, 9), ("python", 12, 13), ("sh", 15, 16),
    ]  # fmt: skip
    lines = program(PAGE).splitlines()
    assert (lines[2], lines[3], lines[11]) == ("x = 1", "print(x)", "print(x + 1)")
    assert lines[4] == lines[12] == f"print({MARK!r})"


def test_only_the_text_right_below_is_expected() -> None:
    assert expected(PAGE) == [
        (Block("python", 3, ("x = 1", "print(x)")), "1"),
        (Block("python", 12, ("print(x + 1)",)), None),
    ]


@pytest.mark.parametrize(
    ("wanted", "printed", "same"),
    [
        ("a\nb", "a\nb\n", True),
        ("a\nb", "a\nc\n", False),
        ("a ... c", "a b c\n", True),
        ("a ... c", "a b d\n", False),
        ("a\n...\nd", "a\nb\nc\nd\n", True),
        ("a\n...\nd", "a\nb\nc\n", False),
        ("a", "a\nb\n", False),
        ("a[i] (x)", "a[i] (x)  \n", True),
    ],
)
def test_matches(wanted: str, printed: str, same: bool) -> None:
    assert matches(wanted, printed) is same


def test_links_are_found() -> None:
    assert links(PAGE) == ["docs/that.md"]
