"""The command line as a person types it."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

import tanbo_engine
from protocol.config import Settings
from protocol.options import fields

from .talk import ROOT, Engine, command_line, run_engine


def test_version() -> None:
    expected = f"tanbo-engine {tanbo_engine.__version__}\n"
    assert command_line("--version") == (0, expected, "")


def test_help_names_every_option() -> None:
    status, out, _ = command_line("--help")
    assert status == 0
    for name in (*fields(Settings), "config", "version"):
        assert f"--{name}" in out
    assert "bench" in out
    assert "perft" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--nodes", "x"], "--nodes: expected a whole number from 1"),
        (["--nodes"], "argument --nodes: expected one argument"),
        (["--size", "8"], "no set-up for 8x8: the nearest sizes are"),
        (["--setup", "x"], "unknown set-up 'x': use dense-WxH"),
        (["--node", "5"], "unrecognized arguments: --node 5"),
        (["paly"], "unrecognized arguments: paly"),
        (["play", "--color", "x"], "--color: expected b, w, both or none, got 'x'"),
        (["play", "--setup", "x"], "unknown set-up 'x'"),
        (["play", "--time", "0"], "--time: expected a number above 0"),
        (["--config", "/nonexistent"], "cannot read /nonexistent"),
        (["--log", "/nonexistent/x"], "cannot write the log /nonexistent/x: No such"),
        (["perft"], "the following arguments are required: --depth"),
        (["perft", "--depth", "x"], "invalid number 'x'"),
        (["perft", "--depth", "1", "--setup", "x"], "unknown set-up 'x'"),
        (["bench", "x"], "unrecognized arguments: x"),
        (["--nodes", "9" * 5000], "--nodes: expected"),
    ],
)
def test_wrong_usage_is_one_line(arguments: list[str], words: str) -> None:
    status, out, err = command_line(*arguments)
    assert (status, out) == (2, "")
    assert words in err
    assert err.startswith("tanbo-engine")
    assert err.count("\n") == 1
    assert len(err) < 300


def test_an_unknown_key_names_key_and_file(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_text("tme = 5\n")
    status, _, err = command_line("--config", str(file))
    assert status == 2
    assert f"{file}: unknown key 'tme'" in err


def test_options_reach_the_session(tmp_path: Path) -> None:
    file = tmp_path / "my.toml"
    file.write_text('setup = "classic-9x9"\nnodes = 30\n')
    log = tmp_path / "log"
    status, responses, err = run_engine(
        b"showboard\nplay b B2\ngenmove b\n",
        *("--config", str(file), "--seed", "3", "--accept-start-stones"),
        *("--log", str(log)),
    )
    assert (status, err) == (0, "")
    assert "set-up: classic-9x9" in responses[0].text
    assert responses[1].ok
    lines = log.read_text().splitlines()
    assert lines[0].endswith("classic-9x9, seed 3")
    assert any(line.startswith("# 30 visits") for line in lines)


def test_a_log_is_appended_to(tmp_path: Path) -> None:
    log = tmp_path / "log"
    for _ in range(2):
        run_engine(b"name\n", "--log", str(log))
    assert log.read_text().count("> name\n< = tanbo-engine\n") == 2


def test_perft() -> None:
    assert command_line("perft", "--depth", "2") == (0, "552\n", "")
    answer = command_line("perft", "--setup", "dense-3x3", "--depth", "1")
    assert answer == (0, "4\n", "")


def test_bench_for_programs() -> None:
    status, out, err = command_line("bench", "--json")
    assert (status, err) == (0, "")
    results = json.loads(out)
    assert set(results) == {
        "signature",
        "nodes_per_second",
        "positions_per_second",
        "compiled",
        "playouts",
    }
    assert results["compiled"] is True


def test_a_missing_kernel_is_one_line() -> None:
    code = (
        "import sys\n"
        "class Finder:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'tanbo_engine':\n"
        "            raise ImportError('tanbo_engine: not built; run: x')\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from protocol.cli import main\n"
        "sys.exit(main())\n"
    )
    with Engine(code=code) as engine:
        assert engine.finish() == (1, "", "tanbo_engine: not built; run: x\n")


def test_start_up_imports_nothing_heavy() -> None:
    code = (
        "import sys, anyio, msgspec\n"
        "anyio.run(anyio.sleep, 0)\n"
        "floor = set(sys.modules)\n"
        "from protocol.cli import main\n"
        "main()\n"
        "heavy = {'tomllib', 'secrets', 'shutil', 'dataclasses', 'json',"
        " 'tanbo_engine.bench'}\n"
        "print(*sorted(heavy & (set(sys.modules) - floor)))\n"
    )
    with Engine("--nodes", "5", code=code) as engine:
        assert engine.finish(b"name\n") == (0, "= tanbo-engine\n\n\n", "")


def test_a_version_nobody_reads() -> None:
    with Engine("--version") as engine:
        assert engine.process.stdout is not None
        engine.process.stdout.close()
        engine.process.stdout = None
        assert engine.process.wait(10) == 0
        assert engine.process.stderr is not None
        assert engine.process.stderr.read() == b""
        engine.process.stdout = open("/dev/null", "rb")  # noqa: SIM115, PTH123


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux")
@pytest.mark.parametrize(
    ("command", "data"),
    [
        ("", "name"),
        ("", "lz-analyze b 10"),
        ("perft --depth 2", ""),
        ("--help", ""),
        ("--version", ""),
        ("play --help", ""),
        ("solve --setup dense-3x5", ""),
        ("analysis", '{"id": "a", "action": "query_version"}'),
    ],
)
def test_output_that_cannot_be_written_is_an_error(command: str, data: str) -> None:
    run = f"{sys.executable} -m protocol {command}"
    done = subprocess.run(
        ["/bin/sh", "-c", f"{run} >/dev/full"],
        input=f"{data}\n".encode(),
        capture_output=True,
        cwd=ROOT,
        check=False,
    )
    name = "tanbo-engine"
    if not command.startswith("-"):
        name += f" {command.partition(' ')[0]}"
    told = f"{name.rstrip()}: No space left on device\n"
    assert (done.returncode, done.stderr.decode().endswith(told)) == (1, True)


def test_the_engine_never_imports_the_protocol() -> None:
    for path in (ROOT / "tanbo_engine").glob("*.py*"):
        for node in ast.walk(ast.parse(path.read_text())):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            assert not any(name.split(".")[0] == "protocol" for name in names), path
