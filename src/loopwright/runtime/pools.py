"""The threads of calls that devices share."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")

MOST_THREADS = 64


class _Pool:
    """Threads that stay between calls; a process that was forked has others."""

    def __init__(self) -> None:
        self.renew()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.renew)

    def renew(self) -> None:
        """Forget all threads."""
        self._pool = ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="loopwright")

    def submit(self, function: Callable[..., T], *arguments: Any) -> Future[T]:
        """See ThreadPoolExecutor."""
        return self._pool.submit(function, *arguments)


working, finishing = _Pool(), _Pool()  # who works waits for who finishes, never the other way
