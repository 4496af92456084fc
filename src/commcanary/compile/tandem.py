"""Tandem repeats: stretches of tokens that are one body several times in a row.

Found through windows of 1, 2, 4, ... tokens that have a number each (``grams``): a body of p tokens with
w <= p < 2 w stands twice in a row at i exactly where the windows at i and at i + p - w both come again p
later. All periods of one window length are looked at together, so a pass is near-linear in the tokens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from commcanary.artifacts.factorize import first_appearance
from commcanary.compile.grams import doubled, repeats, return_distances

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Tandem(NamedTuple):
    """``copies`` bodies of ``period`` tokens, the first at ``begin``."""

    begin: int
    period: int
    copies: int


def tandem_repeats(tokens: NDArray[np.int64], entry: NDArray[np.bool_], threshold: int) -> list[Tandem]:
    """Repeats that pay, by position and without overlap, of the shortest window length that has any.

    ``entry`` (bool[tokens]) marks tokens that no literal stretch could take: a body with one of them pays at
    any length, another one where ``threshold`` tokens are saved.
    """
    grams, width = first_appearance(tokens), 1
    entries_before = np.concatenate([np.zeros(1, np.int64), np.cumsum(entry)])
    while repeats(grams):
        found = _without_overlap(tokens, _squares(grams, width, entries_before, threshold), entries_before, threshold)
        if found:
            return sorted(found)
        grams = doubled(grams, width)
        width *= 2
    return []


def _squares(
    grams: NDArray[np.int64], width: int, entries_before: NDArray[np.int64], threshold: int
) -> list[tuple[int, int]]:
    """(period, position) where enough copies begin; of positions in a row only the first."""
    distance = return_distances(grams)
    place = np.flatnonzero((distance >= width) & (distance < 2 * width))
    period = distance[place]
    holds_entry = entries_before[place + period] > entries_before[place]
    needed = np.where(holds_entry, 1, -(-threshold // period))  # equal neighbours in a row
    alive = np.ones(len(place), np.bool_)
    for step in range(int(needed.max(initial=0))):
        tail = place + (step + 1) * period - width  # the window that ends the body
        asked = alive & (needed > step)
        inside = asked & (tail + period < len(grams))
        start = place + step * period
        same = np.zeros(len(place), np.bool_)
        i = np.flatnonzero(inside)
        same[i] = (grams[start[i]] == grams[start[i] + period[i]]) & (grams[tail[i]] == grams[tail[i] + period[i]])
        alive &= ~asked | same
    place, period = place[alive], period[alive]
    first = np.ones(len(place), np.bool_)
    first[1:] = (np.diff(place) != 1) | (np.diff(period) != 0)
    place, period = place[first], period[first]
    order = np.lexsort((place, period))
    return list(zip(period[order].tolist(), place[order].tolist(), strict=True))


def _without_overlap(
    tokens: NDArray[np.int64], squares: list[tuple[int, int]], entries_before: NDArray[np.int64], threshold: int
) -> list[Tandem]:
    taken = np.zeros(len(tokens), np.bool_)
    chosen: list[Tandem] = []
    for period, place in squares:
        if taken[place] or taken[place + 2 * period - 1] or taken[place : place + 2 * period].any():
            continue
        begin = place - _agreement(tokens, taken, place - 1, place - 1 + period, -1)
        end = place + period + _agreement(tokens, taken, place + period, place, 1)
        copies = (end - begin) // period
        pays = period * (copies - 1) >= threshold or entries_before[begin + period] > entries_before[begin]
        if pays:
            chosen.append(Tandem(begin, period, copies))
            taken[begin : begin + period * copies] = True
    return chosen


def _agreement(tokens: NDArray[np.int64], taken: NDArray[np.bool_], at: int, other: int, step: int) -> int:
    """How many free tokens from ``at`` on (``step`` 1 or -1) equal those from ``other`` on."""
    room = (len(tokens) - max(at, other)) if step > 0 else min(at, other) + 1
    length, block = 0, 64
    while length < room:
        size = min(block, room - length)
        offsets = step * np.arange(length, length + size)
        differs = (tokens[at + offsets] != tokens[other + offsets]) | taken[at + offsets]
        if differs.any():
            return length + int(np.argmax(differs))
        length += size
        block *= 2
    return length
