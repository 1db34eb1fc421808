"""Elements of HTML and SVG. Text is escaped by the standard library's serialiser, so that nothing that a user named can
become markup; characters that no page may hold are replaced.
"""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element, SubElement, tostring

# What XML and HTML have no way to say, and halves of characters, which names of files may have.
# And what turns the direction of writing, so that a name would be read as another one.
_UNSAYABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)

Child = Element | str


def element(name: str, /, *children: Child, **attributes: str) -> Element:
    """An element with these children. Attributes are named as in Python: `class_` for `class`, `stroke_width` for
    `stroke-width`."""
    made = Element(name, {_attribute(key): sayable(value) for key, value in attributes.items()})
    for child in children:
        append(made, child)
    return made


def append(parent: Element, child: Child) -> None:
    """One more child, after those there are."""
    if isinstance(child, Element):
        parent.append(child)
        return
    last = parent[-1] if len(parent) else None
    if last is None:
        parent.text = (parent.text or "") + sayable(child)
    else:
        last.tail = (last.tail or "") + sayable(child)


def sayable(text: str) -> str:
    """Without characters that a page cannot hold."""
    return _UNSAYABLE.sub("\ufffd", text)


def html(root: Element) -> str:
    """A whole document."""
    return f"<!DOCTYPE html>\n{tostring(root, encoding='unicode', method='html')}\n"


def table(
    heads: tuple[str, ...], rows: list[tuple[Child, ...]], numbers: tuple[int, ...] = (), name: str = ""
) -> Element:
    """numbers: the columns that are aligned to the right. name: of a table that can be sorted, for who hears it; where
    there is little room, each of its rows is a list of what is in its columns, so parts say what they are."""
    made = element("table", class_="sortable", role="table") if name else element("table")
    head = SubElement(_part(made, "thead", name and "rowgroup"), "tr")
    for column, text in enumerate(heads):
        place = "number" if column in numbers else "text"
        head.append(element("th", text, scope="col", class_=place, **({"role": "columnheader"} if name else {})))
    body = _part(made, "tbody", name and "rowgroup")
    for row in rows:
        line = _part(body, "tr", name and "row")
        for column, cell in enumerate(row):
            place = "number" if column in numbers else "text"
            more = {"role": "cell", "data_label": heads[column]} if name else {}
            is_empty = {"data_empty": "yes"} if name and cell == "" else {}
            line.append(element("td", cell, class_=place, **more, **is_empty))
    if not name:
        return element("div", made, class_="scroll")
    return element("div", made, class_="scroll", role="region", aria_label=name, tabindex="0")


def _part(of: Element, name: str, role: str) -> Element:
    made = SubElement(of, name)
    if role:
        made.set("role", role)
    return made


def _attribute(name: str) -> str:
    return "viewBox" if name == "viewBox" else name.rstrip("_").replace("_", "-")
