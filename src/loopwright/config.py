"""Every option and environment variable, in one frozen Config. It reads the environment once, at import.

`current()` is the Config in force here; `options(...)` changes it for a `with` block. It lives in a context
variable: threads and asyncio tasks do not see each other's options.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast, get_args

Device = Literal["auto", "cpu", "cuda", "emulated", "interpreter"]
Checks = Literal["auto", "all"]
RecipeKind = Literal["auto", "plain"]
Narrowing = Literal["auto", "wrap", "raise"]
STORE_NAME = "profile.sqlite3"
_SIZE = re.compile(r"(?P<number>\d+(\.\d+)?)\s*(?P<prefix>[kmgt]?)(?P<binary>i?)(b|bytes)?")
DEBUG_TOPICS = ("variants", "times", "schedule", "source", "passes")


@dataclass(frozen=True, slots=True)
class Tools:
    """What code is made with, and where it is kept: options that change neither what results mean nor how loops run.
    cache: folder of compiled code. cache_size: how many bytes it may have, None for any number. compiler,
    compiler_flags: the C compiler and what is added to its flags. compile_timeout_s: after how many seconds a
    compilation is given up. debug: topics to print; dump: folder for the IR after each pass."""

    cache: Path = Path()
    cache_size: int | None = 10**9
    compiler: str = ""
    compiler_flags: tuple[str, ...] = ()
    compile_timeout_s: float = 120.0
    debug: frozenset[str] = frozenset()
    dump: Path | None = None


class Semantics(NamedTuple):
    """What the results of a call mean. strict: they equal Python's to the last bit (no reordered float sums, no fused
    multiply-add). deterministic: on a CPU, the same bits for any number of threads. checks: `auto` tests in the code
    only what is not proven, `all` tests every access. narrowing_raises: storing a NumPy number where a signed integer
    type cannot hold it raises what Python raises; else it wraps."""

    strict: bool = False
    deterministic: bool = False
    checks: Checks = "auto"
    narrowing_raises: bool = False


@dataclass(frozen=True, slots=True)
class Config(Tools):
    """All options, with those of Tools. device: `cpu` runs compiled code on the CPU, `cuda` on an NVIDIA GPU, `auto` on
    the GPU where arguments are in its memory, else on the CPU; `emulated` does on the CPU what a GPU would do, slowly,
    and reports its faults; `interpreter` is the slow reference. threads: how many CPU threads, at least 1. strict,
    deterministic, checks: see Semantics. narrowing: what storing a NumPy number does where the array's signed integer
    type cannot hold it: `wrap`, or `raise` what Python raises; `auto` raises under strict and under checks=`all`.
    recipe: `auto` restructures loops where the facts promise a gain, `plain` only says which ones run in parallel.
    schedule: steps to take instead of the recipe, as text (docs/schedules.md); without effect under checks=`all`.
    variant: the one that serves every call, as text, such as `cpu 2: recipe` (docs/tuning.md): it decides device,
    threads and schedule. explore: whether kernels that run for long may try other variants meanwhile, in at most 5 % of
    their time. store: the file of measurements (docs/store.md), `off` for none, None for the one in the cache
    folder."""

    device: Device = "auto"
    threads: int = 1
    strict: bool = False
    deterministic: bool = False
    checks: Checks = "auto"
    narrowing: Narrowing = "auto"
    recipe: RecipeKind = "auto"
    schedule: str = ""
    variant: str = ""
    explore: bool = True
    store: Path | Literal["off"] | None = None

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


def from_environment(environment: Mapping[str, str]) -> Config:
    """The Config that LOOPWRIGHT_DEVICE, _THREADS, _STRICT, _DETERMINISTIC, _CHECKS, _NARROWING, _CACHE, _CACHE_SIZE,
    _CC, _CFLAGS, _COMPILE_TIMEOUT, _DEBUG, _DUMP, _RECIPE, _SCHEDULE, _VARIANT, _EXPLORE and _STORE say.

    Raises ValueError for a value that an option cannot have."""

    def get(name: str, default: str = "") -> str:
        return environment.get("LOOPWRIGHT_" + name, default).strip()

    debug = frozenset(word for word in get("DEBUG").replace("|", ",").split(",") if word)
    dump = get("DUMP")
    config = Config(
        device=cast(Device, get("DEVICE", "auto")),
        threads=_whole_number("LOOPWRIGHT_THREADS", get("THREADS") or str(available_cores())),
        strict=get("STRICT", "0").lower() in ("1", "true", "yes", "on"),
        deterministic=get("DETERMINISTIC", "0").lower() in ("1", "true", "yes", "on"),
        checks=cast(Checks, get("CHECKS", "auto")),
        narrowing=cast(Narrowing, get("NARROWING", "auto")),
        cache=Path(get("CACHE")) if get("CACHE") else _platform_cache(environment),
        cache_size=parse_size("LOOPWRIGHT_CACHE_SIZE", get("CACHE_SIZE") or "1 GB"),
        compiler=get("CC"),
        compiler_flags=tuple(get("CFLAGS").split()),
        compile_timeout_s=_seconds("LOOPWRIGHT_COMPILE_TIMEOUT", get("COMPILE_TIMEOUT", "120")),
        debug=debug,
        dump=Path(dump) if dump else None,
        recipe=cast(RecipeKind, get("RECIPE", "auto")),
        schedule=get("SCHEDULE"),
        variant=get("VARIANT"),
        explore=get("EXPLORE", "1").lower() in ("1", "true", "yes", "on"),
        store=_store(get("STORE")),
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


def _store(text: str) -> Path | Literal["off"] | None:
    if text.lower() == "off":
        return "off"
    return Path(text) if text else None


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
    choices = {"device": Device, "checks": Checks, "narrowing": Narrowing, "recipe": RecipeKind}
    for name, allowed in ((name, get_args(kind)) for name, kind in choices.items()):
        if getattr(config, name) not in allowed:
            raise ValueError(f"option {name}={getattr(config, name)!r}: choose one of {', '.join(allowed)}")
    if isinstance(config.threads, bool) or not isinstance(config.threads, int) or config.threads < 1:
        raise ValueError(f"option threads={config.threads!r}: a whole number of at least 1 is wanted")
    for name in ("strict", "deterministic", "explore"):
        if not isinstance(value := getattr(config, name), bool):
            raise ValueError(f"option {name}={value!r}: True or False is wanted")
    if isinstance(config.cache_size, str):
        config = replace(config, cache_size=parse_size("option cache_size", config.cache_size))
    size = config.cache_size
    if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 0):
        raise ValueError(f"option cache_size={size!r}: bytes, a text such as '500MB', or None for no limit are wanted")
    if not config.compile_timeout_s > 0:
        raise ValueError(f"option compile_timeout_s={config.compile_timeout_s!r}: a number above 0 is wanted")
    if not (config.store is None or config.store == "off" or isinstance(config.store, Path)):
        raise ValueError(f"option store={config.store!r}: a Path, 'off' or None is wanted")
    if unknown := config.debug - set(DEBUG_TOPICS):
        raise ValueError(f"LOOPWRIGHT_DEBUG has {', '.join(sorted(unknown))}: choose of {', '.join(DEBUG_TOPICS)}")
    return config


DEFAULT: Config = from_environment(os.environ)
CURRENT: ContextVar[Config] = ContextVar("loopwright_config", default=DEFAULT)


def current() -> Config:
    """The Config in force in this thread or task."""
    return CURRENT.get()


@contextmanager
def options(**changes: Any) -> Iterator[Config]:
    """Change options for a `with` block: device, threads, strict, deterministic, checks, recipe, schedule (and the rest
    of Config's fields). `recipe="plain"` keeps loops as they are written; `schedule="tile i 32 j 32; parallelize i.o"`
    takes these steps and no others (docs/schedules.md), and a call for which one is not legal raises ScheduleError.

    Raises TypeError for an unknown option, ValueError for a value it cannot have."""
    names = {field.name for field in fields(Config)}
    for name in changes:
        if name not in names:
            raise TypeError(f"no option {name!r}: there are {', '.join(sorted(names))}")
    token = CURRENT.set(_validated(replace(current(), **changes)))
    try:
        yield current()
    finally:
        CURRENT.reset(token)
