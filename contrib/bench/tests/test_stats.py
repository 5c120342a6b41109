"""Medians, spreads, ratios."""

from __future__ import annotations

import unittest

from comparison.stats import ratios, summarise


class Summaries(unittest.TestCase):
    def test_odd_number_of_values(self) -> None:
        it = summarise([5.0, 1.0, 3.0])
        assert it is not None
        self.assertEqual((it.median, it.low, it.high, it.count), (3.0, 1.0, 5.0, 3))

    def test_even_number_of_values(self) -> None:
        it = summarise([4.0, 1.0])
        assert it is not None
        self.assertEqual(it.median, 2.5)

    def test_nothing(self) -> None:
        self.assertIsNone(summarise([]))


class Ratios(unittest.TestCase):
    def test_are_paired_by_round(self) -> None:
        self.assertEqual(ratios([10.0, 30.0], [5.0, 10.0]), [2.0, 3.0])

    def test_missing_rounds_are_left_out(self) -> None:
        self.assertEqual(ratios([10.0, None, 30.0, 1.0], [5.0, 1.0, None, 0.0]), [2.0])

    def test_median_of_ratios_is_not_ratio_of_medians(self) -> None:
        it = summarise(ratios([1.0, 20.0, 6.0], [2.0, 10.0, 3.0]))
        assert it is not None
        self.assertEqual(it.median, 2.0)


if __name__ == "__main__":
    unittest.main()
