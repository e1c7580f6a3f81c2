"""The codec."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol import gtp
from protocol.gtp import Command, Response

IDS = st.none() | st.integers(0, gtp.MAX_ID)
WORDS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1).filter(
    lambda word: "#" not in word
)
NAMES = WORDS.filter(lambda word: not word[0].isdigit())
TEXT_LINES = st.text(st.characters(min_codepoint=32, max_codepoint=126)).filter(
    lambda line: line.strip() != ""
)


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("name", Command(None, "name")),
        ("name\r", Command(None, "name")),
        ("  play\tb   C4  ", Command(None, "play", ("b", "C4"))),
        ("12 play b C4", Command(12, "play", ("b", "C4"))),
        ("12name", Command(12, "name")),
        ("0 name", Command(0, "name")),
        ("0000000000000007 name", Command(7, "name")),
        ("2147483647 name", Command(2147483647, "name")),
        ("2147483648 name", Command(None, "2147483648", ("name",))),
        ("9" * 5000 + " name", Command(None, "9" * 5000, ("name",))),
        ("-1 name", Command(None, "-1", ("name",))),
        ("12", Command(12, "")),
        ("name # comment", Command(None, "name")),
        ("name#comment", Command(None, "name")),
        ("na\x00me\x7f\x1b", Command(None, "name")),
        ("n\u00e4me \u2212 x\ufeff", Command(None, "n?me", ("?", "x?"))),
        ("\ufeffname", Command(None, "name")),
        ("\u0663 name", Command(None, "?", ("name",))),
        ("Name", Command(None, "Name")),
    ],
)
def test_decode_command(line: str, command: Command) -> None:
    assert gtp.decode_command(line) == command


@pytest.mark.parametrize(
    "line", ["", " ", "\t", "\r", "# x", "  # 3 name", "\x00", "\ufeff"]
)
def test_blank_lines_are_no_commands(line: str) -> None:
    assert gtp.decode_command(line) is None


@pytest.mark.parametrize(
    ("response", "text"),
    [
        (Response(True, ""), "= \n\n"),
        (Response(True, "", 7), "=7 \n\n"),
        (Response(True, "2", 7), "=7 2\n\n"),
        (Response(False, "illegal move"), "? illegal move\n\n"),
        (Response(False, "x", 0), "?0 x\n\n"),
        (Response(True, "a\nb"), "= a\nb\n\n"),
        (Response(True, "\na\nb"), "= \na\nb\n\n"),
        (Response(True, "a\n\n \n\t\nb\n\n"), "= a\nb\n\n"),
        (Response(True, "a\tb\x07\u00e4"), "= a b??\n\n"),
    ],
)
def test_encode_response(response: Response, text: str) -> None:
    assert gtp.encode_response(response) == text


@given(IDS, NAMES, st.lists(WORDS))
def test_commands_survive_the_way(
    number: int | None, name: str, args: list[str]
) -> None:
    command = Command(number, name, tuple(args))
    assert gtp.decode_command(gtp.encode_command(command)) == command


@given(IDS, st.booleans(), st.lists(TEXT_LINES, min_size=1))
def test_responses_survive_the_way(
    number: int | None, ok: bool, lines: list[str]
) -> None:
    response = Response(ok, "\n".join(lines), number)
    assert gtp.decode_response(gtp.encode_response(response)) == response


@given(st.text(), IDS, st.booleans())
def test_responses_are_ascii_and_end_at_their_only_empty_line(
    text: str, number: int | None, ok: bool
) -> None:
    encoded = gtp.encode_response(Response(ok, text, number))
    assert encoded.isascii()
    assert "\t" not in encoded
    assert encoded.index("\n\n") == len(encoded) - 2


@given(st.text())
def test_any_line_decodes(line: str) -> None:
    command = gtp.decode_command(line)
    assert command is None or all(word.isprintable() for word in command.args)


def test_decode_response_takes_crlf_and_other_engines_habits() -> None:
    assert gtp.decode_response("=\r\n\r\n") == Response(True, "")
    assert gtp.decode_response("=3\n\n") == Response(True, "", 3)
    assert gtp.decode_response("= a\r\nb\r\n\r\n") == Response(True, "a\nb")


@pytest.mark.parametrize("text", ["", "\n\n", "name\n\n", "=2147483648 x\n\n"])
def test_decode_response_refuses(text: str) -> None:
    with pytest.raises(gtp.ResponseError):
        gtp.decode_response(text)
