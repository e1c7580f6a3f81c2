import json
from pathlib import Path

import pytest

from tanbo_engine import weights

from .support import run

pytest.importorskip("jax")
pytest.importorskip("optax")


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("games")
    setup = ("--setup", "dense-5x7")
    run("selfplay.py", "--out", folder, "--games", 20, "--visits", 30, *setup)
    return folder


def test_weights_are_learnt_and_the_record_says_how(
    games: Path, tmp_path: Path
) -> None:
    files = [tmp_path / "one.bin", tmp_path / "two.bin"]
    for file in files:
        done = run("train.py", games, "--out", file, "--epochs", 2)
        assert done.returncode == 0, done.stderr
    assert files[0].read_bytes() == files[1].read_bytes()
    record = json.loads(files[0].with_suffix(".json").read_text())
    assert record["weights"] == weights.file_id(files[0])
    assert record["folders"] == [str(games)]
    assert [its["games"] for its in record["data"]] == [20]
    assert {its["source"]["weights"] for its in record["data"]} == {weights.file_id()}
    assert record["kernel_difference"] < 0.01
    for its in record["measured"].values():
        assert its["learned"] > its["held_out"] > 0
        assert its["value"] < 1
    try:
        weights.load(files[0])
    finally:
        weights.load()


def test_a_folder_without_games_is_refused(tmp_path: Path) -> None:
    done = run("train.py", tmp_path, "--out", tmp_path / "w.bin")
    assert done.returncode == 2
    assert "has no games" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_set_up_with_nothing_to_learn_is_refused(tmp_path: Path) -> None:
    setup = ("--setup", "dense-3x3", "--visits", 100)
    run("selfplay.py", "--out", tmp_path, "--games", 20, *setup)
    done = run("train.py", tmp_path, "--out", tmp_path / "w.bin")
    assert done.returncode == 2
    assert "too few open positions of dense-3x3" in done.stderr
    assert "Traceback" not in done.stderr
