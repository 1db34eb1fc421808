"""The law lines of the style guide as pure functions: a folder of sources in, a list of violations out."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path

from laws.tree import PACKAGE, SourceFile, absolute, functions, modules_imported, own_imports, source_files

# The house, in the order in which data walks through it: a place imports only from places before it.
ORDER = (
    "revision", "errors", "random", "forks", "deferred", "garbage", "config", "ir", "frontend", "analysis", "steps",
    "recipe", "codegen", "toolchain", "devices", "memory", "profile", "cost", "search", "predict", "placement",
    "remap", "choice", "runtime", "compiler", "remembered", "built", "region_code", "specialisation", "tuning",
    "report", "answers", "tracebacks", "kernel", "numba", "__init__", "cli", "__main__",
)  # fmt: skip

# The hot path never sees a tree, also not through others. There is no list of exceptions.
HOT = ("runtime", "choice", "placement", "predict")
UNSEEN_BY_HOT = ("frontend", "analysis", "steps", "recipe", "codegen")

# Files of steps/ that are not themselves a step.
NOT_A_STEP = (
    "__init__", "step", "grammar", "schedule", "catalogue", "draft", "limits", "nest", "extent", "extreme", "region",
    "copies", "elements", "filled", "grids", "shadows", "steady", "threads", "numbering", "node_order", "cluster_order",
    "linear_maps", "scalar_replacement", "stable_sort",
)  # fmt: skip

# Who may use regular expressions, and what is read with them: never code that this package has generated.
PATTERNS = {
    "analysis/affine.py": "formulas for isl", "analysis/conditions.py": "formulas for isl",
    "cli/db.py": "options", "cli/example_arguments.py": "options", "config.py": "options",
    "search/ranges.py": "options",
    "codegen/names.py": "names", "compiler.py": "names", "frontend/arrays.py": "names", "ir/user_text.py": "names",
    "ir/printing.py": "the text form of kernels", "ir/tokens.py": "the text form of kernels",
    "ir/plan.py": "the text form of plans",
    "steps/cut.py": "the text form of steps", "steps/grammar.py": "the text form of steps",
    "profile/exchange.py": "files of measurements", "profile/machine.py": "versions",
    "report/element.py": "letters that no page may hold", "report/explain.py": "the user's source",
    "toolchain/cc.py": "what the C compiler says", "toolchain/machine.py": "what the system says",
    "toolchain/limit.py": "a file of its own", "toolchain/nvrtc.py": "names of architectures",
    "toolchain/cubin.py": "what NVIDIA's tools say", "toolchain/sass.py": "what NVIDIA's tools say",
}  # fmt: skip
# Who may look into an attribute `text`.
TEXTS = {
    "analysis/dependence.py": "formulas for isl", "search/ranges.py": "options",
    "report/grid_layout.py": "an access, as people write it",
    "answers.py": "it counts the lines", "toolchain/device_text.py": "it leaves out lines by their numbers",
}  # fmt: skip
SEARCHES = {
    "find", "index", "rfind", "rindex", "startswith", "endswith", "split", "rsplit", "splitlines", "partition", "count",
    "rpartition", "removeprefix", "removesuffix", "replace", "strip",
}  # fmt: skip

# Who may run a text as Python, and whose text that is.
RUNNERS = {"frontend/parse.py": "the user's file", "cli/script.py": "the user's script"}
# How languages spell what is a node of ir/code.py: codegen/print*.py say so, and nobody else.
SPELLED = re.compile(
    r"^(if|else if|for|while) \(|#pragma|__(sync|shfl|ballot|atomic_|shared__|global__|align__|attribute__)|omp_|"
    r"atomic(Add|Min|Max|Exch|CAS)|"
    r"lw_(arrive|arrived|arrive_or_zero|read|write|vector|stop|fail)\b(?=[<(])|LW_(MEET|SPEND|STOPS|SHARED)\b|->launch\b"
)

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


def one_class_one_meaning(root: Path) -> list[str]:
    """No two classes of the package have one name: who meets a name in a message or a signature knows which it is. A
    protocol may share its name with what it describes."""
    first: dict[str, str] = {}
    faults: list[str] = []
    for file in source_files(root):
        for node in ast.walk(file.tree):
            if isinstance(node, ast.ClassDef) and not any(ast.unparse(base) == "Protocol" for base in node.bases):
                place = f"{file.path}:{node.lineno}"
                if node.name in first:
                    faults.append(f"{place}: a second class {node.name}; the first one is {first[node.name]}")
                first.setdefault(node.name, place)
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


def generated_code_is_never_read(root: Path) -> list[str]:
    """What stands in generated code is in its tree and in `Program`. Nobody reads its text: not by regular expressions,
    which only those modules import that have another use for them, and not by looking into a `text`."""
    faults: list[str] = []
    found: dict[str, set[str]] = {"re": set(), "text": set()}
    for file in source_files(root):
        for node in ast.walk(file.tree):
            what = "re" if _imports_re(node) else "text" if _searches_text(node) else ""
            if what:
                found[what].add(file.path)
            if what and file.path not in (PATTERNS if what == "re" else TEXTS):
                told = "uses regular expressions" if what == "re" else "looks into a text"
                faults.append(f"{file.path}:{getattr(node, 'lineno', 0)}: {told}, and may not")
    for allowed, used in ((PATTERNS, found["re"]), (TEXTS, found["text"])):
        faults += [f"{path}: is allowed what it does not do" for path in allowed if path not in used]
    return faults


def only_tables_spell(root: Path) -> list[str]:
    """What languages spell in ways of their own is a node, and only the tables of languages spell nodes."""
    return [
        f"{file.path}:{node.lineno}: '{found[0]}' is for the tables of languages to say"
        for file in source_files(root)
        if file.path.startswith("codegen/") and not file.path.startswith("codegen/print")
        for told in [_docstrings(file.tree)]
        for node in ast.walk(file.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told
        if (found := SPELLED.search(node.value)) is not None
    ]


def _docstrings(tree: ast.Module) -> set[int]:
    """The identities of what statements of their own say, and nothing more."""
    return {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}


def no_text_is_run(root: Path) -> list[str]:
    """No text is run as Python, but for the user's own. What is generated is data, or C."""
    faults: list[str] = []
    runs: set[str] = set()
    for file in source_files(root):
        nodes = list(ast.walk(file.tree))
        own = {node.arg for node in nodes if isinstance(node, ast.arg)}
        own |= {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
        for node in nodes:
            match node:
                case ast.Name(id="eval" | "exec" | "compile" | "__import__" as name) if name not in own:
                    runs.add(file.path)
                    if file.path not in RUNNERS:
                        faults.append(f"{file.path}:{node.lineno}: {name} runs a text as Python")
    return faults + [f"{path}: is allowed what it does not do" for path in RUNNERS if path not in runs]


def _imports_re(node: ast.AST) -> bool:
    match node:
        case ast.Import():
            return any(alias.name in ("re", "regex") for alias in node.names)
        case ast.ImportFrom():
            return node.module in ("re", "regex")
        case _:
            return False


def _searches_text(node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr=method, value=value)) if method in SEARCHES:
            looked_at = [value]
        case ast.Compare(comparators=looked_at) if any(isinstance(one, ast.In | ast.NotIn) for one in node.ops):
            pass
        case ast.Subscript(value=value):
            looked_at = [value]
        case _:
            return False
    return any(isinstance(one, ast.Attribute) and one.attr in ("text", "c_text") for one in looked_at)


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
            if any(isinstance(name, ast.Name) and name.id == "overload" for name in node.decorator_list):
                continue  # what follows it says it for all
            if not node.name.startswith("_") and ast.get_docstring(node) is None:
                faults.append(f"{file.path}:{node.lineno}: {node.name} has no docstring")
    return faults


# From what goes through a tree, what of each node, and of which kind: to the question of ir/queries.py that says so.
QUESTIONS = {
    ("statements", "name", "Assign"): "names_assigned",
    ("statements", "array", "Store"): "arrays_stored",
    ("statements", "array", "Allocate"): "arrays_made",
    ("expressions", "array", "Load"): "arrays_loaded",
    ("expressions", "name", "Var"): "names_read",
    ("subexpressions", "name", "Var"): "names_in",
}
HOMES = ("ir/walk.py", "ir/queries.py")


def trees_are_asked(root: Path) -> list[str]:
    """Whoever goes through a tree for nodes of a kind says so to ir/walk.py, `statements(body, Store)`, and asks what
    ir/queries.py answers there: no comprehension and no loop picks them by isinstance."""
    faults: list[str] = []
    for file in source_files(root):
        if file.path in HOMES:
            continue
        for node in ast.walk(file.tree):
            if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
                faults += [f"{file.path}:{node.lineno}: {fault}" for fault in _picked(node)]
            elif isinstance(node, ast.For) and (walk := _picked_one_by_one(node)):
                faults.append(f"{file.path}:{node.lineno}: {walk} takes the kinds that are wanted")
    return faults


def _picked_one_by_one(loop: ast.For) -> str:
    """What goes through the tree in a loop that does nothing but to ask each node of which kind it is; '' for none."""
    match loop:
        case ast.For(
            target=ast.Name(id=one),
            iter=ast.Call(func=ast.Name(id="statements" | "expressions" | "subexpressions" as walk)),
            body=[ast.If(test=test, orelse=[])],
        ) if _is_of_a_kind(_conjuncts(test)[0], one):
            return walk
        case _:
            return ""


def _picked(node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> list[str]:
    """What a comprehension over a tree picks by hand."""
    faults: list[str] = []
    for each in node.generators:
        match each:
            case ast.comprehension(
                target=ast.Name(id=one),
                iter=ast.Call(func=ast.Name(id="statements" | "expressions" | "subexpressions" as walk), args=args),
            ):
                pass
            case _:
                continue
        tests = [part for test in each.ifs for part in _conjuncts(test)]
        element = [node.elt] if not isinstance(node, ast.DictComp) else []
        if any(_is_of_a_kind(test, one) for test in [*tests[:1], *element]):
            faults.append(f"{walk} takes the kinds that are wanted")
        match (node, args[1:], tests):
            case (
                ast.SetComp(elt=ast.Attribute(value=ast.Name(id=name), attr=what), generators=[_]),
                [ast.Name(id=kind)],
                [],
            ) if name == one and (walk, what, kind) in QUESTIONS:
                faults.append(f"{QUESTIONS[walk, what, kind]} of ir/queries.py says that")
    return faults


def _conjuncts(test: ast.expr) -> list[ast.expr]:
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]


def _is_of_a_kind(test: ast.expr, name: str) -> bool:
    match test:
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=tested), ast.Name(id=kind)]):
            return tested == name and not kind.islower() and not kind.isupper()
        case ast.Call(func=ast.Name(id="isinstance"), args=[ast.Name(id=tested), ast.BinOp()]):
            return tested == name
        case _:
            return False


def names_say_something(root: Path) -> list[str]:
    """No file or folder named after nothing: util, common, helpers, manager, core, v2; but for Numba's own `core`."""
    paths = [path.relative_to(root) for path in sorted(root.rglob("*")) if "__pycache__" not in path.parts]
    return [
        f"{path.as_posix()}: the name says nothing about what it owns"
        for path in paths
        if any(word in FORBIDDEN_WORDS or re.fullmatch(r"v\d+", word) for word in path.stem.lower().split("_"))
        and path.parts[-2:] != ("numba", "core")
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
