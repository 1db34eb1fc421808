"""The loops of surrounding_loops.py for nine to sixteen arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Function = Callable[..., Any]


def each_of_many(function: Function) -> Function:
    """The elements that a function gives for those of any number of arrays, of one axis and the same length."""

    def elements(*arrays: Any) -> Any:
        return np.array([function(*tuple([one[i] for one in arrays])) for i in range(len(arrays[0]))])

    return elements


# fmt: off
def _along_nine(function: Function) -> Function:
    def along(
        a0: Any, a1: Any, a2: Any, a3: Any, a4: Any, a5: Any, a6: Any, a7: Any, a8: Any
    ) -> None:
        for i in range(len(a0)):
            function(
                a0[i], a1[i], a2[i], a3[i], a4[i], a5[i], a6[i], a7[i], a8[i]
            )
    return along


def _along_ten(function: Function) -> Function:
    def along(
        a0: Any, a1: Any, a2: Any, a3: Any, a4: Any, a5: Any, a6: Any, a7: Any, a8: Any, a9: Any
    ) -> None:
        for i in range(len(a0)):
            function(
                a0[i], a1[i], a2[i], a3[i], a4[i], a5[i], a6[i], a7[i], a8[i], a9[i]
            )
    return along


def _along_eleven(function: Function) -> Function:
    def along(
        a0: Any, a1: Any, a2: Any, a3: Any, a4: Any, a5: Any, a6: Any, a7: Any, a8: Any, a9: Any, a10: Any
    ) -> None:
        for i in range(len(a0)):
            function(
                a0[i], a1[i], a2[i], a3[i], a4[i], a5[i], a6[i], a7[i], a8[i], a9[i], a10[i]
            )
    return along


def _along_twelve(function: Function) -> Function:
    def along(
        a0: Any, a1: Any, a2: Any, a3: Any, a4: Any, a5: Any, a6: Any, a7: Any, a8: Any, a9: Any, a10: Any, a11: Any
    ) -> None:
        for i in range(len(a0)):
            function(
                a0[i], a1[i], a2[i], a3[i], a4[i], a5[i], a6[i], a7[i], a8[i], a9[i], a10[i], a11[i]
            )
    return along


def _along_thirteen(function: Function) -> Function:
    def along(
        a0: Any, a1: Any, a2: Any, a3: Any, a4: Any, a5: Any, a6: Any, a7: Any, a8: Any, a9: Any, a10: Any, a11:
        Any, a12: Any
    ) -> None:
        for i in range(len(a0)):
            function(
                a0[i], a1[i], a2[i], a3[i], a4[i], a5[i], a6[i], a7[i], a8[i], a9[i], a10[i], a11[i], a12[i]
            )
    return along


def _along_fourteen(function: Function) -> Function:
    def along(
        a0: Any, a1: Any, a2: Any, a3: Any, a4: Any, a5: Any, a6: Any, a7: Any, a8: Any, a9: Any, a10: Any, a11:
        Any, a12: Any, a13: Any
    ) -> None:
        for i in range(len(a0)):
            function(
                a0[i], a1[i], a2[i], a3[i], a4[i], a5[i], a6[i], a7[i], a8[i], a9[i], a10[i], a11[i], a12[i], a13[i]
            )
    return along


def _along_fifteen(function: Function) -> Function:
    def along(
        a0: Any, a1: Any, a2: Any, a3: Any, a4: Any, a5: Any, a6: Any, a7: Any, a8: Any, a9: Any, a10: Any, a11:
        Any, a12: Any, a13: Any, a14: Any
    ) -> None:
        for i in range(len(a0)):
            function(
                a0[i], a1[i], a2[i], a3[i], a4[i], a5[i], a6[i], a7[i], a8[i], a9[i], a10[i], a11[i], a12[i],
                a13[i], a14[i]
            )
    return along


def _along_sixteen(function: Function) -> Function:
    def along(
        a0: Any, a1: Any, a2: Any, a3: Any, a4: Any, a5: Any, a6: Any, a7: Any, a8: Any, a9: Any, a10: Any, a11:
        Any, a12: Any, a13: Any, a14: Any, a15: Any
    ) -> None:
        for i in range(len(a0)):
            function(
                a0[i], a1[i], a2[i], a3[i], a4[i], a5[i], a6[i], a7[i], a8[i], a9[i], a10[i], a11[i], a12[i],
                a13[i], a14[i], a15[i]
            )
    return along


ALONG_MANY: tuple[Callable[[Function], Function], ...] = (
    _along_nine, _along_ten, _along_eleven, _along_twelve, _along_thirteen,
    _along_fourteen, _along_fifteen, _along_sixteen,
)
"""Call a function with the items of so many arrays, one after the other; the first: of nine."""
