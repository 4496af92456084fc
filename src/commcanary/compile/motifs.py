"""Finding the event program: runs, tandem repeats inside tandem repeats, and motifs that come back later.

Tokens are (symbol, repeat) pairs. Shortest periods fold first, so that layers become one token before
steps are looked for; equal bodies share one rule. Plain runs are folded only where that saves ``threshold``
tokens: chance repeats in an irregular trace cost more as program entries than as literals.
Every pass is linear in the tokens that are left, and the number of passes is bounded.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from commcanary.artifacts.factorize import first_appearance
from commcanary.artifacts.program import LITERAL, Program, Rule, pairs, rule_symbol
from commcanary.compile.grams import doubled, return_distances

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LARGEST_THRESHOLD = 8
_MAX_ROUNDS = 200
_SHORTEST_RETURNING_MOTIF = 16
_SHORTEST_LITERAL = 8


def build_program(signature: NDArray[np.int32], record_of_event: NDArray[np.int64]) -> Program:
    """The program that expands to ``signature`` (int32[n]).

    ``record_of_event`` (int64[n]) is the timing record of each event; records must not cross a change of
    signature. Literal stretches are counted in records.
    """
    return _Folding(signature).program(record_of_event)


class _Folding:
    """Tokens on their way to a program; ``self.tokens`` indexes ``self.pair_of``."""

    def __init__(self, signature: NDArray[np.int32]) -> None:
        self.number_of: dict[tuple[int, int], int] = {}
        self.pair_of: list[tuple[int, int]] = []
        self.rules: list[Rule] = []
        self.rule_of: dict[Rule, int] = {}
        self.threshold = min(_LARGEST_THRESHOLD, max(1, len(signature) // 64))
        starts = np.flatnonzero(np.concatenate([[True], signature[1:] != signature[:-1]]))
        lengths = np.diff(np.append(starts, len(signature)))
        span = int(lengths.max()) + 1
        packed, inverse = np.unique(signature[starts].astype(np.int64) * span + lengths, return_inverse=True)
        numbers = np.array([self._number(int(p // span), int(p % span)) for p in packed], np.int64)
        self.tokens = numbers[inverse]

    def program(self, record_of_event: NDArray[np.int64]) -> Program:
        """Fold as far as it pays, then write rules (numbered outermost first) and literals."""
        self.tokens = self._folded(self.tokens, self.threshold)
        self._share_returning_motifs()
        return self._written(record_of_event)

    def _number(self, symbol: int, repeat: int) -> int:
        known = self.number_of.setdefault((symbol, repeat), len(self.pair_of))
        if known == len(self.pair_of):
            self.pair_of.append((symbol, repeat))
        return known

    def _rule(self, body: NDArray[np.int64]) -> int:
        """Symbol of the rule with this body (in order of making: a rule uses only earlier ones).

        A body is never literal, so inside it every repeat pays.
        """
        rule = tuple(value for token in self._folded(body, 1).tolist() for value in self.pair_of[token])
        number = self.rule_of.setdefault(rule, len(self.rules) + 1)
        if number > len(self.rules):
            self.rules.append(rule)
        return rule_symbol(number)

    def _folded(self, tokens: NDArray[np.int64], threshold: int) -> NDArray[np.int64]:
        for _ in range(_MAX_ROUNDS):
            shorter = self._with_shortest_period_folded(tokens, threshold)
            if shorter is None:
                break
            tokens = shorter
        return tokens

    def _with_shortest_period_folded(self, tokens: NDArray[np.int64], threshold: int) -> NDArray[np.int64] | None:
        """Every tandem repeat of the shortest period folded; None where there is none that pays.

        A longer period may be several of a shorter one as soon as something was folded: one at a time.
        """
        grams, width = first_appearance(tokens), 1
        while _repeats(grams):
            distance = return_distances(grams)
            for period in np.unique(distance[(distance >= width) & (distance < 2 * width)]):
                shorter = self._with_period_folded(tokens, int(period), threshold)
                if shorter is not None:
                    return shorter
            grams = doubled(grams, width)
            width *= 2
        return None

    def _with_period_folded(self, tokens: NDArray[np.int64], period: int, threshold: int) -> NDArray[np.int64] | None:
        if len(tokens) < 2 * period:
            return None
        equal = np.concatenate([[False], tokens[:-period] == tokens[period:], [False]])
        edges = np.flatnonzero(equal[1:] != equal[:-1])
        begins, lengths = edges[::2], edges[1::2] - edges[::2]
        long = lengths >= period
        parts: list[NDArray[np.int64]] = []
        done = 0
        for begin, length in zip(begins[long].tolist(), lengths[long].tolist(), strict=True):
            first = max(begin, done)
            copies = (begin + length - first) // period + 1
            body = tokens[first : first + period]
            if copies < 2 or (period * (copies - 1) < threshold and not self._holds_entries(body)):
                continue
            if period == 1:
                symbol, repeat = self.pair_of[int(body[0])]
                token = self._number(symbol, repeat * copies)
            else:
                token = self._number(self._rule(body), copies)
            parts += [tokens[done:first], np.array([token], np.int64)]
            done = first + period * copies
        if not parts:
            return None
        return np.concatenate([*parts, tokens[done:]])

    def _holds_entries(self, body: NDArray[np.int64]) -> bool:
        """Is there a token that no literal stretch could take? Then folding saves entries at any length."""
        return any(self._is_entry(token) for token in body.tolist())

    def _is_entry(self, token: int) -> bool:
        symbol, repeat = self.pair_of[token]
        return symbol < 0 or repeat >= self.threshold

    def _share_returning_motifs(self) -> None:
        """Give a rule to windows that come back without being adjacent, the largest saving first."""
        for _ in range(_MAX_ROUNDS):
            grams, width = first_appearance(self.tokens), 1
            best, best_width = np.zeros(0, np.int64), 0
            while _repeats(grams):
                if width >= _SHORTEST_RETURNING_MOTIF:
                    places = _most_frequent(grams, width)
                    if (len(places) - 1) * (width - 1) > (len(best) - 1) * (best_width - 1):
                        best, best_width = places, width
                grams, width = doubled(grams, width), 2 * width
            if (len(best) - 1) * (best_width - 1) < self.threshold or len(best) < 2:
                return
            self._share(*self._grown(best, best_width))

    def _share(self, places: NDArray[np.int64], width: int) -> None:
        """Replace the windows of ``width`` tokens at ``places`` by one rule."""
        keep = np.ones(len(self.tokens), np.bool_)
        for position in places.tolist():
            keep[position + 1 : position + width] = False
        replaced = self.tokens.copy()
        replaced[places] = self._number(self._rule(self.tokens[places[0] : places[0] + width]), 1)
        self.tokens = replaced[keep]

    def _grown(self, places: NDArray[np.int64], width: int) -> tuple[NDArray[np.int64], int]:
        tokens = self.tokens
        room = int(np.diff(places).min())
        while width < room and places[-1] + width < len(tokens) and _alike(tokens[places + width]):
            width += 1
        while width < room and places[0] > 0 and _alike(tokens[places - 1]):
            places, width = places - 1, width + 1
        return places, width

    def _written(self, record_of_event: NDArray[np.int64]) -> Program:
        """The root: entries as they are, stretches of plain runs as a literal where that is shorter."""
        tokens = self.tokens
        ends = np.cumsum(np.array(self._event_lengths(), np.int64)[tokens])
        entry = np.array([self._is_entry(number) for number in range(len(self.pair_of))])[tokens]
        changes = np.flatnonzero(entry[1:] != entry[:-1]) + 1
        root: list[int] = []
        for start, end in pairwise([0, *changes.tolist(), len(tokens)]):
            if entry[start] or end - start < _SHORTEST_LITERAL:
                root.extend(value for token in tokens[start:end].tolist() for value in self.pair_of[token])
            else:
                first, last = (0 if start == 0 else ends[start - 1]), ends[end - 1] - 1
                root.extend((LITERAL, int(record_of_event[last] - record_of_event[first]) + 1))
        return self._renumbered(tuple(root))

    def _event_lengths(self) -> list[int]:
        of_rule: list[int] = []
        for rule in self.rules:
            of_rule.append(sum(r * (1 if s >= 0 else of_rule[-2 - s]) for s, r in pairs(rule)))
        return [repeat * (1 if symbol >= 0 else of_rule[-2 - symbol]) for symbol, repeat in self.pair_of]

    def _renumbered(self, root: Rule) -> Program:
        """Rules that are used, outermost first: made in the order inner to outer, so reversed."""
        used: set[int] = set()
        waiting = [s for s, _ in pairs(root) if s < LITERAL]
        while waiting:
            symbol = waiting.pop()
            if symbol not in used:
                used.add(symbol)
                waiting += [s for s, _ in pairs(self.rules[-2 - symbol]) if s < LITERAL]
        renamed = {old: rule_symbol(new) for new, old in enumerate(sorted(used), start=1)}

        def rename(rule: Rule) -> Rule:
            return tuple(v for s, r in pairs(rule) for v in (renamed.get(s, s), r))

        return (rename(root), *(rename(self.rules[-2 - old]) for old in sorted(used)))


def _repeats(grams: NDArray[np.int64]) -> bool:
    """Does any window come twice? Longer ones cannot where none of these does."""
    return len(grams) > 0 and int(grams.max()) < len(grams) - 1


def _most_frequent(grams: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """Places of the window that comes most often without overlapping itself."""
    places: dict[int, list[int]] = {}
    for position in np.flatnonzero(np.bincount(grams)[grams] > 1).tolist():
        own = places.setdefault(int(grams[position]), [])
        if not own or position >= own[-1] + width:
            own.append(position)
    return np.array(max(places.values(), key=len, default=[]), np.int64)


def _alike(tokens: NDArray[np.int64]) -> bool:
    return bool((tokens == tokens[0]).all())
