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

from commcanary.artifacts.program import LITERAL, Program, Rule, pairs, rule_symbol
from commcanary.compile.returning import returning_motifs
from commcanary.compile.tandem import tandem_repeats

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from commcanary.compile.tandem import Tandem

_LARGEST_THRESHOLD = 8
_MAX_ROUNDS = 200
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
            entry = np.array([self._is_entry(number) for number in range(len(self.pair_of))])[tokens]
            found = tandem_repeats(tokens, entry, threshold)
            if not found:
                break
            tokens = self._with_folded(tokens, found)
        return tokens

    def _with_folded(self, tokens: NDArray[np.int64], found: list[Tandem]) -> NDArray[np.int64]:
        parts: list[NDArray[np.int64]] = []
        done = 0
        for begin, period, copies in found:
            body = tokens[begin : begin + period]
            symbol, repeat = self.pair_of[int(body[0])] if period == 1 else (self._rule(body), 1)
            parts += [tokens[done:begin], np.array([self._number(symbol, repeat * copies)], np.int64)]
            done = begin + period * copies
        return np.concatenate([*parts, tokens[done:]])

    def _is_entry(self, token: int) -> bool:
        symbol, repeat = self.pair_of[token]
        return symbol < 0 or repeat >= self.threshold

    def _share_returning_motifs(self) -> None:
        """Give a rule to windows that come back without being adjacent, the largest saving first."""
        for _ in range(_MAX_ROUNDS):
            found = returning_motifs(self.tokens, self.threshold)
            if not found:
                return
            keep = np.ones(len(self.tokens), np.bool_)
            replaced = self.tokens.copy()
            for places, width in found:
                replaced[places] = self._number(self._rule(self.tokens[places[0] : places[0] + width]), 1)
                keep[(places[:, None] + np.arange(1, width)).reshape(-1)] = False
            self.tokens = replaced[keep]

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
