"""The command line. Commands import what they need when they run, so that ``verify`` needs neither torch nor numpy."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from headcount import console
from theory.errors import HeadcountError

app = typer.Typer(
    name="headcount",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help="How many attention heads does a task need? Audits, builds, certifies and measures.\n\n"
    "Exit codes: 0 proved or as expected, 1 refuted, 2 undecided, 3 usage.",
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of text.")]
Task = Annotated[
    str,
    typer.Option(
        help="toy, hard_gate, synthetic(D), quadratic(D,d[,layout]), order_statistics(m), or a .toml or .json file."
    ),
]
SeqLen = Annotated[int, typer.Option("--seq-len", help="Sequence length T.")]
Eps = Annotated[str, typer.Option(help="Accuracy, exact: 0.05, 1e-6 or 1/20.")]
Engine = Annotated[str | None, typer.Option(help="What trains: native or torch; default the fastest here.")]
Seed = Annotated[int, typer.Option(min=0, help="Seed of everything random.")]


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder of the report.")] = Path("report"),
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Run the whole message once: audit, build, train, find a pair, verify; writes OUT/index.html.

    Example: headcount demo --out report
    """
    from headcount.demo import run

    run(out, seed, as_json)


@app.command()
def audit(
    ids: Annotated[list[str] | None, typer.Argument(help="Claim ids such as T2.1-15 or N4; none: all.")] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Compute everything again.")] = False,
    html: Annotated[Path | None, typer.Option(help="Write the ledger as linked pages into this folder.")] = None,
    witnesses: Annotated[
        Path | None, typer.Option(help="Write every refutation's certificate into this folder.")
    ] = None,
    readme: Annotated[Path | None, typer.Option(help="Rewrite the generated table in this Markdown file.")] = None,
    as_json: Json = False,
) -> None:
    """Decide the registered claims from their evidence: as published, repaired, sharpened.

    Exit code 0: every claim came out decided (refutations of published claims are results, not failures);
    2: something is undecided. Example: headcount audit T2.1-15 --json
    """
    from headcount.auditing import run

    run(ids or [], not no_cache, html, witnesses, readme, as_json)


@app.command()
def bound(
    seq_len: Annotated[int | None, typer.Option("--seq-len", help="Sequence length T.")] = None,
    heads: Annotated[int | None, typer.Option(help="Number of heads s (h in the paper).")] = None,
    head_dim: Annotated[int | None, typer.Option(help="Dimension per head n.")] = None,
    eps: Annotated[str | None, typer.Option(help="Accuracy, exact: 0.05, 1e-6 or 1/20.")] = None,
    targets: Annotated[int | None, typer.Option(help="Number of retrieval coordinates D.")] = None,
    rho: Annotated[str, typer.Option(help="The target's constant rho of N4, exact.")] = "1/2",
    support: Annotated[int | None, typer.Option(help="Smallest |S_i|; default ceil(T/4).")] = None,
    task: Annotated[str | None, typer.Option(help="Take D, rho and |S_i| from this task, as for build.")] = None,
    models: Annotated[bool, typer.Option("--models", help="The regimes of well-known models instead.")] = False,
    plot: Annotated[Path | None, typer.Option(help="Draw parameters against eps and T into this SVG file.")] = None,
    as_json: Json = False,
) -> None:
    """What too few heads cost: exponents, N4's count at eps, the published count's eps_0, depth, and what is enough.

    Exit code 0, also where the theorems are silent. Example: headcount bound --seq-len 128 --targets 4 --heads 1
    --head-dim 8 --eps 1e-6 --plot bound.svg
    """
    from headcount.bounds import run

    run(seq_len, heads, head_dim, eps, targets, rho, support, task, models, plot, as_json)


@app.command()
def build(
    kind: Annotated[str, typer.Argument(help="specialists, memoriser, selector, log_sum_exp or token_heads.")],
    task: Task,
    seq_len: SeqLen,
    eps: Eps,
    form: Annotated[str | None, typer.Option(help="Which variant of the proof; an unknown one lists them.")] = None,
    count: Annotated[bool, typer.Option("--count", help="Parameters by every convention, weights, A1.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write the network: .json (exact) or .safetensors.")] = None,
    certificate: Annotated[Path | None, typer.Option(help="Write the certificate of the error here.")] = None,
    as_json: Json = False,
) -> None:
    """Build the network a proof promises for a task and an accuracy, and certify its error over the whole cube.

    Kinds and their forms, the first being the default: specialists (T2.1: sharpened, repaired, published), memoriser
    (T2.3: five, seven, deep), selector (T1, T <= 8: exact, smooth), log_sum_exp (N7: relu, heaviside), token_heads
    (N13). Exit code 1: the error is at least eps somewhere (the published gate); 2: not decided, or too large to be
    built, with the predicted size.

    Example: headcount build specialists --task toy --seq-len 16 --eps 0.05 --out two_heads.json

    Example: headcount build memoriser --task "quadratic(3,2)" --seq-len 16 --eps 0.1 --form deep --count
    """
    from headcount.building import run

    run(kind, task, seq_len, eps, form, out, certificate, count, as_json)


@app.command()
def show(
    network: Annotated[Path, typer.Argument(help="A network's file: .json or .safetensors.")],
    as_json: Json = False,
) -> None:
    """What is in a network's file: layers, parameters by every convention, A1 line by line, what float64 changes.

    Example: headcount show two_heads.json
    """
    from headcount.showing import run

    run(network, as_json)


@app.command()
def scaling(
    task: Task = "quadratic(2,1)",
    seq_len: SeqLen = 16,
    eps: Eps = "0.1",
    out: Annotated[Path | None, typer.Option(help="Draw the figure into this SVG file.")] = None,
    as_json: Json = False,
) -> None:
    """Parameters M against eps at this T, and against T at this eps: built where that is possible, formulas beyond.

    D heads (slope gamma), the memoriser (1 + gamma; dense max(2, 1 + gamma); apart max(1, gamma)), one wide head (N7),
    the lower bound N4 for one head. Example: headcount scaling --task "quadratic(2,1)" --out scaling.svg
    """
    from headcount.scaling import run

    run(task, seq_len, eps, out, as_json)


@app.command()
def pair(
    task: Task = "toy",
    seq_len: SeqLen = 32,
    heads: Annotated[int, typer.Option(help="Heads of the block to train.")] = 1,
    head_dim: Annotated[int, typer.Option(help="Dimension per head n.")] = 8,
    network: Annotated[
        Path | None, typer.Option(help="Use this network (.json or .safetensors) instead of training one.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the certificate here.")] = None,
    store: Annotated[
        Path | None, typer.Option(help="SQLite store that keeps trained blocks; resumes if killed.")
    ] = None,
    data: Annotated[str, typer.Option(help="Training tokens: corners (hard cases) or uniform (i.i.d.).")] = "corners",
    method: Annotated[
        str, typer.Option(help="optimal (largest gap), grid (the proof's own pair) or lattice (grid pairs by LLL).")
    ] = "optimal",
    budget: Annotated[float, typer.Option(help="Seconds for the search.")] = 45.0,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Find two sequences that an attention block maps to the same place although the target differs; prove it.

    Exit code 0: found and proved; 2: none found within the budget. Example: headcount pair --seq-len 32 --out pair.json

    grid and lattice repeat the paper's set-up on a network file, or on a small random block within A1. Example:
    headcount pair --method grid --task "quadratic(2,1)" --seq-len 40 --head-dim 1
    """
    from headcount.pairing import run

    run(task, seq_len, heads, head_dim, network, out, store, data, method, budget, seed, as_json)


@app.command()
def verify(
    files: Annotated[list[Path], typer.Argument(help="Certificates to check.")],
    as_json: Json = False,
) -> None:
    """Re-check certificates from the files alone, with the small independent checker.

    Needs neither torch nor numpy. Exit code: the worst of the files. Example: headcount verify pair.json
    """
    from headcount.verifying import run

    run(files, as_json)


@app.command()
def sweep(
    plan: Annotated[str, typer.Argument(help="A preset (smoke, table2, table2/smoke, ...) or a plan's .toml file.")],
    store: Annotated[Path | None, typer.Option(help="SQLite store of all results; default PLAN.sqlite here.")] = None,
    jobs: Annotated[int, typer.Option(help="Local processes that train.")] = 1,
    budget: Annotated[float | None, typer.Option(help="Minutes; the next call goes on where this one stopped.")] = None,
    engine: Engine = None,
    as_json: Json = False,
) -> None:
    """Train every model of a plan that the store does not have yet; a killed run resumes to the same bits.

    Exit code 0: all finished; 1: some failed, with reasons; 2: the budget ended first. Example: headcount sweep smoke
    """
    from headcount.sweeping import run

    run(plan, store, jobs, budget, engine, as_json)


@app.command()
def tables(
    plans: Annotated[list[str], typer.Argument(help="Presets or .toml files whose results are in the store.")],
    store: Annotated[Path | None, typer.Option(help="The sweep's store; default PLAN.sqlite here.")] = None,
    out: Annotated[Path, typer.Option(help="Folder: one folder per plan, CSV + Markdown.")] = Path("results"),
    engine: Engine = None,
    as_json: Json = False,
) -> None:
    """Tables of sweeps, ours beside the paper's: OUT/PLAN/table.csv, table.md and run.json (configuration, versions).

    Exit code 0: complete; 2: cells are missing, and the tables say so. Example: headcount tables table2 --out results
    """
    from headcount.tables_view import run

    run(plans, store, out, engine, as_json)


def main(arguments: list[str] | None = None) -> None:
    """Entry point: errors become one clear line on standard error and exit code 3."""
    try:
        app(arguments)
    except console.Finished as finished:
        code = finished.code
    except SystemExit as ended:  # typer ends usage errors with 2, rich a closed output with 1: these are taken here
        code = console.USAGE if ended.code in (console.REFUTED, console.UNDECIDED) else int(ended.code or 0)
    except HeadcountError as error:
        console.err.print(f"error: {error}", markup=False)
        code = console.USAGE
    except OSError as error:
        console.err.print(f"error: {error}. Try: another path, or check its permissions.", markup=False)
        code = console.USAGE
    sys.exit(code)
