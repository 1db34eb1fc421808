"""The text of an inspector: it notes failures without leaving, and what it found decides which loop runs."""

from __future__ import annotations

from codegen.scheduled import host_text

FITS = """
kernel fits(b: float64[1] C, h: int64[1] C):
    for i in 0 .. size(b, 0):
        if b[i] > 2.0 and b[i] < 50.0:
            h[i] = checked(int64(b[i]), b[i] < 40.0, not_finite)
"""


def test_it_notes_and_does_not_jump() -> None:
    text = host_text(FITS, "parallelize i")
    inspector = text[text.index("int64_t lw_fails = 0;") : text.index("lw_holds = !lw_fails;")]
    assert "lw_fails |= " in inspector
    assert not any(word in inspector for word in ("goto", "LW_CHECKED", "&&", "h_[", "if ("))
