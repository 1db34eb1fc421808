"""Contrast of two colours, by the Web Content Accessibility Guidelines 2.2, 1.4.3 and 1.4.11."""

from __future__ import annotations

TEXT, GRAPHICS = 4.5, 3.0
"""What text and what pictures have at least."""


def contrast(one: str, other: str) -> float:
    """Of `#rrggbb` and another one: from 1 to 21."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    parts = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
