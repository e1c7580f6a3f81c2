import pytest

from tanbo_engine import bench, notation, rules


@pytest.mark.parametrize("text", bench.MIDDLE_GAMES)
def test_a_benchmark_position_can_arise_and_goes_on(text: str) -> None:
    position = notation.parse_position(text)
    rules.check_position(position)
    assert rules.winner(position) is None
    assert notation.format_position(position) == text


SIGNATURE = 525_614
"""Of this version; a change of it is a change of play: say so, ``Bench: N``."""


def test_the_benchmark_measures_every_setup_with_the_compiled_kernel() -> None:
    told: list[str] = []
    results = bench.run(told.append)
    assert results.compiled
    assert results.signature == SIGNATURE
    assert results.nodes_per_second > 1000
    assert results.positions_per_second > 1000
    assert [row.setup for row in results.playouts] == list(bench.PLAYOUT_SETUPS)
    for row in results.playouts:
        assert row.ns_per_move * row.moves_per_second == pytest.approx(1e9)
        assert row.playouts_per_second < row.moves_per_second
    assert len(told) == 6
    assert f"signature         {results.signature}" in bench.format_results(results)
