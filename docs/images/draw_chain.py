"""Draws chain.svg beside this file: the chain of stages, from a profile to verdicts, exports and a page.

python docs/images/draw_chain.py
"""

from __future__ import annotations

from html import escape
from pathlib import Path

WIDTH, HEIGHT = 980, 368
BOX, TALL, GAP = 124, 62, 80
LEFT, TOP = 20, 62
INK, MUTED, LINE, BLUE = "#1a1a1a", "#5c6570", "#8794a3", "#0b5cad"
FONTS = "system-ui, -apple-system, 'Segoe UI', Roboto, Arial, sans-serif"
DESCRIPTION = (
    "Profiles are imported as a trace. The trace is compiled into a canary, the canary replayed per configuration into "
    "reports, and reports compared into verdicts. Controls are made from the trace and take the canary's way. "
    "Verification holds the canary against the trace. The canary is exported for PARAM. A campaign runs all of it and "
    "ends in tables, figures and one page."
)

CHAIN = (
    ("profiles", "of a real job"),
    ("trace", "one row a collective"),
    ("canary", "order, skew, overlap"),
    ("reports", "one a configuration"),
    ("verdicts", "pass · warn · fail"),
)
STEPS = ("import", "compile", "replay", "compare")


def draw() -> str:
    """The picture as SVG."""
    lower = TOP + TALL + 88
    parts = [box(place(i), TOP, name, note, strong=name == "canary") for i, (name, note) in enumerate(CHAIN)]
    for i, step in enumerate(STEPS):
        start = place(i) + BOX
        parts.append(arrow(start + 4, TOP + TALL / 2, start + GAP - 4, TOP + TALL / 2))
        parts.append(text(start + GAP / 2, TOP + TALL / 2 - 9, step, color=BLUE, weight=600))

    parts.append(box(place(0), lower, "controls", "must be able to fail"))
    parts.append(path(place(1) + 30, TOP + TALL, [(place(1) + 30, lower + 20)], place(0) + BOX + 4, lower + 20))
    parts.append(text(place(0) + BOX + 58, lower + 12, "isolated, cluster …", size=11, color=MUTED))
    middle = lower - 38
    parts.append(path(place(0) + 40, lower, [(place(0) + 40, middle)], place(2) + 20, middle, head=False))
    parts.append(arrow(place(2) + 20, middle, place(2) + 20, TOP + TALL + 4))
    parts.append(text(place(0) + 48, middle - 7, "compile", color=BLUE, weight=600, anchor="start"))

    gate = place(1) + BOX + GAP / 2 - 10
    parts.append(box(gate, lower, "verification", "source · behaviour · rank", wide=150))
    parts.append(arrow(place(1) + 96, TOP + TALL + 2, gate + 18, lower - 4))
    parts.append(arrow(place(2) + 62, TOP + TALL + 2, gate + 112, lower - 4))
    parts.append(text(gate + 128, lower - 18, "verify", color=BLUE, weight=600, anchor="start"))

    parts.append(box(place(3), lower, "PARAM trace", "and its account"))
    parts.append(
        path(
            place(2) + 100, TOP + TALL, [(place(2) + 100, TOP + TALL + 30)], place(3) + 60, TOP + TALL + 30, head=False
        )
    )
    parts.append(arrow(place(3) + 60, TOP + TALL + 30, place(3) + 60, lower - 4))
    parts.append(text(place(3) + 68, lower - 18, "export", color=BLUE, weight=600, anchor="start"))

    band = lower + TALL + 26
    parts.append(f'<rect x="{LEFT}" y="{band}" width="{WIDTH - 2 * LEFT}" height="48" rx="6" fill="#f5f7f9"/>')
    line = "One campaign: workloads × representations × configurations × seeds, resumable, every cell with a receipt"
    parts.append(text(WIDTH / 2, band + 20, line, size=13, weight=600))
    parts.append(text(WIDTH / 2, band + 38, "ends in tables, figures, one page and a manifest", size=12, color=MUTED))
    parts.append(
        text(
            LEFT,
            34,
            "From the profile of a job to a verdict that carries its evidence",
            size=16,
            weight=700,
            anchor="start",
        )
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-labelledby="chain-title chain-description" font-family="{escape(FONTS)}">\n'
        f'<title id="chain-title">The chain of stages</title>\n'
        f'<desc id="chain-description">{escape(DESCRIPTION)}</desc>\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="8" fill="#ffffff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def place(index: int) -> float:
    """Left edge of the box in column ``index``."""
    return LEFT + index * (BOX + GAP)


def box(x: float, y: float, name: str, note: str, *, strong: bool = False, wide: float = BOX) -> str:
    """An artifact: its name and a line about it."""
    edge, fill = (BLUE, "#e8f1fa") if strong else (LINE, "#ffffff")
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{wide:g}" height="{TALL}" rx="6" '
        f'fill="{fill}" stroke="{edge}" stroke-width="1.5"/>'
        + text(x + wide / 2, y + 27, name, size=14.5, weight=700)
        + text(x + wide / 2, y + 46, note, size=10.5, color=MUTED)
    )


def text(
    x: float, y: float, words: str, *, size: float = 12.5, color: str = INK, weight: int = 400, anchor: str = "middle"
) -> str:
    """One line of text."""
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" font-weight="{weight}" fill="{color}" '
        f'text-anchor="{anchor}">{escape(words)}</text>'
    )


def arrow(x: float, y: float, to_x: float, to_y: float) -> str:
    """A straight line with a head at its end."""
    return path(x, y, [], to_x, to_y)


def path(x: float, y: float, corners: list[tuple[float, float]], to_x: float, to_y: float, *, head: bool = True) -> str:
    """A line over ``corners``; its head is drawn as a triangle, because markers need ids."""
    points = [(x, y), *corners, (to_x, to_y)]
    drawn = " ".join(f"{'M' if i == 0 else 'L'}{px:g} {py:g}" for i, (px, py) in enumerate(points))
    line = f'<path d="{drawn}" fill="none" stroke="{MUTED}" stroke-width="1.5"/>'
    if not head:
        return line
    (from_x, from_y), length = points[-2], 8.0
    distance = ((to_x - from_x) ** 2 + (to_y - from_y) ** 2) ** 0.5
    dx, dy = (to_x - from_x) / distance * length, (to_y - from_y) / distance * length
    back_x, back_y = to_x - dx, to_y - dy
    corner = [(to_x, to_y), (back_x - dy / 2, back_y + dx / 2), (back_x + dy / 2, back_y - dx / 2)]
    triangle = " ".join(f"{px:.2f},{py:.2f}" for px, py in corner)
    return line + f'<polygon points="{triangle}" fill="{MUTED}"/>'


if __name__ == "__main__":
    Path(__file__).with_name("chain.svg").write_text(draw(), encoding="utf-8")
