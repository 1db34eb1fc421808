"""The corpus: what is in it, that its texts are the same in every process, and that what cannot be made is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from benchmarks.polybench import MODULES
from examples.programs import PROBLEMS

import loopwright as lw
from replay import variants
from replay.collect import MISSING, NOT_THERE, collect, main
from replay.corpus import GROUPS, Call, Group
from replay.texts import ROOT, texts
from replay.variants import Variant


def test_every_benchmark_is_in_it_and_names_are_unique() -> None:
    calls = {group.name: [call.name for call in group.calls()] for group in GROUPS}
    assert len(calls["polybench"]) == len(MODULES) and len(calls["tour"]) == len(PROBLEMS) + 2
    assert {"gemm float64 uneven", "argmax", "pagerank uniform", "conv2d 5x5 float32"} <= set(calls["gpu"])
    assert {name.split()[0] for name in calls["families"]} == {"product", "stencil", "histogram", "extreme"}
    assert calls["forms"] and calls["random"]
    assert all(len(set(names)) == len(names) for names in calls.values())


def doubled(a):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            a[i, j] = 2.0 * a[i, j]


def doubled_in_a_list(a):
    for i in range(a.shape[0]):
        a[i] = [2.0 * a[i]]


def data_dependent(a):
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            if a[j] > 1.0:
                return i
            a[j] += 1.0
    return 0


def test_the_texts_of_a_call() -> None:
    on_cpu, on_gpu = (texts(doubled, (np.ones((9, 9)),), variant) for variant in (variants.DEFAULT, variants.GPU))
    assert on_cpu["schedule"] == "parallelize i\nvectorize j\n"
    assert "entry: " in on_cpu["program"] and on_cpu["c"].startswith('#include "loopwright.h"\n') and "cu" not in on_cpu
    assert "bind i" in on_gpu["schedule"] and "__global__" in on_gpu["cu"] and "device kernels: " in on_gpu["program"]
    assert not any(str(ROOT) in text for text in (*on_cpu.values(), *on_gpu.values()))


def test_the_machine_is_the_variants() -> None:
    gemm = next(module.kernel for module in MODULES if module.NAME == "gemm")
    arguments = (9, 9, 9, 1.0, 1.0, *np.ones((3, 9, 9)))
    found = [texts(gemm, arguments, one)["schedule"] for one in (variants.DEFAULT, variants.AVX512, variants.PLAIN)]
    assert len(set(found)) == 3


def test_options_do_not_stay() -> None:
    before = lw.config.current()
    texts(doubled, (np.ones((9, 9)),), variants.GPU_STRICT)
    assert lw.config.current() == before


def test_refusals_are_texts() -> None:
    [(kind, text)] = texts(doubled_in_a_list, (np.ones(9),), variants.DEFAULT).items()
    assert kind == "schedule" and text.startswith("refused: KernelError: test_corpus.py:")
    found = texts(data_dependent, (np.ones(9),), variants.GPU)
    assert list(found) == ["schedule", "c"] and found["c"].startswith("refused: NotOnGpu: ")


def broken() -> Iterator[Call]:
    raise ImportError("no such name")


def test_what_cannot_be_made_says_so(tmp_path: Path) -> None:
    call = Call("a: b", doubled, lambda: (np.ones((9, 9)),))
    new = Variant("new", {"no_such_option": True})
    groups = Group("broken", broken, ()), Group("good", lambda: [call], (variants.DEFAULT, variants.PLAIN, new))
    collect(tmp_path / "all", groups)
    assert (tmp_path / "all" / MISSING / "broken.why").read_text() == "ImportError: no such name"
    assert (tmp_path / "all" / MISSING / "new.why").read_text().startswith("no option 'no_such_option'")
    names = {path.name for path in (tmp_path / "all" / "good" / "a-b").iterdir()}
    assert names == {f"{way}.{kind}" for way in ("avx2", "plain") for kind in ("schedule", "program", "c")}
    assert {path.name for path in (tmp_path / "all" / "headers").iterdir()} == {
        "choices.h",
        "early.h",
        "integers.h",
        "lockstep.h",
        "loopwright.h",
        "loopwright.cuh",
        "powers.h",
        "reserved.h",
        "row_extremes.h",
        "room.h",
    }
    collect(tmp_path / "some", groups, ["good/a-b/plain"])
    assert {path.name.split(".")[0] for path in (tmp_path / "some" / "good" / "a-b").iterdir()} == {"plain"}


def test_two_calls_of_one_name_are_a_fault(tmp_path: Path) -> None:
    calls = [Call(name, doubled, lambda: (np.ones((9, 9)),)) for name in ("a b", "a-b")]
    with pytest.raises(FileExistsError):
        collect(tmp_path, [Group("g", lambda: calls, (variants.DEFAULT,))])


def test_a_package_without_what_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delattr("loopwright.compiler.target_of_machine")
    assert main(str(tmp_path / "texts"), "atax/avx2") == NOT_THERE
    assert "target_of_machine" in capsys.readouterr().err
