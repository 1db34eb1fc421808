"""A page in a real browser without a window: Chromium loads it in a frame of some width, runs an expression there, and
prints what came of it.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import struct
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
TIMEOUT_S = 120
_FRAME = """<body style="margin:0">
<iframe id="page" width="{width}" height="{height}" style="border:0" srcdoc="{page}"></iframe>"""
_ASK = """
<script>
document.getElementById("page").addEventListener("load", event => {{
  const window = event.target.contentWindow, document = window.document;
  let told;
  try {{ told = (() => {{ {script} }})(); }} catch (error) {{ told = {{error: String(error)}}; }}
  window.parent.document.body.dataset.told = JSON.stringify(told);
}});
</script>"""


@cache
def found() -> str | None:
    """The browser's path; None where there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """folder: for files of a test."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def asked(self, page: str, script: str, width: int = 1280, height: int = 900, dark: bool = False) -> Any:
        """What a script returns, with `window` and `document` of the page. Its policy is taken out, which would let no
        script but its own run."""
        free = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
        outer = _FRAME.format(width=width, height=height, page=html.escape(free)) + _ASK.format(script=script)
        dumped = self._run(outer, "--dump-dom", dark=dark, width=max(width, 500), height=height)
        told = re.search(r'data-told="([^"]*)"', dumped)
        assert told is not None, f"the browser said nothing: {dumped[:300]}"
        answer = json.loads(html.unescape(told[1]))
        assert not (isinstance(answer, dict) and "error" in answer), answer
        return answer

    def loaded(self, page: str) -> str:
        """The page as it is when it has been loaded, policy and all."""
        return self._run(page, "--dump-dom")

    def picture(self, page: str, width: int, height: int, dark: bool = False) -> Path:
        """A screenshot."""
        outer = _FRAME.format(width=width, height=height, page=html.escape(page))
        path = self._folder / f"{width}{'-dark' if dark else ''}.png"
        self._run(outer, f"--screenshot={path}", dark=dark, width=max(width, 500), height=height)
        return path

    def printed(self, page: str) -> bytes:
        """As PDF."""
        path = self._folder / "page.pdf"
        self._run(page, f"--print-to-pdf={path}")
        return path.read_bytes()

    def _run(self, page: str, what: str, dark: bool = False, width: int = 1280, height: int = 900) -> str:
        file = self._folder / "page.html"
        file.write_text(page, encoding="utf-8")
        browser = found()
        assert browser is not None
        scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
        flags = ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=2000")
        where = (f"--user-data-dir={self._folder / 'profile'}", f"--window-size={width},{height}")
        command = [browser, *flags, *where, scheme, what, file.as_uri()]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
        assert ended.returncode == 0, ended.stderr[-2000:]
        return ended.stdout


def size_of(png: Path) -> tuple[int, int]:
    """Width and height of a picture."""
    content = png.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", content[16:24])
    return width, height
