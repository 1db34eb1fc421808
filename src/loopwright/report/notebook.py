"""Pieces of HTML for notebooks. They bring their own style, which knows no page around it: text has the colour that the
notebook gives it, and what has a colour of its own has its own ground, so that it reads on white and on black.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, tostring

from loopwright.report.element import Child, append, element

STYLE = """
.loopwright { font-size: 13px; line-height: 1.45; max-width: 62rem; color: inherit; }
.loopwright .scroll { overflow-x: auto; }
.loopwright table { border-collapse: collapse; margin: .4em 0; color: inherit; }
.loopwright th, .loopwright td { text-align: left; vertical-align: top; padding: .2em .6em; border: 0;
  border-bottom: 1px solid rgba(128,128,128,.4); background: transparent; color: inherit; }
.loopwright th { font-weight: 600; }
.loopwright .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.loopwright code { font-family: ui-monospace, monospace; font-size: .95em; color: inherit; background: transparent;
  white-space: pre-wrap; overflow-wrap: anywhere; }
.loopwright .chip { border-radius: .3em; padding: .05em .45em; color: #ffffff; white-space: nowrap; }
.loopwright .good { background: #1a7f37; }
.loopwright .wait { background: #8a5a00; }
.loopwright .bad { background: #c21f2b; }
.loopwright figure { margin: .6em 0; }
.loopwright figcaption { font-weight: 600; }
.loopwright figure svg { width: 100%; max-width: 760px; height: auto; display: block; }
.loopwright svg text { font: 12px system-ui, sans-serif; fill: currentColor; }
.loopwright svg .bar { fill: #3d8fd1; }
.loopwright svg .axis { stroke: currentColor; }
.loopwright svg .grid { stroke: rgba(128,128,128,.4); stroke-width: .6; }
.loopwright svg .waits { fill: rgba(128,128,128,.22); }
.loopwright svg .computes { fill: #3d8fd1; }
.loopwright svg .copies { fill: #8a5a00; }
.loopwright svg .fails { fill: #c21f2b; }
.loopwright .legend { list-style: none; padding: 0; margin: .3em 0 0; }
.loopwright figure svg.sample { width: 28px; height: 14px; display: inline-block; vertical-align: middle; }
.loopwright details { margin: .3em 0; }
.loopwright summary { cursor: pointer; }
"""


def fragment(*parts: Child) -> str:
    """These, with the style."""
    made = element("div", element("style", STYLE), class_="loopwright")
    for part in parts:
        append(made, part)
    return tostring(made, encoding="unicode", method="html")


def chip(text: str, kind: str) -> Element:
    """A word on a ground of its own. kind: good, wait or bad."""
    return element("span", text, class_=f"chip {kind}")


def folded(title: Child, *parts: Child, is_open: bool = False) -> Element:
    """Parts that are shown when the title is clicked."""
    made = element("details", element("summary", title))
    if is_open:
        made.set("open", "open")
    for part in parts:
        append(made, part)
    return made
