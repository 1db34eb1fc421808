"""Answers that depend on a node alone, kept as long as the node lives.

Steps share every node that they do not change, so the same question is asked of the same node again and again. Nodes
never change, and are compared by identity here: to compare trees would cost more than most answers. The tables hold
nodes weakly, so an answer must not hold the node that it is about.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import KeyedRef

Node = TypeVar("Node")
Answer = TypeVar("Answer")


def by_identity(function: Callable[[Node], Answer]) -> Callable[[Node], Answer]:
    """The function, which computes each node's answer once. Two threads that ask at once may both compute it. What it
    raises is not kept."""
    known: dict[int, tuple[KeyedRef[int, Node], Answer]] = {}

    def forget(dead: KeyedRef[int, Node]) -> None:
        known.pop(dead.key, None)  # before the identity can be another node's

    @wraps(function)
    def asked(node: Node) -> Answer:
        key = id(node)
        found = known.get(key)
        if found is not None and found[0]() is node:
            return found[1]
        answer = function(node)
        known[key] = KeyedRef(node, forget, key), answer
        return answer

    return asked
