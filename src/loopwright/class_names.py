"""Classes of the user's, by name: `module:name`. What is returned or raised may be an object of one."""

from __future__ import annotations

import builtins
import sys
from functools import reduce


def name_of_class(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def class_named(name: str) -> type | None:
    """The class of this name, in a module that is loaded; None where there is none. A name alone is one of Python's."""
    module, _, path = name.rpartition(":")
    found: object = sys.modules.get(module) if module else builtins
    found = reduce(lambda owner, part: getattr(owner, part, None), path.split("."), found)
    return found if isinstance(found, type) else None
