"""A page as a browser reads it, as far as that can be told without one."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "img", "link", "input"}
OUTSIDE = ("src", "srcset", "data", "action", "poster", "xlink:href")


@dataclass
class Page:
    """faults: what is wrong with it. text: all that is read, headings and cells apart. tags: how many of each. links:
    where `href` leads; ids: what it can lead to; scripts: their texts."""

    faults: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    tags: dict[str, int] = field(default_factory=dict)
    links: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.page = Page()
        self.opened: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.page.tags[tag] = self.page.tags.get(tag, 0) + 1
        if tag not in VOID:
            self.opened.append(tag)
        for name, value in attrs:
            if name == "href":
                self.page.links.append(value or "")
            if name == "id":
                self.page.ids.append(value or "")
            if name in OUTSIDE or name.startswith("on") or "://" in (value or "") or "url(" in (value or ""):
                self.page.faults.append(f"<{tag} {name}={value!r}> leads outside")
        if tag in ("link", "iframe", "object", "base") or (tag == "script" and attrs):
            self.page.faults.append(f"<{tag}>")

    def handle_endtag(self, tag: str) -> None:
        if not self.opened or self.opened[-1] != tag:
            self.page.faults.append(f"</{tag}> where {self.opened[-1:]} is open, at {self.getpos()}")
        else:
            self.opened.pop()

    def handle_data(self, data: str) -> None:
        if "style" in self.opened:
            self.page.faults += [f"{word} in the style" for word in ("@import", "url(", "://") if word in data]
        elif "script" in self.opened:
            self.page.scripts.append(data)
        elif data.strip():
            self.page.text.append(" ".join(data.split()))


def read(html: str) -> Page:
    """With its faults: tags that do not match, and whatever comes from elsewhere."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    page = reader.page
    page.faults += [f"<{tag}> is never closed" for tag in reader.opened]
    page.faults += [f"{link} leads nowhere" for link in page.links if link[:1] != "#" or link[1:] not in page.ids]
    page.faults += [f"id {one} twice" for one in set(page.ids) if page.ids.count(one) > 1]
    return page
