"""`Function`: one C function under construction, and `Writer`: what all functions of a program share.

A Function finds out its own parameters: every identifier that its text uses and does not declare comes in from
outside. So a loop's body becomes a function of its own without any list being kept by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace

from loopwright.analysis.facts import Bounds, Facts
from loopwright.analysis.number_ranges import number_ranges
from loopwright.codegen.arrays import ArrayText, arrays_of
from loopwright.codegen.c_text import VALUE_TYPE, bits_of, failing, text_of
from loopwright.codegen.decisions import NONE, Access, Accesses, CodegenInput, LoopLowering
from loopwright.codegen.eager_conditions import asks_at_once, asks_both, in_pairs
from loopwright.codegen.gathers import gathers
from loopwright.codegen.lane_gains import flags_are_wide
from loopwright.codegen.names import Names
from loopwright.codegen.shifts import stays_inside
from loopwright.ir.code import (
    AtomicOperation,
    Branch,
    Claims,
    CodeBlock,
    CodeLine,
    Exit,
    Failure,
    FunctionCode,
    Lanes,
    Leaf,
    Loop,
    Node,
    Otherwise,
    Part,
    Repeat,
    ThreadTeam,
)
from loopwright.ir.nodes import (
    Allocate,
    Binary,
    Cast,
    Checked,
    Compare,
    Const,
    Dim,
    Expr,
    For,
    If,
    Kernel,
    Load,
    Location,
    Logical,
    Store,
    Var,
)
from loopwright.ir.program import FailureSite
from loopwright.ir.queries import names_assigned, names_in, originals_of, types_assigned
from loopwright.ir.types import FLOAT64, INT32, INT64, Scalar
from loopwright.ir.walk import expressions, loops, subexpressions
from loopwright.steps.extent import trip_of

FILLED = 4  # iterations of a loop: the C compiler writes fewer out before it looks for lanes


@dataclass
class Function:
    """code: the body so far, of the innermost block that is open; depth: of how many loops and branches that is inside.
    declared: identifiers with their declarations at the top; used: those of them that are needed. parameters: those
    from outside, in order of first use. scoped: loop variables and the like. buffers: local arrays on the heap, freed
    at the end. rooms: what holds the size of their memory. ending: what else is done on every way out. replaced: array
    elements that live in a variable for a while, by (array, index). renamed: locals so; widened: to which C type reads
    convert some of these. computed: names of quotients, remainders, and values of functions that are there already;
    checked: indices, by the access that has checked them. broken: loops that run in strips, with the label behind them.
    ahead: loops whose operations were counted before them, with a line that takes back those that are left. nested: in
    how many loops of this function text is being written. owed: by names of loops, operations of those around that they
    count. counters: what counts the iterations of loops of which there is a constant number, from 0 on. own_bytes: of
    the arrays that each thread of a block keeps in registers. asks: whether the text of a device function asks
    whether to stop. both: it is also compiled as one that does not: C++ then knows `lw_asks`. ends_early: whether a
    thread may end there, where others meet. meets: whether threads wait for one another in it."""

    name: str
    code: list[Node] = field(default_factory=list)
    declared: dict[str, Leaf] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    parameters: dict[str, None] = field(default_factory=dict)
    buffers: list[str] = field(default_factory=list)
    rooms: dict[str, str] = field(default_factory=dict)
    ending: list[Node] = field(default_factory=list)
    scoped: set[str] = field(default_factory=set)
    replaced: dict[tuple[str, tuple[Expr, ...]], str] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    widened: dict[str, str] = field(default_factory=dict)
    computed: dict[Expr, str] = field(default_factory=dict)
    checked: dict[Access, str] = field(default_factory=dict)
    counters: dict[str, str] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)
    ahead: dict[str, tuple[For, str]] = field(default_factory=dict)
    own_bytes: int = 0
    nested: int = 0
    owed: dict[str, int] = field(default_factory=dict)
    depth: int = 0
    on_device: bool = False
    asks: bool = True
    both: bool = False
    ends_early: bool = False
    meets: bool = False

    @contextmanager
    def inside(self, block: CodeBlock) -> Iterator[None]:
        """Within, what is written belongs to this block."""
        outer, self.code = self.code, []
        self.depth += type(block) is not CodeBlock
        yield
        self.depth -= type(block) is not CodeBlock
        outer.append(replace(block, body=tuple(self.code)))
        self.code = outer


class Writer:
    """The state of one program's generation; also the environment of its expressions (c_text.Environment)."""

    def __init__(self, kernel: Kernel, facts: Facts, check_all: bool, strict: bool) -> None:
        self.kernel, self.facts, self.strict = kernel, facts, strict
        self.names = Names()
        self.arrays: dict[str, ArrayText] = arrays_of(kernel, self.names)
        self.scalars: dict[str, Scalar] = {param.name: param.type for param in kernel.scalars}
        self.scalars |= types_assigned(kernel.body)
        # What is only ever read: its assignments stood where control never comes, and a check fails before it is read.
        for expr in expressions(kernel.body, Var):
            self.scalars.setdefault(expr.name, expr.type)
        self.loops = {name: loop for name, loop in loops(kernel).items() if isinstance(loop, For)}
        given = {param.name for param in kernel.scalars}
        self.locals = [name for name in self.scalars if name not in given and name not in loops(kernel)]
        self.scalars |= dict.fromkeys(self.loops, INT64)
        self.sites: list[FailureSite] = []
        self.originals = originals_of(kernel)
        self.finished: list[FunctionCode] = []
        self.parallel: list[str] = []  # names of the loops that were written for several threads
        self.given = CodegenInput(kernel, facts, self.arrays, self.scalars, self.loops, check_all, strict)
        self.decided = LoopLowering()
        self.kept_indices: dict[Access, str] = {}  # names, by the access that has checked the index
        self.reserved: dict[str, int] = {}  # local arrays of which only part is mostly used, and their bytes
        self.rooms = False  # whether there are others on the heap
        self.reciprocals: dict[Expr, str] = {}  # names, by the divisor
        self.chooses = False  # whether numbers are chosen without a jump
        self.vector_functions = False  # whether what is written may run in lanes, and its last digits may differ
        self.choosing = frozenset[int]()  # conditional updates (by their identity) that do without a jump here
        self.in_lanes = False  # whether what is written may run in lanes
        self.wide_flags = False  # whether flags there have the size of all else
        self.changing: frozenset[str] | None = None  # the names that a loop for lanes changes; None outside of one
        self.inside: Accesses = NONE  # accesses that a test has freed of checks
        self.fitting = ""  # an opaque zero, where conversions that are freed of checks may be written plainly
        self.streams: frozenset[int] = frozenset()  # compactions that are written without a jump
        self.function = Function("lw_kernel")
        self.types = self._types()
        self.write_loop: Callable[[For], None]
        self.around_loop: Callable[[For], AbstractContextManager[None]] = lambda _: nullcontext()
        self.write_allocate: Callable[[Allocate], None] | None = None
        self.write_store: Callable[[Store], None] | None = None
        self.asks = True  # whether loops ask now and then whether to stop
        self.locksteps = False  # whether iterations go on in lanes somewhere

    def _types(self) -> dict[str, str]:
        types = {self.names.of(name): VALUE_TYPE[scalar.name] for name, scalar in self.scalars.items()}
        restrict = "" if self.kernel.overlap else "restrict "
        for array in self.arrays.values():
            types |= dict.fromkeys(array.symbols, "int64_t")
            types[array.pointer] = f"{array.pointer_type}{restrict}"
        return (
            types | {"failure": "lw_failure *", "returned": "lw_slot *", "threads": "int64_t"} | {"watch": "lw_watch *"}
        )

    # ---- identifiers --------------------------------------------------------------------------------------------

    def use(self, identifier: str) -> str:
        """The identifier, noted as coming from outside unless this function declares it."""
        if identifier in self.function.declared:
            self.function.used.add(identifier)
        elif identifier not in self.function.scoped:
            self.function.parameters[identifier] = None
        return identifier

    def declare(self, identifier: str) -> str:
        """The identifier as a local of this function, of the type that it has everywhere."""
        self.own(identifier)
        return self.use(identifier)

    def own(self, identifier: str) -> None:
        """Have the identifier declared, should it be used."""
        self.function.declared.setdefault(identifier, CodeLine(f"{self.types[identifier]} {identifier} = 0;"))

    def fresh(self, wanted: str, ctype: str) -> str:
        """A new identifier of this C type; not declared yet."""
        identifier = self.names.fresh(wanted)
        self.types[identifier] = ctype
        return identifier

    # ---- code

    def line(self, text: str) -> None:
        """Write a statement, or another line that nothing stands inside of."""
        self.function.code.append(CodeLine(text))

    def add(self, node: Node) -> None:
        """Write what is a node of its own."""
        self.function.code.append(node)

    def fail(self, site: int | str, index: str = "0", size: str = "0", condition: str = "") -> None:
        """Record a failure and leave the function, under a condition if there is one."""
        self.use("failure")
        self.add(Exit(condition, Failure(str(site), index, size)))

    def leave(self, condition: str = "") -> None:
        """Leave the function, under a condition if there is one."""
        self.add(Exit(condition))

    def block(self) -> AbstractContextManager[None]:
        """Within, what is written stands in braces."""
        return self.function.inside(CodeBlock())

    @contextmanager
    def loop(
        self, head: str, name: str = "", *, trips: int | None = None, unroll: int | None = None,
        lanes: Lanes | None = None, part: Part = "all", at_once: int = 1,
    ) -> Iterator[None]:  # fmt: skip
        """Within, what is written stands in a `for` loop with this head: see `ir.code.Loop`."""
        before = self.vector_functions, self.in_lanes, self.changing, self.wide_flags
        known = self.loops.get(name) if lanes is not None else None
        self.changing = None if known is None else frozenset({name, *names_assigned(known.body)})
        self.vector_functions, self.in_lanes = lanes is not None and lanes.vector_functions, self._fills(name, lanes)
        self.wide_flags = known is not None and self.in_lanes and flags_are_wide(known)
        made = Loop(head=head, name=name, trips=trips, unroll=unroll, lanes=lanes, part=part, at_once=at_once)
        with self.function.inside(made):
            yield
        self.vector_functions, self.in_lanes, self.changing, self.wide_flags = before

    def _fills(self, name: str, lanes: Lanes | None) -> bool:
        """Whether the C compiler may be expected to make code for whole registers of a loop for lanes."""
        if lanes is None or name not in self.loops:
            return lanes is not None
        trip = trip_of(self.loops[name])
        return (trip is None or trip >= FILLED) and not any(True for _ in gathers(self.loops[name]))

    def repeat(self, condition: str, unroll: int | None = None) -> AbstractContextManager[None]:
        """Within, what is written runs while a condition holds."""
        return self.function.inside(Repeat(condition=condition, unroll=unroll))

    def claims(self, number: str, counter: str, count: str) -> AbstractContextManager[None]:
        """Within, what is written is done for each number that a thread claims: see `ir.code.Claims`."""
        self.line(f"int64_t {number};")
        return self.function.inside(Claims(number=number, counter=counter, count=count))

    def team(self, threads: str) -> AbstractContextManager[None]:
        """Within, what is written is what each thread of a team does: see `ir.code.ThreadTeam`."""
        return self.function.inside(ThreadTeam(threads=threads))

    def branch(
        self, condition: str, name: str = "", *, part: Part = "all", axes: str = "", versions: bool = False,
        plain: bool = False,
    ) -> AbstractContextManager[None]:  # fmt: skip
        """Within, what is written runs under a condition: see `ir.code.Branch`."""
        return self.function.inside(
            Branch(
                condition=condition,
                name=name,
                part=part,
                axes=axes,
                versions=versions,
                plain=plain,
            )
        )

    def maybe(self, condition: str) -> AbstractContextManager[None]:
        """Within, what is written stands in braces, under a condition if there is one."""
        return self.branch(condition) if condition else self.block()

    def otherwise(self) -> AbstractContextManager[None]:
        """Within, what is written runs where the branch just before does not."""
        return self.function.inside(Otherwise())

    def only(self, condition: str, statement: str | Leaf, axes: str = "") -> None:
        """Write a statement, a node or C text, under a condition, if there is one."""
        node = CodeLine(statement) if isinstance(statement, str) else statement
        self.add(Branch(condition=condition, body=(node,), axes=axes) if condition else node)

    # ---- text

    def text(self, expr: Expr) -> str:
        return text_of(expr, self)

    # ---- c_text.Environment -------------------------------------------------------------------------------------

    def variable(self, name: str) -> str:
        renamed = self.function.renamed.get(name)
        if name in self.function.widened:
            return f"(({self.function.widened[name]}){renamed})"
        return renamed if renamed is not None else self.use(self.names.of(name))

    def size(self, array: str, axis: int) -> str:
        text = self.arrays[array].sizes[axis]
        return f"{text}L" if text[0].isdigit() else self.use(text)

    def load(self, node: Load) -> str:
        text = self.element(node)
        if node.type.kind == "bool":
            # gcc keeps a comparison with zero in bytes.
            return f"(-(int64_t){text} < 0)" if self.wide_flags else f"({text} != 0)"
        return text

    def checked(self, node: Checked) -> str:
        if not self.may_fail(node):
            return self._fitting(node)
        self.use("failure")
        whole = None if self.function.on_device else truncated(node)
        if whole is not None:
            site = self.site(node.kind, node.type.name, 0, node.at)
            return f"LW_TRUNCATED({VALUE_TYPE[whole.type.name]}, {whole.type.name}, {self.text(whole)}, {site})"
        value = self.text(node.value)
        if node.told is None:
            return f"LW_CHECKED({self.text(node.condition)}, {value}, {self.site(node.kind, node.raised, 0, node.at)})"
        # The element type stands where a wrong index has the name of its array.
        site = self.site(node.kind, node.raised or node.type.name, 0, node.at)
        number = failing(self.text(node.told), node.told.type)
        if node.second is not None:  # both by their bits: what they are stands in what the exception says
            number = ", ".join(bits_of(self.text(one), one.type) for one in (node.told, node.second))
        return f"LW_CHECKED_NUMBER({self.text(node.condition)}, {value}, {site}, {number})"

    def _fitting(self, node: Checked) -> str:
        """The value of what cannot fail. An addition of nothing hides from gcc that a float was converted: of a later
        conversion back it would make trunc(), -0.0 for 0."""
        number = node.converted
        if not self.fitting or number is None or not number.type.is_float or node.type.kind != "int":
            return self.text(node.value)
        if self.in_lanes and number.type == FLOAT64 and (node.type.bits <= 32 or truncated(node) is not None):
            return f"(({VALUE_TYPE[node.type.name]})LW_CONVERTED({self.text(number)}, {self.fitting}))"
        return f"(({VALUE_TYPE[node.type.name]})((int64_t){self.text(number)} + {self.fitting}))"

    def stays(self, expr: Expr) -> bool:
        """Whether an expression is known to have one value in all iterations of the loop that is written for lanes."""
        parts = list(subexpressions(expr))
        simple = all(isinstance(part, Var | Const | Dim) for part in parts)
        return self.changing is not None and simple and not names_in(expr) & self.changing

    def is_near(self, expr: Binary) -> bool:
        """Whether a remainder is by a size, or by an argument that no statement changes, and alone: not of a product,
        and nobody needs the quotient."""
        if isinstance(expr.left, Binary) and expr.left.op in ("mul", "shl", "pow"):
            return False
        if not isinstance(expr.right, Dim) and not self._is_given(expr.right):
            return False
        quotient = replace(expr, op="floordiv")
        return all(one != quotient for one in expressions(self.given.kernel.body, Binary))

    def reciprocal(self, divisor: Expr) -> str:
        """The name of the reciprocal of a divisor that is the same in a whole call, computed where a function begins;
        '' where there is none: the C compiler knows how to divide by a constant."""
        if self.function.on_device or not self._is_given(divisor) or (by := self.text(divisor))[0].isdigit():
            return ""
        name = self.reciprocals.get(divisor) or self.fresh("lw_reciprocal", "uint64_t")
        self.reciprocals[divisor] = name
        line = f"const uint64_t {name} = lw_reciprocal_of((uint64_t){by});"
        self.function.declared.setdefault(name, CodeLine(line))
        return self.use(name)

    def _is_given(self, expr: Expr) -> bool:
        """Whether it is a size of an argument, or a number among them that no statement changes."""
        match expr:
            case Dim(array=array):
                return array in {one.name for one in self.kernel.arrays}
            case Var(name=name):
                is_argument = name in {one.name for one in self.kernel.scalars}
                return is_argument and name not in names_assigned(self.kernel.body)
        return False

    def cannot_overflow(self, expr: Expr) -> bool:
        """Whether signed arithmetic may be written as it is: the C compiler is told that it wraps."""
        return True

    def is_apart(self, expr: Expr) -> bool:
        """Whether a product is to be no part of a multiply-add."""
        return id(expr) in self.decided.apart

    def is_compared(self, expr: Expr) -> bool:
        """Whether a choice is made by the bits that a comparison gives."""
        return id(expr) in self.decided.selected

    def asks_both(self, expr: Logical) -> bool:
        """Whether both sides of a condition are asked, though one may tell."""
        if not self.in_lanes:
            return False
        # What an inspector has freed is inside where the first condition holds, not everywhere.
        tested = {access for test in self.decided.versions.values() for access in test.inside}
        return asks_both(expr, self.given, self.inside & tested)

    def asks_at_once(self, expr: Logical) -> bool:
        """Whether one jump is made of two comparisons."""
        return not self.in_lanes and asks_at_once(expr, self.given)

    def in_pairs(self, expr: Logical) -> Expr:
        """A condition with pairs for one jump."""
        return expr if self.in_lanes else in_pairs(expr, self.given)

    def is_late(self, expr: Expr) -> bool:
        """Whether a remainder is to be there soon."""
        return id(expr) in self.decided.late

    def computed(self, expr: Expr) -> str:
        """The name under which a value is kept here; '' where it has to be computed."""
        return self.function.computed.get(expr, "")

    def shifts_inside(self, expr: Binary, spare: int = 0) -> bool:
        """Whether a shift is known to be by less than the width, and not by a negative amount: C knows such shifts.
        spare: of so many bits less."""
        return not self.function.on_device and stays_inside(expr, self.loops, spare)

    def has_bits(self) -> bool:
        """Whether there is a function that gives one bit of a number: a GPU has no vectors that are shifted."""
        return not self.function.on_device

    def has_short_result(self, expr: Cast) -> bool:
        """Whether a float that is converted is known to be one of int32."""
        given = None if self.function.on_device else number_ranges(self.kernel).conversions.get(id(expr))
        return given is not None and not given.nan and INT32.minimum <= given.low and given.high <= INT32.maximum

    # ---- accesses -----------------------------------------------------------------------------------------------

    def element(self, node: Load | Store) -> str:
        """C text of the element that a Load or Store names (an lvalue), with the checks that it needs."""
        replaced = self.function.replaced.get((node.array, node.index))
        if replaced is not None:
            return replaced
        return self.arrays[node.array].element_at(self.index_of(node))

    def index_of(self, node: Load | Store) -> tuple[str, ...]:
        """C text of the index along each axis, with the checks that it needs."""
        for symbol in self.arrays[node.array].address_symbols:
            self.use(symbol)
        bounds = self.given.bounds_of(node, self.inside)
        return tuple(self._index(node, axis, expr, bounds[axis]) for axis, expr in enumerate(node.index))

    def updated(self, stmt: Store) -> AtomicOperation | CodeLine | None:
        """An update that other threads may do at once; None where a plain store does."""
        return None

    def updated_where(self, stmt: If) -> AtomicOperation | None:
        """The same of what a condition guards that only rules out updates which change nothing."""
        return None

    def _index(self, node: Load | Store, axis: int, expr: Expr, bounds: Bounds) -> str:
        size = self.size(node.array, axis)
        first, here = self.decided.checks.get((id(node), axis)), (id(node), axis)
        if bounds.kind == "checked":
            if first is not None and first != here and first in self.function.checked:
                return self.function.checked[first]
            self.use("failure")
            text = f"LW_INDEX({self.text(expr)}, {size}, {self.site('bounds', node.array, axis, node.at)})"
            return f"({self._kept(here)} = {text})" if first == here else text
        self.function.checked = {one: name for one, name in self.function.checked.items() if one != here}
        if bounds.may_be_negative:
            if isinstance(expr, Const):
                return self.text(Binary("add", Dim(node.array, axis), expr))
            return f"lw_wrap({self.text(expr)}, {size})"
        return self.text(expr)

    def _kept(self, access: Access) -> str:
        """The name under which an access keeps its checked index here."""
        name = self.kept_indices.get(access) or self.fresh("lw_at", "int64_t")
        self.kept_indices[access] = self.declare(name)
        self.function.checked = self.function.checked | {access: name}
        return name

    def site(self, kind: str, array: str, axis: int, at: Location | None) -> int:
        """The number of a place that may fail."""
        if kind == "bounds" and (original := self.originals.get(array)) is not None:
            array, axis = original.array, original.axes[axis]
        self.sites.append(FailureSite(kind, array, axis, at and at.of_user))
        return len(self.sites) - 1

    def may_fail(self, node: Load | Store | Checked) -> bool:
        """Whether the text of this node contains a check."""
        return self.given.is_checked(node, self.inside)

    # ---- finishing a function -----------------------------------------------------------------------------------

    def giving_back(self, buffer: str) -> Node:
        """Code that gives the memory of a local array back."""
        return CodeLine(f"{'lw_unreserve' if buffer in self.reserved else 'lw_give_back'}({buffer});")

    def finish(self, part: Function) -> None:
        """Keep a function whose body is complete."""
        declared = (node for identifier, node in part.declared.items() if identifier in part.used)
        self.finished.append(
            FunctionCode(
                "LW_PART int",
                part.name,
                tuple((name, self.types[name]) for name in part.parameters),
                (CodeLine("int lw_status = 1;"), *declared, *part.code, CodeLine("lw_status = 0;")),
                (*map(self.giving_back, part.buffers), *part.ending, CodeLine("return lw_status;")),
            )
        )


def truncated(node: Checked) -> Expr | None:
    """The float that is converted to an int64, provided that it fits; None for any other check."""
    number = node.converted
    if not isinstance(node.condition, Logical | Binary) or node.condition.op != "and":
        return None
    match node.condition.left, node.condition.right:
        case (
            Compare(op="ge", left=low, right=Const(value=least)),
            Compare(op="lt", left=high, right=Const(value=bound)),
        ) if number is not None and number == low == high and -least == bound == 2.0**63:
            return number if number.type.is_float and node.type == INT64 else None
    return None


def code_lines(*texts: str) -> tuple[CodeLine, ...]:
    """Lines of code."""
    return tuple(map(CodeLine, texts))
