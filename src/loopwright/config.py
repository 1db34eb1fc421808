"""Every option and environment variable, in one frozen Config. It reads the environment once, at import.

`current()` is the Config in force here; `options(...)` changes it for a `with` block. It lives in a context
variable: threads and asyncio tasks do not see each other's options. `set_options(...)` changes it for the process.
"""

from __future__ import annotations

import math
import operator
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from pathlib import Path
from threading import Lock
from typing import Any, Literal, NamedTuple, TypedDict, Unpack, cast, get_args

from loopwright.forks import free_in_child

Device = Literal["auto", "cpu", "cuda", "emulated", "interpreter"]
Numbered = Literal[
    "cuda:0", "cuda:1", "cuda:2", "cuda:3", "cuda:4", "cuda:5", "cuda:6", "cuda:7", "emulated:0", "emulated:1"
]
"""GPUs by their numbers, as type checkers know them; there may be more."""
Checks = Literal["auto", "all"]
Tested = Literal["auto", "data", "unguarded", "all"]
RecipeKind = Literal["auto", "plain"]
Narrowing = Literal["auto", "wrap", "raise"]
Results = Literal["host", "device"]
STORE_NAME = "profile.sqlite3"
BUILT_SUFFIX = ".loopwright"
_SIZE = re.compile(r"(?P<number>\d+(\.\d+)?)\s*(?P<prefix>[kmgt]?)(?P<binary>i?)(b|bytes)?")
PLANS = ("auto", "single", "split", "race")
_NUMBERED = re.compile(r"(?P<kind>cuda|emulated):?(?P<number>\d+)")
_SHARE = re.compile(r"\s*(-?\d+:-?\d+ on |all on |in |out |may )")
_GOAL = re.compile(r"time|energy|edp|time within \d+(\.\d+)? ?% energy")
DEBUG_TOPICS = ("variants", "times", "schedule", "source", "passes")


@dataclass(frozen=True, slots=True)
class Tools:
    """What code is made with, and where it is kept: options that do not change what results mean.
    cache: folder of compiled code. cache_size: how many bytes it may have, None for any number. compiler,
    compiler_flags: the C compiler and what is added to its flags. compile_timeout_s: after how many seconds a
    compilation is given up. debug: topics to print; dump: folder for the IR after each pass. built: folder that
    `loopwright build` made, `off` for none, None for the one beside the script. layout: whether arrays are kept in
    another layout while loops run (docs/layouts.md): `auto` where that is predicted to pay, `off` never, or one or more
    steps such as `relayout p in t soa`, always. remap: likewise for the order of iterations and of what index arrays
    count (docs/gpu.md)."""

    cache: Path = Path()
    cache_size: int | None = 10**9
    compiler: str = ""
    compiler_flags: tuple[str, ...] = ()
    compile_timeout_s: float = 120.0
    debug: frozenset[str] = frozenset()
    dump: Path | None = None
    built: Path | Literal["off"] | None = None
    layout: str = "auto"
    remap: str = "auto"

    @property
    def built_folder(self) -> Path | None:
        """The folder of code that was compiled ahead of time: the one that is asked for, else `script.loopwright`
        beside the `script.py` that runs, where it is there."""
        if self.built is not None:
            return self.built if isinstance(self.built, Path) else None
        script = getattr(sys.modules.get("__main__"), "__file__", None)
        if not isinstance(script, str) or not script.endswith(".py"):
            return None
        folder = script.removesuffix(".py") + BUILT_SUFFIX
        return Path(folder) if os.path.isdir(folder) else None


class Semantics(NamedTuple):
    """What the results of a call mean. strict: they equal Python's to the last bit (no reordered float sums, no fused
    multiply-add). deterministic: on a CPU, the same bits for any number of threads. checks: `auto` tests in the code
    only what is not proven, `all` tests every access. For calls whose sizes fail the condition that `auto` takes for
    granted there are `data`, which tests what elements decide and proves the rest, and `unguarded`, which tests what is
    not proven for all sizes. narrowing_raises: storing a NumPy number where a signed integer type cannot hold it raises
    what Python raises; else it wraps."""

    strict: bool = False
    deterministic: bool = False
    checks: Tested = "auto"
    narrowing_raises: bool = False


@dataclass(frozen=True, slots=True)
class Config(Tools):
    """All options, with those of Tools. device: `cpu` runs compiled code on the CPU, `cuda` on an NVIDIA GPU, `auto` on
    the GPU where arguments are in its memory, else on the CPU; `emulated` runs on the CPU what a GPU would run, slowly,
    and reports its faults; `interpreter` is the slow reference. threads: the number of CPU threads, at least 1. strict,
    deterministic, checks: see Semantics. narrowing: what storing a NumPy number does that the array's signed integer
    type cannot hold: `wrap`, or `raise` what Python raises; `auto` raises under strict and under checks=`all`. recipe:
    `auto` restructures loops where the facts promise a gain, `plain` only chooses which of them run in parallel.
    schedule: steps to take instead of the recipe, as text (docs/schedules.md); without effect under checks=`all`.
    variant: the variant that serves every call, as text, such as `cpu 2: recipe` (docs/tuning.md); it decides device,
    threads and schedule. explore: whether other variants may be tried beside kernels that run for long, in at most 5 %
    of their time. remap: whether similar iterations run side by side (docs/gpu.md, docs/performance.md): `auto`
    where that is predicted to pay and does, `off` never, or one or more steps, `redirect LOOP` on a GPU and
    `group LOOP` on a CPU, always: schedules then begin with them. devices: the devices that may share one call, such
    as `cpu, cuda:0, cuda:1`; by default none: each call runs
    on the one that `device` names. plan: how they share it (docs/devices.md): `auto` whatever is measured to be
    fastest, `single` one of them, `split` each a part of the iterations, `race` each the whole call, until one of them
    has finished; or the text of a plan. goal: what to minimise: `time`, `energy`, `edp` (the energy-delay product), or
    `time within 10% energy`. watts: what devices draw at work and idle, for goals with energy where no counter measures
    it: such as `cpu 150/60, cuda:0 700/100`. results: what the arrays are that a call makes and returns: `host` for
    NumPy arrays, `device` for `lw.DeviceArray`s, which stay where the call has run (docs/gpu.md). store: the file of
    measurements (docs/store.md), `off` for none, None for the one in the cache folder. tuned: a file of tuned results
    to start from, `off` for none, None for the one beside the source file, such as `heat.tuned.jsonl` for `heat.py`."""

    device: str = "auto"
    threads: int = 1
    strict: bool = False
    deterministic: bool = False
    checks: Checks = "auto"
    narrowing: Narrowing = "auto"
    recipe: RecipeKind = "auto"
    schedule: str = ""
    variant: str = ""
    explore: bool = True
    remap: str = "auto"
    devices: tuple[str, ...] = ()
    plan: str = "auto"
    goal: str = "time"
    watts: tuple[tuple[str, float, float], ...] = ()
    results: Results = "host"
    store: Path | Literal["off"] | None = None
    tuned: Path | Literal["off"] | None = None

    @property
    def store_path(self) -> Path | None:
        """The file of measurements; None where none are to be kept."""
        if isinstance(self.store, Path):
            return self.store
        return None if self.store == "off" else self.cache / STORE_NAME

    @property
    def semantics(self) -> Semantics:
        """What results mean under these options."""
        raises = self.narrowing == "raise" or (self.narrowing == "auto" and (self.strict or self.checks == "all"))
        return Semantics(self.strict, self.deterministic, self.checks, raises)

    @property
    def tools(self) -> Tools:
        """What code is made with under these options."""
        return Tools(*(getattr(self, one.name) for one in fields(Tools)))


class KernelOptions(TypedDict, total=False):
    """What `@lw.kernel` takes: fields of Config, as people write them."""

    device: Device | Numbered
    threads: int
    strict: bool
    deterministic: bool
    checks: Checks
    narrowing: Narrowing
    recipe: RecipeKind
    variant: str
    explore: bool
    remap: str
    devices: str | Sequence[str]
    plan: str
    goal: str
    watts: str
    results: Results
    layout: str
    store: str | os.PathLike[str] | None
    tuned: str | os.PathLike[str] | None
    cache: str | os.PathLike[str]
    cache_size: str | int | None
    built: str | os.PathLike[str] | None
    compiler: str
    compiler_flags: str | Sequence[str]
    compile_timeout_s: float
    debug: str | Iterable[str]
    dump: str | os.PathLike[str] | None


class Options(KernelOptions, total=False):
    """What `lw.options` and `lw.set_options` take: all fields of Config."""

    schedule: str


def from_environment(environment: Mapping[str, str]) -> Config:
    """The Config that LOOPWRIGHT_DEVICE, _THREADS, _STRICT, _DETERMINISTIC, _CHECKS, _NARROWING, _CACHE, _CACHE_SIZE,
    _CC, _CFLAGS, _COMPILE_TIMEOUT, _DEBUG, _DUMP, _BUILT, _RECIPE, _SCHEDULE, _VARIANT, _EXPLORE, _REMAP, _LAYOUT,
    _DEVICES, _PLAN, _GOAL, _WATTS, _RESULTS, _STORE and _TUNED say.

    Raises ValueError for a value that an option cannot have."""

    def get(name: str, default: str = "") -> str:
        return environment.get("LOOPWRIGHT_" + name, default).strip()

    debug = _topics(get("DEBUG"))
    dump = get("DUMP")
    config = Config(
        device=_as_wanted("device", get("DEVICE", "auto")),
        threads=_whole_number("LOOPWRIGHT_THREADS", get("THREADS") or str(available_cores())),
        strict=get("STRICT", "0").lower() in ("1", "true", "yes", "on"),
        deterministic=get("DETERMINISTIC", "0").lower() in ("1", "true", "yes", "on"),
        checks=cast(Checks, get("CHECKS", "auto")),
        narrowing=cast(Narrowing, get("NARROWING", "auto")),
        cache=_path(get("CACHE")) if get("CACHE") else _platform_cache(environment),
        cache_size=parse_size("LOOPWRIGHT_CACHE_SIZE", get("CACHE_SIZE") or "1 GB"),
        compiler=get("CC"),
        compiler_flags=tuple(get("CFLAGS").split()),
        compile_timeout_s=_seconds("LOOPWRIGHT_COMPILE_TIMEOUT", get("COMPILE_TIMEOUT", "120")),
        debug=debug,
        dump=_path(dump) if dump else None,
        built=_wherever_we_go(_path_or_off(get("BUILT"))),
        recipe=cast(RecipeKind, get("RECIPE", "auto")),
        schedule=get("SCHEDULE"),
        variant=get("VARIANT"),
        explore=get("EXPLORE", "1").lower() in ("1", "true", "yes", "on"),
        remap=_as_wanted("remap", get("REMAP", "auto")),
        devices=_as_wanted("devices", get("DEVICES")),
        plan=_as_wanted("plan", get("PLAN", "auto")),
        goal=_as_wanted("goal", get("GOAL", "time")),
        watts=_as_wanted("watts", get("WATTS")),
        results=cast(Results, get("RESULTS", "host")),
        layout=_as_wanted("layout", get("LAYOUT", "auto")),
        store=_path_or_off(get("STORE")),
        tuned=_path_or_off(get("TUNED")),
    )
    return _validated(config)


def available_cores() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


def _platform_cache(environment: Mapping[str, str]) -> Path:
    base = environment.get("XDG_CACHE_HOME", "")
    return (Path(base) if base else Path.home() / ".cache") / "loopwright"


def _path_or_off(text: str) -> Path | Literal["off"] | None:
    if text.lower() == "off":
        return "off"
    return _path(text) if text else None


def _wherever_we_go(path: Path | Literal["off"] | None) -> Path | Literal["off"] | None:
    """The same folder after a change of the working directory."""
    return Path(os.path.abspath(path)) if isinstance(path, Path) else path


def _whole_number(name: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{name} is {text!r}: a whole number is wanted") from None


def parse_size(name: str, text: str) -> int | None:
    """'500MB' -> 500000000, '2 GiB' -> 2147483648; 'off' is no limit. Raises ValueError."""
    if text.lower() == "off":
        return None
    found = _SIZE.fullmatch(text.strip().lower())
    if found is None:
        raise ValueError(f"{name}: {text!r} is no size; 500MB, say, or 2GB; 'off' is no limit")
    step = 1024 if found["binary"] else 1000
    return int(float(found["number"]) * step ** " kmgt".index(found["prefix"] or " "))


def _seconds(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{name} is {text!r}: a number of seconds is wanted") from None


def _validated(config: Config) -> Config:
    """The Config itself. Raises ValueError for a value that an option cannot have."""
    choices = {"checks": Checks, "narrowing": Narrowing, "recipe": RecipeKind, "results": Results}
    for name, allowed in ((name, get_args(kind)) for name, kind in choices.items()):
        if getattr(config, name) not in allowed:
            raise ValueError(f"option {name}={getattr(config, name)!r}: choose one of {', '.join(allowed)}")
    if config.threads < 1:
        raise _unwanted("threads", config.threads)
    if config.cache_size is not None and config.cache_size < 0:
        raise _unwanted("cache_size", config.cache_size)
    if not config.compile_timeout_s > 0:
        raise _unwanted("compile_timeout_s", config.compile_timeout_s)
    if unknown := config.debug - set(DEBUG_TOPICS):
        of = f"choose of {', '.join(DEBUG_TOPICS)}"
        raise ValueError(f"option debug (LOOPWRIGHT_DEBUG) has {', '.join(sorted(unknown))}: {of}")
    return config


def _path(value: Any) -> Path:
    if value == "":  # that would be the working folder
        raise TypeError
    return Path(os.fspath(value)).expanduser()


def _path_or_none(value: Any) -> Path | None:
    return None if value is None else _path(value)


def _store_path(value: Any) -> Path | Literal["off"] | None:
    if value in ("", "on", "auto", "yes", "true"):  # words of other options, and no paths
        raise TypeError
    return "off" if value == "off" else _path_or_none(value)


def _seconds_wanted(value: Any) -> float:
    if isinstance(value, str):
        raise TypeError
    return float(value)


def _number(value: Any) -> int:
    if isinstance(value, bool):
        raise TypeError
    return operator.index(value)


def _bool(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _steps(value: Any, lengths: Mapping[str, tuple[int, float]]) -> str:
    """A word, or steps of these names, of so many words each, with one blank between words. Raises TypeError where a
    text is neither."""
    words = _text(value).split()
    if words in (["auto"], ["off"]):
        return words[0]
    steps = [step.split() for step in " ".join(words).split(";")]
    for step in steps:
        least, most = lengths.get(step[0], (1, 0)) if step else (1, 0)
        if not least <= len(step) <= most:
            raise TypeError
    return "; ".join(map(" ".join, steps))


def _device(value: Any) -> str:
    """`cuda:1` as the name `cuda1`. Raises TypeError where no device has such a name."""
    found = _NUMBERED.fullmatch(_text(value).strip())
    if found is not None:
        return found["kind"] + (found["number"] if int(found["number"]) else "")
    if value not in get_args(Device):
        raise TypeError
    return str(value)


def _devices(value: Any) -> tuple[str, ...]:
    """Names of devices, each once. Raises TypeError where some are none."""
    words = [word for word in value.replace(",", " ").split() if word] if isinstance(value, str) else list(value)
    found = tuple(dict.fromkeys(map(_device, words)))
    if {"auto", "interpreter"} & set(found):
        raise TypeError
    return found


def _plan(value: Any) -> str:
    """A word, or the text of a plan. Raises TypeError where a text is neither."""
    text = _text(value).strip()
    if text not in PLANS and not all(map(_SHARE.match, text.splitlines())):
        raise TypeError
    return text or "auto"


def _goal(value: Any) -> str:
    """A goal with one blank between words. Raises TypeError where a text is none."""
    text = " ".join(_text(value).split())
    if _GOAL.fullmatch(text) is None:
        raise TypeError
    return text


def _watts(value: Any) -> tuple[tuple[str, float, float], ...]:
    """`cpu 150/60` as name, watts at work, watts idle. Raises TypeError where a text is none."""
    if isinstance(value, tuple):
        return value
    found: list[tuple[str, float, float]] = []
    for one in filter(None, (part.strip() for part in _text(value).split(","))):
        name, _, watts = one.partition(" ")
        active, _, idle = watts.partition("/")
        try:
            found.append((_device(name), float(active), float(idle or 0)))
        except ValueError:
            raise TypeError from None
        if not 0 <= found[-1][2] <= found[-1][1]:
            raise TypeError
    return tuple(found)


def _topics(value: Any) -> frozenset[str]:
    return frozenset(_words(value.replace("|", " ").replace(",", " ") if isinstance(value, str) else value))


def _words(value: Any) -> tuple[str, ...]:
    return tuple(value.split()) if isinstance(value, str) else tuple(map(_text, value))


_WANTED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "threads": (_number, "a whole number of at least 1 is"),
    "strict": (_bool, "True or False is"),
    "deterministic": (_bool, "True or False is"),
    "explore": (_bool, "True or False is"),
    "cache": (_path, "a path is"),
    "dump": (_path_or_none, "a path or None is"),
    "store": (_store_path, "a path, 'off' or None is"),
    "tuned": (_store_path, "a path, 'off' or None is"),
    "built": (_store_path, "a path, 'off' or None is"),
    "cache_size": (
        lambda value: value if value is None
        else parse_size("option cache_size", value) if isinstance(value, str) else _number(value),
        "bytes, a text such as '500MB', or None for no limit are",
    ),
    "compiler": (_text, "a command is"),
    "compiler_flags": (_words, "flags with blanks between them, or one text for each, are"),
    "compile_timeout_s": (_seconds_wanted, "a number above 0 is"),
    "schedule": (_text, "steps as text are"),
    "variant": (_text, "a text such as 'cpu 2: recipe' is"),
    "remap": (
        lambda value: _steps(value, {"redirect": (2, 2), "group": (2, 3), "abreast": (2, 3), "renumber": (4, 10)}),
        "'auto', 'off' or steps such as 'redirect i' are",
    ),
    "device": (_device, f"choose one of {', '.join(get_args(Device))}, or a GPU by its number such as 'cuda:1'"),
    "devices": (_devices, "names such as 'cpu, cuda:0, cuda:1' are"),
    "plan": (_plan, f"one of {', '.join(PLANS)}, or the text of a plan (docs/devices.md), is"),
    "goal": (_goal, "'time', 'energy', 'edp' or 'time within 10% energy' is"),
    "watts": (_watts, "texts such as 'cpu 150/60, cuda:0 700/100', at work and idle, are"),
    "layout": (
        lambda value: _steps(value, {"relayout": (3, math.inf)}),
        "'auto', 'off' or steps such as 'relayout p in t soa' are",
    ),
    "debug": (_topics, "topics are"),
}  # fmt: skip
"""What makes a value of an option of what somebody has written, and what is told where that fails."""


def _as_wanted(name: str, value: Any) -> Any:
    try:
        return _WANTED[name][0](value) if name in _WANTED else value
    except TypeError:
        raise _unwanted(name, value) from None


def _unwanted(name: str, value: object) -> ValueError:
    told = _WANTED[name][1]
    return ValueError(f"option {name}={value!r}: {told if told.startswith('choose') else f'{told} wanted'}")


class ProcessOptions(list[Config]):
    """A list of one Config: the one in force where no `with` block is. The launcher reads it in each call."""


DEFAULT: Config = from_environment(os.environ)
PROCESS = ProcessOptions([DEFAULT])
CURRENT: ContextVar[Config | ProcessOptions] = ContextVar("loopwright_config", default=PROCESS)
_CHANGING = free_in_child(Lock())


def current() -> Config:
    """The Config in force in this thread or task."""
    found = CURRENT.get()
    return found if isinstance(found, Config) else found[0]


_OF_NUMBA = ("parallel", "fastmath", "nopython", "nogil", "boundscheck", "error_model", "inline", "forceobj", "locals")


def changed(config: Config, changes: Mapping[str, Any]) -> Config:
    """The Config with some options changed. Raises TypeError for an unknown option, ValueError for a value it cannot
    have."""
    names = {field.name for field in fields(Config)}
    for name in changes:
        if name not in names:
            remedy = "; njit of loopwright.numba takes numba's" if name in _OF_NUMBA else ""
            raise TypeError(f"no option {name!r}: there are {', '.join(sorted(names))}{remedy}")
    return _validated(replace(config, **{name: _as_wanted(name, changes[name]) for name in changes}))


@contextmanager
def options(**changes: Unpack[Options]) -> Iterator[Config]:
    """Change options for a `with` block, in this thread or asyncio task: device, threads, strict, deterministic,
    checks, recipe, schedule, and the rest of Config's fields. `recipe="plain"` keeps loops as they are written;
    `schedule="tile i 32 j 32; parallelize i.o"` takes these steps and no others (docs/schedules.md), and a call for
    which one is not legal raises ScheduleError. The block is given the Config in force.

    Raises TypeError for an unknown option, ValueError for a value it cannot have.

    Examples:
        >>> import loopwright as lw
        >>> with lw.options(threads=2, strict=True) as config:
        ...     print(config.threads, config.strict)
        2 True
        >>> with lw.options(threads=0):
        ...     pass
        Traceback (most recent call last):
        ValueError: option threads=0: a whole number of at least 1 is wanted
    """
    token = CURRENT.set(changed(current(), changes))
    try:
        yield current()
    finally:
        CURRENT.reset(token)


def set_options(**changes: Unpack[Options]) -> None:
    """Change options for the process: for every thread, from now on. Inside a `with options(...)` block they change
    there too; blocks that other threads are in keep theirs until they end.

    Raises TypeError for an unknown option, ValueError for a value it cannot have.

    Examples:
        >>> import loopwright as lw
        >>> lw.set_options(explore=False)
        >>> with lw.options() as config:
        ...     print(config.explore)
        False
        >>> lw.set_options(explore=True)
    """
    with _CHANGING:
        PROCESS[0] = changed(PROCESS[0], changes)
    found = CURRENT.get()
    if isinstance(found, Config):
        CURRENT.set(changed(found, changes))
