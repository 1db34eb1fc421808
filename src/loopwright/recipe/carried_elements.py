"""Scalar replacement of what the next iteration reads: where conditions say what an iteration writes, as in dynamic
programming (`if a[i] == b[j]: t[i, j] = t[i - 1, j - 1] + 1`, `else: t[i, j] = max(t[i - 1, j], t[i, j - 1])`), the C
compiler fetches the element of the iteration before from the cache, where it is still on its way. What one statement
writes it keeps in a register itself, unless it lies as far off as only a call tells: a row before, or in an array with
strides. `carry`."""

from __future__ import annotations

from loopwright.ir.nodes import Body, Const, For, If, Kernel, Store, While
from loopwright.ir.queries import arrays_loaded, arrays_stored, contains, names_in
from loopwright.ir.types import INT64
from loopwright.ir.user_text import user_name
from loopwright.ir.walk import loops, statements
from loopwright.recipe.partial_schedule import PartialSchedule
from loopwright.steps.carry import Carry


def elements_carried(partial: PartialSchedule) -> None:
    """Keep such elements in scalars, in innermost loops that need their order."""
    for name in list(loops(partial.kernel)):
        loop = loops(partial.kernel).get(name)
        if not isinstance(loop, For) or not isinstance(loop.step, Const) or contains(loop.body, For, While):
            continue
        for array in sorted(arrays_stored(loop.body) & arrays_loaded(loop.body)):
            far = _lies_far_off(partial.kernel, loop, array)
            if not far and (not _is_conditional(loop.body, array) or _is_chosen(loop.body, array)):
                continue
            step = Carry(array, name, again=True)
            if step.unfit(loop) is None and partial.allows(step):
                with partial.together():
                    why = f"'{user_name(name)}' reads of '{user_name(array)}' what the iteration before has written"
                    partial.take(step, why, anew=True)


def _lies_far_off(kernel: Kernel, loop: For, array: str) -> bool:
    """Whether only a call tells how far iterations of the loop move on in an array: not where neighbours lie side by
    side."""
    layout = next((one.layout for one in kernel.arrays if one.name == array), "C")
    for store in (one for one in statements(loop.body, Store) if one.array == array):
        near = {"C": len(store.index) - 1, "last": len(store.index) - 1, "F": 0, "first": 0}.get(layout)
        if any(loop.name in names_in(index) for axis, index in enumerate(store.index) if axis != near):
            return True
    return False


def _is_conditional(body: Body, array: str) -> bool:
    """Whether an array is written under a condition, or in several places."""
    everywhere = [one for one in statements(body, Store) if one.array == array]
    return len(everywhere) > 1 or not any(one is everywhere[0] for one in body)


def _is_chosen(body: Body, array: str) -> bool:
    """Whether all is one choice of a whole number, which has no jump (codegen/chosen_stores.py)."""
    return all(isinstance(one, If) and _only_stores(one) for one in body if array in arrays_stored((one,)))


def _only_stores(choice: If) -> bool:
    for part in (choice.then, choice.otherwise):
        match part:
            case (Store(value=value),) if value.type == INT64:
                continue
            case (If() as inner,) if _only_stores(inner):
                continue
            case _:
                return False
    return True
