"""What `raise` alone raises in a handler: the failure that led there, once more.

except:                      except:
    n += 1            ->         n += 1
    raise                        if raised == 1: fail as the first check of the body does
                                 fail as the second one does
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from loopwright.ir.nodes import Assign, Checked, CheckKind, Compare, Const, Expr, If, Location, Stmt, Var
from loopwright.ir.types import BOOL, INT64

_NOT_FINITE: dict[type[BaseException], str] = {ValueError: "cannot convert float NaN to integer",
               OverflowError: "cannot convert float infinity to integer"}  # fmt: skip


@dataclass
class Reraised:
    """What `raise` alone raises in a handler: each failure that leads there has a number, which a variable keeps.
    failures: what fails once more, by these numbers from 1. numbers: the variables that keep what messages tell.
    new_name: gives names to these."""

    variable: str
    new_name: Callable[[str], str]
    failures: list[Stmt] = field(default_factory=list)
    numbers: list[Var] = field(default_factory=list)

    def kept(self, kind: type[BaseException] | None, check: Checked | None, at: Location | None) -> list[Stmt]:
        """What keeps a failure, where it is found. check: None for an index outside its array."""
        saved: list[Stmt] = []
        says: CheckKind = "index" if check is None else check.kind
        message, told = "" if check is None else check.raised, list[Var]()
        if says == "not_finite" and kind is not None:  # which tells two errors by its number
            says, message = "raised", f"{kind.__name__}: {_NOT_FINITE[kind]}"
        elif check is not None and says == "raised":
            told = [self._kept_number(one, at, saved) for one in (check.value, check.second) if one is not None]
        first, second = (*told, None, None)[:2]
        failure = Checked(first or Const(0, INT64), Const(False, BOOL), says, message, second, at=at)
        self.failures.append(Assign(self.new_name("t.raised"), failure, at=at))
        return [Assign(self.variable, Const(len(self.failures), INT64), at=at), *saved]

    def _kept_number(self, value: Expr, at: Location | None, saved: list[Stmt]) -> Var:
        name = Var(self.new_name("t.raised"), value.type)
        self.numbers.append(name)
        saved.append(Assign(name.name, value, at=at))
        return name

    def begun(self) -> Iterator[Stmt]:
        """What comes before the `try`."""
        for one in (Var(self.variable, INT64), *self.numbers):
            nothing: float | int | bool = 0.0 if one.type.is_float else False if one.type == BOOL else 0
            yield Assign(one.name, Const(nothing, one.type))

    def again(self, at: Location) -> Iterator[Stmt]:
        """What raises it."""
        for number, failure in enumerate(self.failures, 1):
            yield If(Compare("eq", Var(self.variable, INT64), Const(number, INT64)), (failure,), at=at)
        never = Checked(Const(0, INT64), Const(False, BOOL), "raised", "RuntimeError", at=at)
        yield Assign(self.new_name("t.raised"), never, at=at)  # control does not go on
