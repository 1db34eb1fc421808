"""The law lines of the style guide, checked over the whole tree; each beside a proof that its check can fail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from laws import checkers

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "loopwright"
FOLDERS = [folder for name in ("src", "tests", "benchmarks", "examples") if (folder := ROOT / name).is_dir()]


def plant(folder: Path, files: dict[str, str]) -> Path:
    """A synthetic source tree."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


# ---- the tree as it is --------------------------------------------------------------------------------------------

PACKAGE_LAWS: list[Callable[[Path], list[str]]] = [
    checkers.imports_only_upward,
    checkers.hot_path_sees_no_tree,
    checkers.no_local_imports,
    checkers.late_imports_are_told,
    checkers.every_public_name_says_what_it_is,
    checkers.one_class_one_meaning,
    checkers.trees_are_asked,
    checkers.generated_code_is_never_read,
    checkers.only_tables_spell,
    checkers.no_text_is_run,
]


@pytest.mark.parametrize("law", PACKAGE_LAWS, ids=lambda law: law.__name__)
def test_the_package_obeys(law: Callable[[Path], list[str]]) -> None:
    assert law(PACKAGE) == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_no_file_or_function_is_too_long(folder: Path) -> None:
    assert checkers.small_enough(folder) == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_no_name_says_nothing(folder: Path) -> None:
    assert checkers.names_say_something(folder) == []


def test_every_step_has_one_name() -> None:
    assert checkers.one_step_one_name(PACKAGE, ROOT / "tests") == []


def test_every_large_module_has_its_tests() -> None:
    assert checkers.every_large_module_has_its_tests(PACKAGE, ROOT / "tests") == []


def test_the_tools_are_strict() -> None:
    assert checkers.tools_are_strict(ROOT / "pyproject.toml") == []


# ---- each check can fail ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "text", "fault"),
    [
        ("ir/nodes.py", "from loopwright.steps.split import Split", "ir/nodes.py:1: ir imports steps"),
        ("ir/nodes.py", "from ..codegen import program", "ir/nodes.py:1: ir imports codegen"),
        ("ir/nodes.py", "import loopwright.cli.main", "ir/nodes.py:1: ir imports cli"),
        ("kernel.py", "import loopwright", "kernel.py:1: kernel imports __init__"),
        ("errors.py", "from loopwright import config", "errors.py:1: errors imports config"),
        ("runtime/dispatch.py", "from loopwright import kernel", "runtime/dispatch.py:1: runtime imports kernel"),
        ("gadgets/x.py", "", "gadgets/x.py: 'gadgets' has no place"),
        ("ir/nodes.py", "def f():\n    from loopwright.report import explain", "ir/nodes.py:2: ir imports report"),
    ],
)
def test_a_downward_import_is_found(tmp_path: Path, path: str, text: str, fault: str) -> None:
    plant(tmp_path, {"config.py": "", "kernel.py": "", path: text})
    [found] = checkers.imports_only_upward(tmp_path)
    assert found.startswith(fault)


def test_upward_imports_are_not_faults(tmp_path: Path) -> None:
    plant(
        tmp_path,
        {
            "__init__.py": "from loopwright.kernel import kernel",
            "config.py": "from loopwright import errors",
            "errors.py": "import os",
            "ir/text.py": "from loopwright.ir.nodes import Const\nfrom . import walk\nfrom .. import errors",
            "kernel.py": "from loopwright.compiler import compile_kernel",
            "compiler.py": "from loopwright.codegen.openmp import generate",
            "cli/main.py": "import loopwright\nfrom loopwright import kernel",
        },
    )
    assert checkers.imports_only_upward(tmp_path) == []


@pytest.mark.parametrize(
    "text",
    [
        "import re",
        "from re import search",
        "def f(program):\n    return program.text.find('for (')",
        "def f(device):\n    return '__global__' in device.text",
        "def f(device):\n    return device.text[7:]",
    ],
)
def test_a_reader_of_generated_code_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(checkers, "PATTERNS", {"config.py": "options"})
    monkeypatch.setattr(checkers, "TEXTS", {"config.py": "options"})
    allowed = "import re\ndef f(options):\n    return options.text.split(';')"
    plant(tmp_path, {"config.py": allowed, "cost/gpu.py": text, "cost/cpu.py": "def f(text): return text.text"})
    [found] = checkers.generated_code_is_never_read(tmp_path)
    assert found.startswith("cost/gpu.py:") and found.endswith("and may not")
    plant(tmp_path, {"config.py": "", "cost/gpu.py": ""})
    assert checkers.generated_code_is_never_read(tmp_path) == ["config.py: is allowed what it does not do"] * 2


@pytest.mark.parametrize(
    "text",
    ["__syncthreads();", "atomicAdd(p, 1);", "#pragma unroll", "lw_read<4>(a, i)", "lw_stop();", "gpu->launch()"],
)
@pytest.mark.parametrize("form", ["w.line('{}')", "w.line(f'{{a}} {}')"])
def test_a_writer_that_spells_a_node_is_found(tmp_path: Path, text: str, form: str) -> None:
    spelled = f"def f(w, a):\n    {form.format(text)}"
    plant(
        tmp_path,
        {"codegen/block.py": f'"""{text}"""\n{spelled}', "codegen/print_hip.py": spelled, "cost/x.py": spelled},
    )
    assert [one.partition(": ")[0] for one in checkers.only_tables_spell(tmp_path)] == ["codegen/block.py:3"]
    plant(tmp_path, {"codegen/block.py": "LINES = ('lw_stopped', 'lw_read_0', 'lw_spent(x)')"})
    assert checkers.only_tables_spell(tmp_path) == []


@pytest.mark.parametrize("text", ["if (x) y;", "for (;;) {", "while (x) --y;", "else if (x) {"])
def test_a_writer_of_control_flow_as_text_is_found(tmp_path: Path, text: str) -> None:
    plant(tmp_path, {"codegen/block.py": f"w.line('{text}')", "codegen/printer.py": f"w.line('{text}')"})
    assert [one.partition(": ")[0] for one in checkers.only_tables_spell(tmp_path)] == ["codegen/block.py:1"]


@pytest.mark.parametrize("text", ["eval(x)", "exec(x)", "f = compile", "__import__(x)"])
def test_what_runs_a_text_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(checkers, "RUNNERS", {"cli/script.py": "the user's script"})
    plant(tmp_path, {"cli/script.py": "exec(x)", "ir/boxes.py": text, "ir/nodes.py": "re.compile(x), a.eval(x)"})
    [found] = checkers.no_text_is_run(tmp_path)
    assert found.startswith("ir/boxes.py:1: ")
    plant(tmp_path, {"cli/script.py": "", "ir/boxes.py": ""})
    assert checkers.no_text_is_run(tmp_path) == ["cli/script.py: is allowed what it does not do"]


@pytest.mark.parametrize("hot", checkers.HOT)
@pytest.mark.parametrize("unseen", checkers.UNSEEN_BY_HOT)
def test_a_tree_on_the_hot_path_is_found(tmp_path: Path, hot: str, unseen: str) -> None:
    plant(tmp_path, {f"{hot}/x.py": f"from loopwright.{unseen} import y\nfrom loopwright.ir import types"})
    assert checkers.hot_path_sees_no_tree(tmp_path) == [f"{hot}/x.py:1: {hot} imports {unseen}"]


@pytest.mark.parametrize(
    "way",
    [
        "from loopwright.memory import offload",
        "from loopwright.memory.offload import moved",
        "import loopwright.memory.offload",
        "from ..memory import offload",
        "from loopwright.devices import gpus",  # which imports it
        "from loopwright import memory",  # whose __init__ imports it
        "if TYPE_CHECKING:\n    from loopwright.memory import offload",
        "if TYPE_CHECKING:\n    from loopwright.memory import offload\nelse:\n    offload = deferred(...)",
    ],
)
@pytest.mark.parametrize("late", [False, True])
def test_a_tree_that_the_hot_path_reaches_through_others_is_found(tmp_path: Path, way: str, late: bool) -> None:
    tree = "from loopwright.analysis.reach import reach"
    if late:
        tree = "if TYPE_CHECKING:\n    from loopwright.analysis import reach\nelse:\n    reach = deferred(...)"
    plant(
        tmp_path,
        {
            "runtime/dispatch.py": way,
            "memory/__init__.py": "from loopwright.memory import offload",
            "memory/offload.py": f"from loopwright.devices import gpus\n{tree}",
            "devices/gpus.py": "from loopwright.memory import offload",
            "analysis/reach.py": "from loopwright.codegen import program",  # none of the hot path's business
        },
    )
    [found] = checkers.hot_path_sees_no_tree(tmp_path)
    assert found.startswith(f"memory/offload.py:{3 if late else 2}: memory imports analysis, which runtime/dispatch.py")


def test_what_the_hot_path_does_not_reach_may_see_trees(tmp_path: Path) -> None:
    plant(
        tmp_path,
        {
            "runtime/dispatch.py": "from loopwright.memory import arrays\nfrom loopwright.profile.store import Store",
            "memory/arrays.py": "import numpy",
            "memory/offload.py": "from loopwright.analysis import reach",
            "profile/store.py": "from loopwright import errors",
            "errors.py": "",
            "__init__.py": "from loopwright.frontend import markers",
            "tuning/tune.py": "from loopwright.runtime import dispatch\nfrom loopwright.steps import split",
        },
    )
    assert checkers.hot_path_sees_no_tree(tmp_path) == []


def test_a_local_import_is_found_outside_the_cli_only(tmp_path: Path) -> None:
    late = "import loopwright.ir\n\ndef f():\n    import os\n    from loopwright.ir import nodes\n"
    plant(tmp_path, {"kernel.py": late, "cli/main.py": late})
    assert checkers.no_local_imports(tmp_path) == ["kernel.py:5: an import of our own inside a function"]


def test_a_local_import_in_a_method_is_found(tmp_path: Path) -> None:
    plant(tmp_path, {"ir/x.py": "class A:\n    async def f(self):\n        from . import nodes\n"})
    assert checkers.no_local_imports(tmp_path) == ["ir/x.py:3: an import of our own inside a function"]


LATE = """
if TYPE_CHECKING:
    from loopwright.ir import nodes
    from loopwright.steps import tile as tiling
    from loopwright.tuning.tune import Tuned
else:
    nodes = deferred("loopwright.ir.nodes")
    tiling = deferred("loopwright.steps.tile")
    LATER = {"Tuned": deferred("loopwright.tuning.tune")}
    islpy = import_module("islpy")
"""


def test_a_late_import_beside_its_import_is_no_fault(tmp_path: Path) -> None:
    plant(tmp_path, {"kernel.py": LATE, "ir/x.py": LATE})
    assert checkers.late_imports_are_told(tmp_path) == []
    assert [fault.split(": ")[1] for fault in checkers.imports_only_upward(tmp_path)] == [
        "ir imports steps, which is below it",
        "ir imports tuning, which is below it",
    ]


@pytest.mark.parametrize(
    ("then", "now", "line"),
    [
        ("    from loopwright.ir import nodes\n", "", 6),
        ("import nodes", "import walk as nodes", 7),
        ("tile as tiling", "tile", 8),
        ('"loopwright.steps.tile"', '"loopwright.steps.split"', 8),
        ("import Tuned", "import Tuned as T", 0),
        ('"loopwright.tuning.tune"', '"loopwright.tuning.work"', 9),
        ("TYPE_CHECKING", "THEN", 7),
        ('import_module("islpy")', 'import_module("loopwright.cli.main")', 10),
        ("\nif", 'x = importlib.import_module("loopwright.kernel")\nif', 1),
    ],
)
def test_a_late_import_that_nothing_tells_is_found(tmp_path: Path, then: str, now: str, line: int) -> None:
    assert then in LATE
    plant(tmp_path, {"kernel.py": LATE.replace(then, now)})
    found = checkers.late_imports_are_told(tmp_path)
    assert [fault.split(":")[1] for fault in found][:1] == ([str(line)] if line else [])


def test_a_step_with_two_names_is_found(tmp_path: Path) -> None:
    package = plant(
        tmp_path / "src",
        {
            "steps/step.py": "",
            "steps/catalogue.py": "STEPS = (Split, Tile, UnrollJam, Fuse)",
            "steps/split.py": 'class Split:\n    """a -> b"""\n    name = "split"\n',
            "steps/tile.py": 'class Tiling:\n    """a -> b"""\n    name = "tile"\n',
            "steps/unroll_jam.py": 'class UnrollJam:\n    """a -> b"""\n    name: str = "unroll"\n',
            "steps/fuse.py": 'class Fuse:\n    """a -> b"""\n    name = "fuse"\n',
            "steps/skew.py": 'class Skew:\n    """Skews."""\n    name = "skew"\n',
        },
    )
    tested = ("split", "tile", "unroll_jam", "skew")
    tests = plant(tmp_path / "tests", {f"steps/test_{name}.py": "" for name in tested})
    assert checkers.one_step_one_name(package, tests) == [
        "steps/fuse.py: no tests/steps/test_fuse.py",
        "steps/skew.py: the docstring of Skew has no picture",
        "steps/skew.py: Skew is not in steps/catalogue.py",
        "steps/tile.py: no class Tile",
        "steps/unroll_jam.py: UnrollJam.name is not the text 'unroll_jam'",
    ]


def test_a_large_module_without_the_tests_of_its_name_is_found(tmp_path: Path) -> None:
    large = "x = 1\n" * 151
    package = plant(
        tmp_path / "src",
        {
            "kernel.py": large,
            "config.py": large,
            "ir/nodes.py": large,
            "ir/walk.py": large,
            "ir/types.py": "x = 1\n" * 150,
            "steps/walk.py": large,
            "cli/config.py": large,
        },
    )
    tests = plant(tmp_path / "tests", dict.fromkeys(("test_kernel.py", "ir/test_walk.py", "cli/test_config.py"), ""))
    assert checkers.every_large_module_has_its_tests(package, tests) == [
        "config.py: 151 lines, and no tests/test_config.py",
        "ir/nodes.py: 151 lines, and no tests/ir/test_nodes.py",
        "steps/walk.py: 151 lines, and no tests/steps/test_walk.py",
    ]


def test_a_name_that_two_classes_have_is_found(tmp_path: Path) -> None:
    plant(
        tmp_path,
        {
            "a.py": "class One:\n    class Two: ...\n",
            "ir/b.py": "def f():\n    class Two: ...\nclass One(Protocol): ...",
        },
    )
    assert checkers.one_class_one_meaning(tmp_path) == ["ir/b.py:2: a second class Two; the first one is a.py:2"]


def test_what_is_too_long_is_found(tmp_path: Path) -> None:
    body = "    pass\n"
    plant(
        tmp_path,
        {
            "long.py": "x = 1\n" * 601,
            "fits.py": "x = 1\n" * 600,
            "f.py": "class A:\n    def long(self):\n" + ("    " + body) * 60 + "def fits():\n" + body * 59,
            "g.c": "static int long_one(int a) {\n" + "  a++;\n" * 60 + "}\nint fits(void) {\n" + "  ;\n" * 58 + "}\n",
        },
    )
    assert checkers.small_enough(tmp_path) == [
        "f.py:2: long has 61 lines, over 60",
        "g.c:1: static int long_one has 62 lines, over 60",
        "long.py: 601 lines, over 600",
    ]


def test_a_missing_docstring_is_found(tmp_path: Path) -> None:
    plant(
        tmp_path,
        {
            "__init__.py": "",
            "x.py": '"""Owns x."""\n\ndef public(): ...\ndef _private(): ...\nclass Public:\n    """Is public."""\n',
            "y.py": 'def f():\n    """Does f."""\n',
        },
    )
    assert checkers.every_public_name_says_what_it_is(tmp_path) == [
        "x.py:3: public has no docstring",
        "y.py: the module has no docstring",
    ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[s for s in statements(body) if isinstance(s, Store)]", "statements takes the kinds that are wanted"),
        ("{p for p in expressions(body) if isinstance(p, Load | Var) and p.name}", "expressions takes the kinds"),
        ("any(isinstance(p, Load) for p in subexpressions(expr))", "subexpressions takes the kinds"),
        ("{s.name for s in statements(body, Assign)}", "names_assigned of ir/queries.py says that"),
        ("x = {part.array for part in expressions(a.body, Load)}", "arrays_loaded of ir/queries.py says that"),
        ("for s in statements(b):\n    if isinstance(s, For) and s.run:\n        f(s)", "statements takes the kinds"),
    ],
)
def test_what_is_picked_from_a_tree_by_hand_is_found(tmp_path: Path, text: str, fault: str) -> None:
    plant(tmp_path, {"steps/x.py": f"\n{text}\n", "ir/queries.py": text})
    [found] = checkers.trees_are_asked(tmp_path)
    assert found.startswith(f"steps/x.py:2: {fault}")


def test_other_ways_through_a_tree_are_no_faults(tmp_path: Path) -> None:
    text = """
    {s.name for s in statements(body, Assign) if s.value.type == INT64}
    [s for s in statements(body) if s.at is None or isinstance(s, Store)]
    [s for s in statements(body) if not isinstance(s, Store)]
    [s for s in body if isinstance(s, Store)]
    {s.name: s for s in statements(body, For)}
    any(isinstance(p, fixed) for p in subexpressions(expr))
    """
    plant(tmp_path, {"steps/x.py": "\n".join(map(str.strip, text.splitlines()))})
    assert checkers.trees_are_asked(tmp_path) == []


@pytest.mark.parametrize(
    "path", ["util.py", "common/x.py", "ir/helpers.py", "cache_manager.py", "core/x.py", "split_v2.py", "v2/x.py"]
)
def test_a_name_that_says_nothing_is_found(tmp_path: Path, path: str) -> None:
    plant(tmp_path, {path: "", "ir/score.py": "", "devices/cores.py": ""})
    assert len(checkers.names_say_something(tmp_path)) == 1


@pytest.mark.parametrize(
    ("strict", "loosened", "fault"),
    [
        ("strict = true", "strict = false", "mypy is not strict on src"),
        ('files = ["src"]', "", "mypy is not strict on src"),
        ("ignore_missing_imports = true", "ignore_errors = true", "mypy is relaxed for ['islpy.*']: ignore_errors"),
        ('"F", ', "", "ruff does not select F"),
        ('filterwarnings = ["error"', 'filterwarnings = ["default"', "warnings are not errors in tests"),
    ],
)
def test_a_loosened_tool_is_found(tmp_path: Path, strict: str, loosened: str, fault: str) -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert strict in text
    plant(tmp_path, {"pyproject.toml": text.replace(strict, loosened)})
    assert checkers.tools_are_strict(tmp_path / "pyproject.toml") == [fault]
