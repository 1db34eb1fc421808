"""The command `loopwright`: reading the command line. What each command does is in the file of its name."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from loopwright.cli.refuse import existing_script, refuse
from loopwright.config import current
from loopwright.deferred import deferred

if TYPE_CHECKING:
    from loopwright.cli import build, cache, config, db, devices, explain, migrate, report, show, terminal, tune
    from loopwright.cli import run as running
    from loopwright.tuning import tune as tuning
else:  # a command loads what it needs: others need the compiler, the tuner, or what writes reports
    build = deferred("loopwright.cli.build")
    cache = deferred("loopwright.cli.cache")
    config = deferred("loopwright.cli.config")
    db = deferred("loopwright.cli.db")
    devices = deferred("loopwright.cli.devices")
    explain = deferred("loopwright.cli.explain")
    migrate = deferred("loopwright.cli.migrate")
    report = deferred("loopwright.cli.report")
    running = deferred("loopwright.cli.run")
    show = deferred("loopwright.cli.show")
    terminal = deferred("loopwright.cli.terminal")
    tune = deferred("loopwright.cli.tune")
    tuning = deferred("loopwright.tuning.tune")

app = typer.Typer(
    help="Plain Python loop nests over arrays, run correctly, safely and in parallel.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=False,
)

# `explain`, `show` and `tune` know their own options anywhere and pass the rest on; `run` only before the script.
_PASSES_REST = {"ignore_unknown_options": True}
_PASSES_ALL = {"ignore_unknown_options": True, "allow_interspersed_args": False}

Script = Annotated[Path, typer.Argument(help="A Python script.", metavar="SCRIPT")]
Rest = Annotated[list[str] | None, typer.Argument(help="Passed on to the script.", metavar="ARGUMENT")]


@app.command("run", context_settings=_PASSES_ALL)
def _run(
    script: Script,
    arguments: Rest = None,
    summary: Annotated[bool, typer.Option(help="Print for each kernel what ran, on stderr.")] = False,
) -> None:
    """Run a script as `python SCRIPT` would. Options of loopwright come before SCRIPT."""
    raise typer.Exit(running.run_and_sum_up(existing_script(script), arguments or [], summary))


@app.command("tune", context_settings=_PASSES_REST)
def _tune(
    script: Script,
    arguments: Rest = None,
    budget: Annotated[str, typer.Option(help="How long to measure, such as 60s, 5min, 1h.")] = "60s",
) -> None:
    """Run a script, then measure variants of the kernels it called, with the arguments it called them with. Results are
    kept, and serve calls from then on."""
    try:
        seconds = tuning.parse_budget(budget)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--budget") from None
    raise typer.Exit(tune.tune_script(existing_script(script), arguments or [], seconds))


@app.command("build", context_settings=_PASSES_REST)
def _build(
    script: Script,
    arguments: Rest = None,
    out: Annotated[Path | None, typer.Option(help="The folder, instead of SCRIPT's name with .loopwright.")] = None,
    processor: Annotated[
        str, typer.Option(help="portable, native (as this machine), or x86-64-v2, -v3, -v4.")
    ] = "portable",
) -> None:
    """Run a script, and put the compiled code of its kernels into a folder, for machines without a compiler: for the
    kinds of calls that the script makes. The folder is used where it lies beside the script, or where LOOPWRIGHT_BUILT
    names it."""
    raise typer.Exit(build.build_script(existing_script(script), arguments or [], out, processor))


@app.command("explain", context_settings=_PASSES_REST)
def _explain(
    script: Script,
    arguments: Rest = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON; the script's own output goes to stderr.")] = False,
) -> None:
    """Run a script, then say of each kernel that it called: what was proven of each loop and array, and what ran."""
    raise typer.Exit(explain.explain_script(existing_script(script), arguments or [], json))


@app.command("report")
def _report(
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("report.html"),
    kernel: Annotated[str, typer.Option(help="Only kernels of this name.", metavar="NAME")] = "",
    store: Annotated[Path | None, typer.Option(help="The store, instead of that of the option store.")] = None,
) -> None:
    """Write one HTML page of what was measured: the variants of each kernel, which one is chosen at which size, where a
    GPU is faster, and how far predictions are off."""
    report.write_report(current(), out, kernel, store)


@app.command("show", context_settings=_PASSES_REST)
def _show(
    target: Annotated[str, typer.Argument(help="SCRIPT:KERNEL, or SCRIPT for all kernels.", metavar="SCRIPT:KERNEL")],
    arguments: Rest = None,
    ir: Annotated[bool, typer.Option("--ir", help="The kernel as it runs, as IR text (the default).")] = False,
    facts: Annotated[bool, typer.Option("--facts", help="What was proven about it.")] = False,
    c: Annotated[bool, typer.Option("--c", help="The generated C.")] = False,
    space: Annotated[bool, typer.Option("--space", help="The search space of tuning: tunables and values.")] = False,
    irregular: Annotated[
        bool, typer.Option("--irregular", help="How iterations depend on data, and what that costs a GPU's warps.")
    ] = False,
    args: Annotated[str | None, typer.Option(help="Types of a call, such as 'float64[:, :], int'.")] = None,
    steps: Annotated[
        str | None, typer.Option(help="A schedule instead of the default: 'tile i 32 j 32; vectorize j'.")
    ] = None,
) -> None:
    """Print what became of a kernel, for each kind of call that the script makes, or for the types in --args; with
    --steps, what would become of it."""
    path, name = show.split_target(target)
    asked = [kind for kind, wanted in zip(show.KINDS, (ir, facts, c, space, irregular), strict=True) if wanted]
    raise typer.Exit(show.show(existing_script(path), name, asked or ["ir"], args, arguments or [], steps))


@app.command("migrate", context_settings=_PASSES_REST)
def _migrate(
    file: Annotated[Path, typer.Argument(help="A Python file that imports numba.", metavar="FILE")],
    arguments: Rest = None,
    write: Annotated[bool, typer.Option("--write", help="Change the imports in the file, not only show how.")] = False,
    run: Annotated[bool, typer.Option("--run", help="Run it as a script, and report its calls.")] = False,
) -> None:
    """List each function that numba compiles: whether it runs here, as far as its text tells, and why not; and let the
    file import loopwright.numba instead of numba."""
    raise typer.Exit(migrate.migrate(existing_script(file), write, run, arguments or []))


@app.command("devices")
def _devices() -> None:
    """Show the CPU, compiler and GPUs, and what is missing."""
    terminal.terminal().print(devices.device_table(devices.device_rows(current())))


@app.command("config")
def _config() -> None:
    """Every option, its value here, and the environment variable that sets it."""
    terminal.terminal().print(config.config_table(current()))


# ---- loopwright cache -------------------------------------------------------------------------------------------

_cache = typer.Typer(rich_markup_mode=None, help="Look at the cache of compiled code, and clean it up.")
app.add_typer(_cache, name="cache")


@_cache.callback(invoke_without_command=True)
def _cache_shown(context: typer.Context) -> None:
    """Where the cache of compiled code is, what is in it, how large it may become, and whether code is loaded from
    it."""
    if context.invoked_subcommand is None:
        cache.show(current())


@_cache.command("clear")
def _cache_clear() -> None:
    """Remove all compiled code. It is made again when it is needed; measurements stay."""
    cache.clear(current())


@_cache.command("prune")
def _cache_prune(
    size: Annotated[str, typer.Option(help="The limit, such as 100MB, instead of the option cache_size.")] = "",
) -> None:
    """Remove what was not used for the longest time, until the rest fits."""
    cache.prune(current(), size)


# ---- loopwright db ----------------------------------------------------------------------------------------------

_db = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Look at the store of measurements, and clean it up."
)
app.add_typer(_db, name="db")
File = Annotated[Path, typer.Argument(help="A file of JSON lines (docs/store.md).", metavar="FILE")]


@_db.callback()
def _db_store(
    context: typer.Context,
    store: Annotated[Path | None, typer.Option(help="The store, instead of that of the option store.")] = None,
) -> None:
    context.obj = store


@_db.command("stats")
def _db_stats(context: typer.Context) -> None:
    """Count the measurements of each kernel on each machine."""
    db.stats(current(), context.obj)


@_db.command("export")
def _db_export(
    context: typer.Context,
    file: Annotated[Path | None, typer.Argument(help="A file of JSON lines (docs/store.md).", metavar="[FILE]")] = None,
    for_: Annotated[
        list[Path] | None,
        typer.Option("--for", help="Only tuned results of this script, to commit beside it.", metavar="PY"),
    ] = None,
) -> None:
    """Write everything to a file, to carry it to another machine or to keep it; with --for, what was tuned of the
    kernels in a source file, to heat.tuned.jsonl beside heat.py, where calls find it."""
    if for_:
        db.export_for(current(), for_, file, context.obj)
    elif file is None:
        refuse("there is no file to write to", "loopwright db export FILE, or --for SCRIPT")
    else:
        db.export(current(), file, context.obj)


@_db.command("import")
def _db_import(context: typer.Context, file: File) -> None:
    """Import an exported file: all of it or, if a line is wrong, nothing."""
    db.import_(current(), file, context.obj)


@_db.command("merge")
def _db_merge(
    context: typer.Context, file: Annotated[Path, typer.Argument(help="Another store.", metavar="FILE")]
) -> None:
    """Add the contents of another store."""
    db.merge(current(), file, context.obj)


@_db.command("prune")
def _db_prune(
    context: typer.Context,
    older_than: Annotated[str, typer.Option(help="Measurements older than this: 90d, 12h.", metavar="TIME")] = "",
    failed: Annotated[bool, typer.Option("--failed", help="Variants that failed, or gave a wrong result.")] = False,
    machine: Annotated[str, typer.Option(help="Machines whose fingerprint begins with this.")] = "",
    keep: Annotated[int | None, typer.Option(min=0, help="All but the last N of a kernel on a machine.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print how much would be removed.")] = False,
) -> None:
    """Remove what has all of these properties."""
    db.prune(current(), older_than, failed, machine, keep, dry_run, context.obj)


# -----------------------------------------------------------------------------------------------------------------


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"loopwright {version('loopwright')}")
        raise typer.Exit


@app.callback()
def _common(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def run() -> None:
    """The entry point of the command."""
    app(prog_name="loopwright")
