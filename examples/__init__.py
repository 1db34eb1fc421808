"""Runnable examples. Start with `python examples/stencil.py`; `python examples/tour.py` is the tour."""
