"""Motifs that come back without being adjacent: windows of tokens worth a rule of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from commcanary.artifacts.factorize import first_appearance
from commcanary.compile.grams import doubled, repeats

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHORTEST = 16
_MOST_WINDOWS = 20_000


class Returning(NamedTuple):
    """The windows of ``width`` tokens at ``places`` (int64, ascending, without overlap) are all equal."""

    places: NDArray[np.int64]
    width: int


def returning_motifs(tokens: NDArray[np.int64], threshold: int) -> list[Returning]:
    """Motifs without overlap that save ``threshold`` tokens or more, of the one window length that promises most.

    Windows grow as long as all their places agree.
    """
    levels: list[tuple[int, int, NDArray[np.int64]]] = []
    grams, width = first_appearance(tokens), 1
    while repeats(grams):
        if width >= SHORTEST:
            promised = (int(np.bincount(grams).max()) - 1) * (width - 1)
            if promised >= threshold:
                levels.append((promised, width, grams))
        grams, width = doubled(grams, width), 2 * width
    for _, width, grams in sorted(levels, key=lambda level: (-level[0], level[1])):
        found = _of_one_width(tokens, grams, width, threshold)
        if found:
            return found
    return []


def _of_one_width(tokens: NDArray[np.int64], grams: NDArray[np.int64], width: int, threshold: int) -> list[Returning]:
    counts = np.bincount(grams)
    order = np.argsort(grams, kind="stable")
    starts = np.cumsum(counts) - counts
    taken = np.zeros(len(tokens), np.bool_)
    found = []
    # a rarer window, a chance pair of others for one, waits until those are gone
    worth = np.flatnonzero((2 * counts > counts.max()) & (counts > 1) & ((counts - 1) * (width - 1) >= threshold))
    for number in worth[np.argsort(-counts[worth], kind="stable")][:_MOST_WINDOWS].tolist():
        places = order[starts[number] : starts[number] + counts[number]]
        # what is taken is at least as long as a window, so a window meets it at one of its ends
        places = _apart(places[~(taken[places] | taken[places + width - 1])], width)
        if (len(places) - 1) * (width - 1) < threshold or len(places) < 2:
            continue
        places, grown = _grown(tokens, taken, places, width)
        taken[(places[:, None] + np.arange(grown)).reshape(-1)] = True
        found.append(Returning(places, grown))
    return found


def _apart(places: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """The places that are left when each keeps the next ``width`` tokens to itself."""
    if len(places) < 2 or int(np.diff(places).min()) >= width:
        return places
    kept = [int(places[0])]
    for place in places.tolist():
        if place >= kept[-1] + width:
            kept.append(place)
    return np.asarray(kept, np.int64)


def _grown(
    tokens: NDArray[np.int64], taken: NDArray[np.bool_], places: NDArray[np.int64], width: int
) -> tuple[NDArray[np.int64], int]:
    room = int(np.diff(places).min())
    while width < room and places[-1] + width < len(tokens) and _alike(tokens, taken, places + width):
        width += 1
    while width < room and places[0] > 0 and _alike(tokens, taken, places - 1):
        places, width = places - 1, width + 1
    return places, width


def _alike(tokens: NDArray[np.int64], taken: NDArray[np.bool_], places: NDArray[np.int64]) -> bool:
    return bool((tokens[places] == tokens[places[0]]).all() and not taken[places].any())
