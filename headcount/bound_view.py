"""How ``headcount bound`` looks on a terminal."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from headcount import console

LEGEND = (
    "s x n: heads times dimension. k: T2.2's exponent at T; it is positive for T above the next column (N4: above four",
    "less). *T >: the same for N4 where S_i = [T]. N4 from: the eps below which N4 asks for a parameter (N4*: only if",
    "S_i = [T]). eps_0: where the published count begins.",
)
COLOURS = {"vacuous": "yellow", "n4": "green", "n4_and_published": "green"}


def render(data: dict[str, Any]) -> None:
    """One table for one question: regime, exponents, N4, the published count, depth, and what is enough."""
    sizes = ", ".join(f"{letter} = {data[name]}" for letter, name in _LETTERS)
    view = Table(title=f"Too few heads? {sizes}", title_justify="left")
    view.add_column("what")
    view.add_column("value", justify="right", overflow="fold")
    view.add_column("claim")
    regime, eps = data["regime"], data["eps_decimal"]
    for section in (_exponents(data), _counts(data, eps), _depths(data), _enough(data, eps)):
        for name, value, claim in section:
            view.add_row(name, value, claim)
        view.add_section()
    console.out.print(view)
    colour = COLOURS[regime["name"]]
    console.out.print(f"Regime: [{colour}]{regime['name'].replace('_', ' ')}[/]: {regime['words']}.")
    if data.get("plot"):
        console.out.print(f"Curves: {data['plot']}", markup=False)


_LETTERS = (
    ("D", "targets"),
    ("s", "heads"),
    ("n", "head_dim"),
    ("T", "seq_len"),
    ("|S_i|", "support"),
    ("rho", "rho"),
)

Rows = list[tuple[str, str, str]]


def _exponents(data: dict[str, Any]) -> Rows:
    if data["k_published"] is None:
        return [("exponent k", "does not apply (s >= D)", "T2.2, N4")]
    return [
        ("exponent k, published", f"{data['k_published']['decimal']:g}", "T2.2"),
        ("exponent k, sharpened", f"{data['k_sharpened']['decimal']:g}", "N4"),
        ("k > 0 from T =, published", f"{data['published_bound_says_something_from_seq_len']:,}", "N6"),
        (
            "k > 0 from T =, sharpened",
            f"{data['sharpened_bound_says_something_from_seq_len']:,}",
            "N4",
        ),
    ]


def _counts(data: dict[str, Any], eps: str) -> Rows:
    n4, paper = data["n4"], data["paper_count_forces_a_collision_below"]
    rows = [(f"parameters at eps = {eps}, over", n4["parameters_lower"], "N4")]
    if n4["tau"] is not None:
        rows.append(("   with tau, grid points", f"{n4['tau']:,}, {n4['grid_points']}", "N4"))
    for parameters, reached in data["n4_reaches"].items():
        shown = "never" if reached is None else f"10^{reached['log10_eps']:.2f}"
        rows.append((f"exceeds {int(parameters):,} from eps =", shown, "N4"))
    if "not_applicable" in paper:
        return [*rows, ("the published count", paper["not_applicable"], "T2.2-count4")]
    here = paper["parameters_log10_at_eps"]
    return [
        *rows,
        ("eps_0 of the published count", f"10^{paper['log10_eps']}", "T2.2-count4"),
        ("   parameters it gives there", f"10^{paper['parameters_log10_there']}", "T2.2-end"),
        (f"   parameters at eps = {eps}", "nothing" if here is None else f"10^{here}", "T2.2-end"),
    ]


def _depths(data: dict[str, Any]) -> Rows:
    rows = []
    for entry in data["depth"]:
        remark = "" if entry["k_paper_remark"] is None else f" (remark {entry['k_paper_remark']['decimal']:g})"
        exponents = f"{entry['k_published']['decimal']:g}{remark}, {entry['k_sharpened']['decimal']:g}"
        rows.append((f"{entry['layers']} layers: k's; parameters", f"{exponents}; {entry['parameters_lower']}", "N5"))
    return rows


def _enough(data: dict[str, Any], eps: str) -> Rows:
    n7, special = data["n7"], data["specialists"]
    fits = "" if n7["fits_these_heads"] else f" (needs n s >= D = {data['targets']})"
    rows = [
        ("enough, F_0 = sum z_i: neurons", n7["neurons_upper"], "N7"),
        (f"   beta; Heaviside units{fits}", f"{n7['beta']}; {n7['heaviside_units']}", "N7"),
        (
            f"enough, {special['heads']} heads of n = 1, f_i quadratic",
            special["parameters_upper"],
            "N3",
        ),
    ]
    own = special["task"]
    if own is not None:
        shown = own.get("not_known") or f"{own['feed_forward_parameters']:,}"
        rows.append((f"   {data['task']}, built", shown, "N3"))
    return rows


def render_models(data: dict[str, Any]) -> None:
    """The regime table of well-known models."""
    title = f"What T2.2 says about well-known models, rho = {data['rho']}"
    view = Table(title=title, title_justify="left", box=None, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for name in ("model", "s x n", "D", "T", "k", "T >", "*T >", "N4 from", "eps_0", "says"):
        view.add_column(name, justify="left" if name in ("model", "says") else "right", no_wrap=True)
    for row in data["models"]:
        sizes = [row["model"], f"{row['heads']}x{row['head_dim']}", str(row["targets"]), str(row["context"])]
        if "k_published" not in row:
            view.add_row(*sizes, *[""] * 5, row["says"])
            continue
        first = row["n4_first_parameter"] or row["n4_everywhere_first_parameter"]
        starts = [_power(entry) for entry in (first, row["paper_count"])]
        lengths = [row[f"{which}_needs_seq_len_above"] for which in ("published", "sharpened_everywhere")]
        view.add_row(*sizes, f"{row['k_published']:.2f}", *map(str, lengths), *starts, row["says"])
    console.out.print(view)
    console.out.print(data["note"], markup=False)
    console.out.print("\n".join(LEGEND), markup=False)


def _power(entry: dict[str, Any] | None) -> str:
    if entry is None:
        return "-"
    exponent = entry["log10_eps"]
    return f"10^{exponent:.1f}" if abs(exponent) < 1000 else f"10^{exponent:.0f}"
