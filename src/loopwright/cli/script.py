"""Running a user's script as `python script.py` would, in this process, so that its kernels can be looked at after."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, TracebackType

INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Ended:
    """How a script ended. namespace: its globals, which keep its kernels alive; status: as of a process; failure: what
    it raised, None where it came to its end or called sys.exit."""

    namespace: dict[str, object]
    status: int
    failure: BaseException | None = None


def run_script(path: Path, arguments: Sequence[str], name: str = "__main__") -> Ended:
    """Run a script with `sys.argv`, `sys.path[0]` and `__name__` as it expects them; what it raises is printed to
    stderr as Python would, without our own frames. With another name its `if __name__ == "__main__"` stays out."""
    module = ModuleType(name)
    module.__file__ = str(path)
    module.__dict__["__builtins__"] = __builtins__
    before = sys.argv, sys.path[:], sys.modules.get(name)
    sys.argv = [str(path), *arguments]
    sys.path.insert(0, str(path.resolve().parent))
    sys.modules[name] = module
    try:
        exec(compile(path.read_bytes(), str(path), "exec", dont_inherit=True), module.__dict__)
    except SystemExit as stop:
        return Ended(module.__dict__, _exit_status(stop))
    except KeyboardInterrupt as error:
        _print_failure(error, path)
        return Ended(module.__dict__, INTERRUPTED, error)
    except Exception as error:
        _print_failure(error, path)
        return Ended(module.__dict__, 1, error)
    finally:
        sys.stdout.flush()
        sys.argv, sys.path[:] = before[0], before[1]
        if before[2] is None:
            del sys.modules[name]
        else:
            sys.modules[name] = before[2]
    return Ended(module.__dict__, 0)


def _exit_status(stop: SystemExit) -> int:
    """What Python makes of sys.exit's argument: None is 0, a number itself, anything else is printed and 1."""
    match stop.code:
        case None:
            return 0
        case int(code):
            return code
        case words:
            print(words, file=sys.stderr)
            return 1


def _print_failure(error: BaseException, path: Path) -> None:
    inside: TracebackType | None = error.__traceback__
    while inside is not None and inside.tb_frame.f_code.co_filename != str(path):
        inside = inside.tb_next
    traceback.print_exception(type(error), error, inside)
