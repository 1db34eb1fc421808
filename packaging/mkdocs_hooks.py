"""The site has the pages as they are in the repository. What they link to outside of docs/ goes along: the pages of the
root as pages, everything else as files to open."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
OF_THE_ROOT = ("CHANGELOG.md", "CONTRIBUTING.md")
OUTSIDE = re.compile(r"\]\(\.\./([^)#\s]+)(#[^)]*)?\)")
FROM_THE_ROOT = re.compile(r"\]\((docs/)?([^):#\s]+)(#[^)]*)?\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add them."""
    for name in OF_THE_ROOT:
        files.append(File.generated(config, name, content=_as_page_of_docs((ROOT / name).read_text(encoding="utf-8"))))
    wanted = {found[1] for page in (ROOT / "docs").glob("*.md") for found in OUTSIDE.finditer(page.read_text())}
    for name in sorted({*wanted, "LICENSE"} - {"README.md"}):
        files.append(File.generated(config, f"files/{name}", abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links that leave docs/ lead to what was added; README.md's first page is the site's."""
    if "/" in page.file.src_uri:
        return markdown  # its `..` is docs/
    markdown = re.sub(r"\]\(\.\./README\.md#[^)]*\)", "](index.md)", markdown)
    return OUTSIDE.sub(lambda found: f"](files/{found[1]})", markdown)


def _as_page_of_docs(text: str) -> str:
    def moved(found: re.Match[str]) -> str:
        inside, name, anchor = found[1], found[2], found[3] or ""
        if inside or name in OF_THE_ROOT:
            return f"]({name}{anchor})"
        return "](index.md)" if name == "README.md" else f"](files/{name})"

    return FROM_THE_ROOT.sub(moved, text)
