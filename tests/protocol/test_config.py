"""Settings from command line and file."""

from pathlib import Path

import pytest

from protocol import config
from protocol.config import Settings
from protocol.options import SettingsError, fields, load


def write(folder: Path, text: str) -> str:
    path = folder / "engine.toml"
    path.write_text(text)
    return str(path)


def test_defaults() -> None:
    settings = load(Settings, {})
    assert settings == Settings()
    assert settings.memory == 256
    assert settings.threads is None
    assert config.start_setup(settings).name == "dense-7x7"


def test_every_setting_is_described_and_bounded() -> None:
    for field in fields(Settings).values():
        assert field.meta.description
        if field.kind in (int, float):
            assert field.meta.le is not None
            assert (field.meta.ge is None) != (field.meta.gt is None)


def test_all_settings_of_a_file(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        'size = "7x9"\nsetup = "dense-7x9"\ncanvas = true\nlock-size = true\n'
        "time = 2\nnodes = 100\nmemory = 8\nseed = 0\naccept-start-stones = true\n"
        'threads = 2\nplayer = "puct"\n'
        'log = "x.log"\nlevel = 3\nvariety = 1\nresign = 2.5\nponder = true\n',
    )
    assert load(Settings, {}, file) == Settings(
        size="7x9",
        setup="dense-7x9",
        canvas=True,
        lock_size=True,
        time=2.0,
        nodes=100,
        level=3,
        variety=1.0,
        resign=2.5,
        ponder=True,
        memory=8,
        threads=2,
        player="puct",
        seed=0,
        accept_start_stones=True,
        log="x.log",
    )


def test_a_file_without_an_end(tmp_path: Path) -> None:
    file = write(tmp_path, "#" * (1 << 20) + "\n")
    with pytest.raises(SettingsError, match=r"cannot read .*: it has more than 1 MB$"):
        load(Settings, {}, file)


def test_the_command_line_wins(tmp_path: Path) -> None:
    file = write(tmp_path, "nodes = 100\nmemory = 8\n")
    settings = load(Settings, {"nodes": "7", "canvas": True}, file)
    assert (settings.nodes, settings.memory, settings.canvas) == (7, 8, True)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("node = 5", "unknown key 'node': use size, setup, canvas, lock-size,"),
        ("lock_size = true", "unknown key 'lock_size'"),
        ("[nodes]\nx = 1", "nodes: expected a whole number from 1 to 1000000000"),
        ("nodes = '5'", "nodes: expected a whole number from 1"),
        ("nodes = 0", "nodes: expected a whole number from 1 to 1000000000, got 0"),
        ("nodes = 5.5", "nodes: expected a whole number"),
        ("nodes = true", "nodes: expected a whole number"),
        ("time = 0", "time: expected a number above 0, at most 1000000, got 0"),
        ("time = nan", "time: expected a number above 0"),
        ("time = inf", "time: expected a number above 0"),
        ("canvas = 1", "canvas: expected true or false"),
        ("size = 7", 'size: expected text such as "7x9", got 7'),
        ("nodes =", "is not a TOML file: "),
        ("nodes = 1\nnodes = 2", "is not a TOML file: "),
        ("seed = 99999999999999999999", "seed: expected a whole number from 0"),
    ],
)
def test_wrong_files(tmp_path: Path, text: str, words: str) -> None:
    file = write(tmp_path, text)
    with pytest.raises(SettingsError) as caught:
        load(Settings, {}, file)
    assert words in str(caught.value)
    assert file in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"cannot read .*: No such file"):
        load(Settings, {}, str(tmp_path / "none"))
    with pytest.raises(SettingsError, match=r"cannot read .*: Is a directory"):
        load(Settings, {}, str(tmp_path))
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\x00")
    with pytest.raises(SettingsError, match="is not a TOML file"):
        load(Settings, {}, str(binary))


@pytest.mark.parametrize(
    ("text", "value"), [(".2", 0.2), ("2.", 2.0), ("+1", 1.0), ("2e0", 2.0)]
)
def test_decimals_without_a_leading_or_trailing_digit(text: str, value: float) -> None:
    assert load(Settings, {"time": text}).time == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("nodes", "x"),
        ("nodes", ""),
        ("nodes", "0"),
        ("nodes", "-5"),
        ("nodes", "1.5"),
        ("nodes", "9" * 5000),
        ("time", "x"),
        ("time", "-1"),
        ("time", "nan"),
        *(
            ("time", text)
            for text in ("1e999", "inf", "", ".", "0x1", "1_0", " 1", "1e")
        ),
        *(("variety", text) for text in ("nan", "-inf", "", "0x0", "0_1", "1e400")),
        ("memory", "0"),
        ("threads", "0"),
        ("threads", "257"),
        ("seed", "-1"),
        ("seed", str(2**63)),
    ],
)
def test_wrong_options(name: str, value: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load(Settings, {name: value})
    assert str(caught.value).startswith(f"--{name}: expected a ")
    assert len(str(caught.value)) < 150


@pytest.mark.parametrize(
    ("settings", "setup"),
    [
        (Settings(), "dense-7x7"),
        (Settings(size="9"), "classic-9x9"),
        (Settings(size="7x9"), "dense-7x9"),
        (Settings(size="7X9"), "dense-7x9"),
        (Settings(size="7:9"), "dense-7x9"),
        (Settings(setup="classic-7x7"), "classic-7x7"),
        (Settings(setup="classic-7x7", size="7"), "classic-7x7"),
    ],
)
def test_start_setup(settings: Settings, setup: str) -> None:
    assert config.start_setup(settings).name == setup


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (Settings(size="x"), "invalid size 'x': use WxH"),
        (Settings(size="9" * 5000), "invalid size"),
        (Settings(size="8"), "no set-up for 8x8: the nearest sizes are"),
        (Settings(setup="x"), "unknown set-up 'x'"),
        (Settings(setup="dense-9x9"), "no set-up dense-9x9"),
        (Settings(setup="dense-7x9", size="7"), "dense-7x9 has not the size 7x7"),
    ],
)
def test_wrong_starts(settings: Settings, words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        config.start_setup(settings)
    assert words in str(caught.value)


def test_one_of_size_and_setup_on_the_command_line_beats_the_other_in_the_file(
    tmp_path: Path,
) -> None:
    file = tmp_path / "engine.toml"
    file.write_text('setup = "classic-9x9"\nnodes = 5\n')
    settings = load(Settings, {"size": "7"}, str(file), config.EXCLUSIVE)
    assert (settings.size, settings.setup, settings.nodes) == ("7", None, 5)
