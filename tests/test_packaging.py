"""What is packaged elsewhere says what pyproject.toml says: the Dockerfile, whose steps are carried out in folders, the
conda recipe, and the wheel, which needs no compiler to be installed."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import loopwright
from docs.blocks import blocks

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DOCKERFILE = ROOT / "packaging" / "Dockerfile"
SIMULATION = """
import numpy as np
import loopwright as lw

@lw.kernel
def smooth(a, b):
    for i in range(1, len(a) - 1):
        b[i] = 0.5 * (a[i - 1] + a[i + 1])

b = np.zeros(4)
smooth(np.array([1.0, 2.0, 5.0, 8.0]), b)
print(b)
"""


def test_one_version() -> None:
    assert PROJECT["version"] == loopwright.__version__


# ---- the container ------------------------------------------------------------------------------------------------


def test_the_page_shows_the_dockerfile() -> None:
    page = (ROOT / "docs" / "build.md").read_text(encoding="utf-8")
    [shown] = ["\n".join(block.lines) for block in blocks(page) if block.language == "dockerfile"]
    assert shown.strip() == DOCKERFILE.read_text(encoding="utf-8").strip()
    assert len([line for line in shown.splitlines() if line.strip()]) <= 10


def steps() -> list[list[tuple[str, str]]]:
    """The instructions of each stage."""
    stages: list[list[tuple[str, str]]] = []
    for line in DOCKERFILE.read_text(encoding="utf-8").splitlines():
        word, _, rest = line.partition(" ")
        if word == "FROM":
            stages.append([])
        if word:
            stages[-1].append((word, rest))
    return stages


def test_the_steps_of_the_dockerfile(tmp_path: Path) -> None:
    """The first stage with this machine's compiler, the second one in another folder and without any. apt-get and pip
    are left out: Python, Loopwright and the compiler are those of the test."""
    first, second = steps()
    context, app, other = tmp_path / "context", tmp_path / "build" / "app", tmp_path / "run" / "app"
    for folder in (context, app.parent, other.parent):
        folder.mkdir()
    (context / "simulation.py").write_text(SIMULATION)
    packages = os.pathsep.join(part for part in sys.path if part)
    env = {**os.environ, "PYTHONPATH": packages, "LOOPWRIGHT_CFLAGS": "-O0"}
    command = [sys.executable, "-c", "from loopwright.cli.main import run; run()"]
    built = False
    for word, rest in first[1:]:
        match word, shlex.split(rest):
            case "WORKDIR", ["/app"]:
                app.mkdir()
            case "COPY", [name, "."]:
                shutil.copy(context / name, app)
            case "RUN", ["venv/bin/loopwright", *words]:
                subprocess.run([*command, *words], cwd=app, env=env, check=True, capture_output=True)
                built = True
            case "RUN", ["apt-get" | "python", *_]:
                pass
            case step:
                pytest.fail(f"a new step: {step}")
    assert built
    assert [word for word, _ in second] == ["FROM", "COPY", "CMD"]
    assert second[1][1] == "--from=build /app /app"
    shutil.copytree(app, other)
    python, script = json.loads(second[2][1])
    assert python == "/app/venv/bin/python"
    ran = subprocess.run(
        [sys.executable, "-W", "error", other / Path(script).relative_to("/app")],
        env={"PATH": "/nowhere", "PYTHONPATH": packages, "HOME": str(tmp_path), "LOOPWRIGHT_CACHE": str(other / "no")},
        capture_output=True,
        text=True,
    )
    assert (ran.stdout, ran.stderr) == ("[0. 3. 5. 0.]\n", "")
    assert not (other / "no").exists()


# ---- conda --------------------------------------------------------------------------------------------------------


def recipe() -> dict[str, dict[str, object]]:
    found = yaml.safe_load((ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def packed(requirement: object) -> str:
    """`numpy >=2.0` as pyproject.toml writes it."""
    return str(requirement).replace(" ", "")


def test_the_conda_recipe_is_that_of_this_project() -> None:
    found = recipe()
    assert found["schema_version"] == 1
    assert set(found) == {
        "schema_version", "context", "package", "source", "build", "requirements", "tests", "about",
    }  # fmt: skip
    assert found["context"]["version"] == PROJECT["version"]
    assert found["package"] == {"name": PROJECT["name"], "version": "${{ version }}"}
    assert (ROOT / "packaging" / "conda" / str(found["source"]["path"]) / "pyproject.toml").resolve() == (
        ROOT / "pyproject.toml"
    )
    about = {"license": PROJECT["license"], "license_file": "LICENSE", "summary": PROJECT["description"]}
    assert {name: found["about"][name] for name in about} == about
    [script] = found["build"]["python"]["entry_points"]  # type: ignore[index]
    assert script == "loopwright = " + PROJECT["scripts"]["loopwright"]


def test_the_conda_recipe_needs_what_the_project_needs() -> None:
    needs = recipe()["requirements"]
    run = [packed(one) for one in needs["run"]]  # type: ignore[attr-defined]
    assert run == ["python" + PROJECT["requires-python"], *PROJECT["dependencies"], "c-compiler"]
    build_system = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]
    host = [packed(one) for one in needs["host"]]  # type: ignore[attr-defined]
    assert host == ["python" + PROJECT["requires-python"], "pip", *build_system["requires"]]


def test_the_citation_is_of_this_version() -> None:
    found = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (found["cff-version"], found["type"], found["title"]) == ("1.2.0", "software", "Loopwright")
    assert (found["version"], found["license"]) == (PROJECT["version"], PROJECT["license"])
    page = (ROOT / "docs" / "support.md").read_text(encoding="utf-8").replace("\n  ", " ")
    for one in found["references"]:
        assert f"*{one['title']}*" in page and str(one["year"]) in page
        assert all(author["family-names"] in page for author in one["authors"])


# ---- the wheel ----------------------------------------------------------------------------------------------------


def test_nothing_is_compiled_at_installation() -> None:
    """setuptools makes a wheel for any platform of a project without extension modules: .ci/run makes it, looks at its
    name, and installs it. Here: that nothing asks for such modules, and what C there is goes along as data."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    assert set(settings) == {"packages", "package-data"} and not (ROOT / "setup.py").exists()
    data = settings["package-data"]["loopwright"]
    kinds = {path.suffix for path in (ROOT / "src" / "loopwright").rglob("*") if path.is_file()} - {".py", ".pyc", ""}
    assert kinds <= {Path(one).suffix for one in data} | {".typed"}
    assert ".c" in kinds and "*-none-any.whl" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
