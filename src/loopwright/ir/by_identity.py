"""Answers that depend on a node alone, kept with the node.

Steps share every node that they do not change, so the same question is asked of the same node again and again. Nodes
never change, and equal nodes may have other answers kept: to compare trees would cost more than most answers.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar


class Answering:
    """A node that keeps answers, by the functions that gave them. They are no part of its value, and no copy of it has
    them."""

    __slots__ = ("_answers",)
    _answers: dict[object, Any]


Node = TypeVar("Node", bound=Answering)
Answer = TypeVar("Answer")


def by_identity(function: Callable[[Node], Answer]) -> Callable[[Node], Answer]:
    """The function, which computes each node's answer once. Where two threads ask at once both may compute it, and one
    of the answers is kept. What it raises is not kept."""

    @wraps(function)
    def asked(node: Node) -> Answer:
        try:
            answers = node._answers
        except AttributeError:
            answers = {}
            object.__setattr__(node, "_answers", answers)  # nodes are frozen
        try:
            found: Answer = answers[function]
        except KeyError:
            found = answers[function] = function(node)
        return found

    return asked
