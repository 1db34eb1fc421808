"""Numba's `typed`: lists and dicts that kernels make, under Numba's names. They are Python's own."""

from __future__ import annotations

from typing import Any

from loopwright.frontend.markers import makes


class List(list[Any]):
    """A list. Inside a kernel it holds what a list of Python's can hold there."""

    @staticmethod
    @makes(list)
    def empty_list(item_type: object, allocated: int = 0) -> List:
        """An empty list; its type comes from what is put into it."""
        return List()


class Dict(dict[Any, Any]):
    """A dict. Inside a kernel it holds what a dict of Python's can hold there."""

    @staticmethod
    @makes(dict)
    def empty(key_type: object, value_type: object, n_keys: int = 0) -> Dict:
        """An empty dict; its types come from what is put into it."""
        return Dict()


makes(list)(List)
makes(dict)(Dict)
