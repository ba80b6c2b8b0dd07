"""The dependency graph of the ledger as an SVG with links; own layout in layers, no dependency."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from markupsafe import Markup

WIDTH, HEIGHT, GAP_X, GAP_Y, MARGIN = 92, 24, 54, 10, 12
COLOURS = {"PROVED": "#2e8b57", "REFUTED": "#c0392b"}
OPEN = "#d39e00"


@dataclass(frozen=True)
class Node:
    """One claim: where its box links to, the label of its published statement, and of its best standing statement."""

    id: str
    page: str
    published: str
    best: str


def graph_svg(nodes: Sequence[Node], below: Mapping[str, Sequence[str]]) -> Markup:
    """Boxes in layers by the longest chain beneath them, lines to what they rest on (``below``)."""
    layers: dict[int, list[Node]] = {}
    depth = _depths(below)
    linked = {name for name, others in below.items() if others} | {
        other for others in below.values() for other in others
    }
    for node in nodes:
        if node.id in linked:
            layers.setdefault(depth[node.id], []).append(node)
    place = {
        node.id: (MARGIN + layer * (WIDTH + GAP_X), MARGIN + row * (HEIGHT + GAP_Y))
        for layer, members in layers.items()
        for row, node in enumerate(members)
    }
    width = 2 * MARGIN + (max(layers, default=0) + 1) * (WIDTH + GAP_X) - GAP_X
    height = 2 * MARGIN + max((len(members) for members in layers.values()), default=1) * (HEIGHT + GAP_Y)
    parts = [_line(place[name], place[other]) for name in place for other in below.get(name, ()) if other in place]
    parts += [_box(node, *place[node.id]) for node in nodes if node.id in place]
    return Markup(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="Dependencies of the claims" font-family="sans-serif" font-size="11">{"".join(parts)}</svg>'
    )


def _depths(below: Mapping[str, Sequence[str]]) -> dict[str, int]:
    depth: dict[str, int] = {}

    def visit(name: str) -> int:
        if name not in depth:
            depth[name] = max((visit(other) + 1 for other in below.get(name, ())), default=0)
        return depth[name]

    for name in below:
        visit(name)
    return depth


def _line(start: tuple[int, int], end: tuple[int, int]) -> str:
    x1, y1, x2, y2 = start[0], start[1] + HEIGHT / 2, end[0] + WIDTH, end[1] + HEIGHT / 2
    bend = (x1 + x2) / 2
    return f'<path d="M{x1} {y1} C{bend} {y1} {bend} {y2} {x2} {y2}" fill="none" stroke="#9aa4af" stroke-width="1"/>'


def _box(node: Node, x: int, y: int) -> str:
    fill, border = COLOURS.get(node.published, OPEN), COLOURS.get(node.best, OPEN)
    middle, baseline = x + WIDTH / 2, y + HEIGHT / 2 + 4
    return (
        f'<a href="{escape(node.page)}"><title>{escape(node.id)}: published {node.published}, best {node.best}</title>'
        f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" rx="5" fill="{fill}" fill-opacity="0.22" '
        f'stroke="{border}" stroke-width="2"/>'
        f'<text x="{middle}" y="{baseline}" text-anchor="middle" fill="#1c2430">{escape(node.id)}</text></a>'
    )
