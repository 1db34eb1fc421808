"""The law lines of the style guide as pure functions: a folder of sources in, a list of violations out."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

from laws.tree import PACKAGE, SourceFile, absolute, functions, modules_imported, own_imports, source_files

# The house, in the order in which data walks through it: a place imports only from places before it.
ORDER = (
    "revision", "errors", "deferred", "config", "ir", "frontend", "analysis", "steps", "recipe", "codegen", "toolchain",
    "devices", "memory", "profile", "cost", "search", "predict", "placement", "remap", "choice", "runtime",
    "compiler", "remembered", "specialisation", "tuning", "report", "answers", "kernel", "__init__", "cli",
)  # fmt: skip

# The hot path never sees a tree, also not through others. There is no list of exceptions.
HOT = ("runtime", "choice", "placement", "predict")
UNSEEN_BY_HOT = ("frontend", "analysis", "steps", "recipe", "codegen")

# Files of steps/ that are not themselves a step.
NOT_A_STEP = (
    "__init__", "step", "schedule", "catalogue", "draft", "limits", "nest", "extent", "extreme", "region", "copies",
)  # fmt: skip

FORBIDDEN_WORDS = {"util", "utils", "common", "helper", "helpers", "manager", "managers", "core", "misc"}
MOST_FILE_LINES = 600
MOST_FUNCTION_LINES = 60
MOST_UNTESTED_LINES = 150


def imports_only_upward(root: Path) -> list[str]:
    """`root` is the package's folder. Also finds a place that ORDER does not know."""
    faults: list[str] = []
    for file in source_files(root):
        if file.place not in ORDER:
            faults.append(f"{file.path}: '{file.place}' has no place in the order of the house")
            continue
        for node, reached in own_imports(file):
            target = reached or "__init__"
            if target not in ORDER:
                faults.append(f"{file.path}:{node.lineno}: imports '{target}', which has no place in the order")
            elif target != file.place and ORDER.index(target) > ORDER.index(file.place):
                faults.append(f"{file.path}:{node.lineno}: {file.place} imports {target}, which is below it")
    return faults


def hot_path_sees_no_tree(root: Path) -> list[str]:
    """Nothing that runtime, choice, placement and predict reach by imports, however many files these go through, knows
    what makes trees or changes them. It counts what is imported for type checkers only, and what is loaded late: that
    is imported for them too (see late_imports_are_told)."""
    files = {file.module: file for file in source_files(root)}
    through: dict[str, tuple[str, ...]] = {name: () for name, file in files.items() if file.place in HOT}
    faults: list[str] = []
    waiting = list(through)
    for name in waiting:  # it grows
        file, way = files[name], through[name]
        for node, names in modules_imported(file):
            for place in dict.fromkeys(one.split(".")[1] for one in names):
                if place in UNSEEN_BY_HOT:
                    told = f", which {' -> '.join(way)} reaches" if way else ""
                    faults.append(f"{file.path}:{node.lineno}: {file.place} imports {place}{told}")
            for one in names:
                if one in files and one not in through and files[one].place not in UNSEEN_BY_HOT:
                    through[one] = (*way, file.path)
                    waiting.append(one)
    return sorted(faults)


def no_local_imports(root: Path) -> list[str]:
    """No import of our own package inside a function, outside cli/."""
    faults: list[str] = []
    for file in source_files(root):
        if file.place == "cli":
            continue
        inside = {id(node) for function in functions(file.tree) for node in ast.walk(function)}
        faults += [
            f"{file.path}:{node.lineno}: an import of our own inside a function"
            for node, _ in own_imports(file)
            if id(node) in inside
        ]
    return faults


def late_imports_are_told(root: Path) -> list[str]:
    """A module of our own is loaded late only as deferred.py says, beside the import that says the same to whoever
    reads imports: no name in a text gets past the order of the house."""
    faults: list[str] = []
    for file in source_files(root):
        told = {id(call) for block in file.tree.body for call in _told(file, block)}
        for node in ast.walk(file.tree):
            name = _module_named(node)
            if name is not None and name.split(".")[0] == PACKAGE and id(node) not in told:
                faults.append(f"{file.path}:{node.lineno}: loads {name}, which no import beside it tells")
    return faults


def _module_named(node: ast.AST) -> str | None:
    """The text that a call of `deferred` or `import_module` is given."""
    match node:
        case ast.Call(
            func=ast.Name(id="deferred" | "_deferred" | "import_module" | "__import__")
            | ast.Attribute(attr="import_module"),
            args=[ast.Constant(value=str(name)), *_],
        ):
            return name
        case _:
            return None


def _told(file: SourceFile, block: ast.stmt) -> list[ast.AST]:
    """The calls in an `else` of `if TYPE_CHECKING` whose module is imported there, under the same name if any."""
    if not (isinstance(block, ast.If) and isinstance(block.test, ast.Name) and block.test.id == "TYPE_CHECKING"):
        return []
    reached: set[str] = set()
    names: dict[str, str] = {}
    for node in block.body:
        if isinstance(node, ast.ImportFrom):
            base = absolute(file, node)
            reached.add(base)
            names |= {alias.asname or alias.name: f"{base}.{alias.name}" for alias in node.names}
    found: list[ast.AST] = []
    for statement in block.orelse:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() as call):
                found += [call] if names.get(name) == _module_named(call) else []
            case _:
                found += [node for node in ast.walk(statement) if _module_named(node) in reached]
    return found


def one_step_one_name(root: Path, tests: Path) -> list[str]:
    """steps/loop_split.py has a class LoopSplit whose `name` is "loop_split", whose docstring is its picture (before
    -> after), which stands in the catalogue and is tested by tests/steps/test_loop_split.py."""
    faults: list[str] = []
    catalogue = root / "steps" / "catalogue.py"
    known = set(re.findall(r"\w+", catalogue.read_text(encoding="utf-8"))) if catalogue.is_file() else set()
    for file in source_files(root / "steps"):
        name = file.place
        if name in NOT_A_STEP:
            continue
        wanted = "".join(word.capitalize() for word in name.split("_"))
        found = next((n for n in file.tree.body if isinstance(n, ast.ClassDef) and n.name == wanted), None)
        if found is None:
            faults.append(f"steps/{file.path}: no class {wanted}")
        elif _class_constant(found, "name") != name:
            faults.append(f"steps/{file.path}: {wanted}.name is not the text {name!r}")
        elif "->" not in (ast.get_docstring(found) or ""):
            faults.append(f"steps/{file.path}: the docstring of {wanted} has no picture")
        if wanted not in known:
            faults.append(f"steps/{file.path}: {wanted} is not in steps/catalogue.py")
        if not (tests / "steps" / f"test_{name}.py").is_file():
            faults.append(f"steps/{file.path}: no tests/steps/test_{name}.py")
    return faults


def _class_constant(node: ast.ClassDef, name: str) -> object:
    for stmt in node.body:
        match stmt:
            case ast.AnnAssign(target=ast.Name(id=target), value=ast.Constant(value=value)) if target == name:
                return value
            case ast.Assign(targets=[ast.Name(id=target)], value=ast.Constant(value=value)) if target == name:
                return value
    return None


def every_large_module_has_its_tests(root: Path, tests: Path) -> list[str]:
    """A module over 150 lines has the test file of its name, in the folder of its room: tests/ir/test_walk.py for
    ir/walk.py. Whoever changes it knows where to look, and where to add."""
    faults: list[str] = []
    for file in source_files(root):
        path = Path(file.path)
        wanted = path.parent / f"test_{path.name}"
        lines = len(file.lines)
        if lines > MOST_UNTESTED_LINES and not (tests / wanted).is_file():
            faults.append(f"{file.path}: {lines} lines, and no tests/{wanted.as_posix()}")
    return faults


def small_enough(root: Path) -> list[str]:
    """No file over 600 lines, no function over 60; Python and C."""
    faults: list[str] = []
    for file in source_files(root, ".py", ".c", ".h"):
        if len(file.lines) > MOST_FILE_LINES:
            faults.append(f"{file.path}: {len(file.lines)} lines, over {MOST_FILE_LINES}")
        for name, line, length in _c_functions(file) if file.path.endswith((".c", ".h")) else _python_functions(file):
            if length > MOST_FUNCTION_LINES:
                faults.append(f"{file.path}:{line}: {name} has {length} lines, over {MOST_FUNCTION_LINES}")
    return faults


def _python_functions(file: SourceFile) -> list[tuple[str, int, int]]:
    return [(f.name, f.lineno, (f.end_lineno or f.lineno) - f.lineno + 1) for f in functions(file.tree)]


def _c_functions(file: SourceFile) -> list[tuple[str, int, int]]:
    """Whatever opens a brace on a line that starts in column 0 and closes it in column 0."""
    found: list[tuple[str, int, int]] = []
    start = 0
    for number, line in enumerate(file.lines, 1):
        if line.startswith("}") and start:
            found.append((file.lines[start - 1].split("(")[0].strip(), start, number - start + 1))
            start = 0
        elif line.endswith("{") and not line[0].isspace():
            start = number
    return found


def every_public_name_says_what_it_is(root: Path) -> list[str]:
    """Each module, and each public class and function at its top level, has a docstring."""
    faults: list[str] = []
    for file in source_files(root):
        empty = not file.text.strip()
        if not empty and ast.get_docstring(file.tree) is None:
            faults.append(f"{file.path}: the module has no docstring")
        for node in file.tree.body:
            if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            if not node.name.startswith("_") and ast.get_docstring(node) is None:
                faults.append(f"{file.path}:{node.lineno}: {node.name} has no docstring")
    return faults


def names_say_something(root: Path) -> list[str]:
    """No file or folder named after nothing: util, common, helpers, manager, core, v2."""
    paths = [path.relative_to(root) for path in sorted(root.rglob("*")) if "__pycache__" not in path.parts]
    return [
        f"{path.as_posix()}: the name says nothing about what it owns"
        for path in paths
        if any(word in FORBIDDEN_WORDS or re.fullmatch(r"v\d+", word) for word in path.stem.lower().split("_"))
    ]


def tools_are_strict(pyproject: Path) -> list[str]:
    """mypy --strict on src without a way round it, ruff's rules on, and warnings as errors in tests."""
    tool = tomllib.loads(pyproject.read_text(encoding="utf-8"))["tool"]
    mypy = tool.get("mypy", {})
    faults: list[str] = []
    if mypy.get("strict") is not True or mypy.get("files") != ["src"]:
        faults.append("mypy is not strict on src")
    for override in mypy.get("overrides", []):
        if extra := set(override) - {"module", "ignore_missing_imports"}:
            faults.append(f"mypy is relaxed for {override['module']}: {', '.join(sorted(extra))}")
    if missing := {"E", "F", "W", "I", "B", "UP"} - set(tool.get("ruff", {}).get("lint", {}).get("select", [])):
        faults.append(f"ruff does not select {', '.join(sorted(missing))}")
    warnings = tool.get("pytest", {}).get("ini_options", {}).get("filterwarnings", [])
    if warnings[:1] != ["error"]:
        faults.append("warnings are not errors in tests")
    return faults
