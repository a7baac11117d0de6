"""``completion``: a script that has the shell complete commands, options and their values."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterable, Iterator

__all__ = ["script"]

_SCRIPT = """\
_evenhand() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} path="" place
    for ((place = 1; place < COMP_CWORD; place++)); do
        case "$path ${{COMP_WORDS[place]}}" in
            {paths}) path="$path ${{COMP_WORDS[place]}}" ;;
        esac
    done
    case "$path $before" in
{values}
    esac
    case "$path" in
{words}
    esac
}}
complete -o default -F _evenhand evenhand
"""


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return the script for `shell` ("bash" or "zsh"), read off the parser.

    Where nothing of ours fits, the shell completes names of files.
    """
    known = dict(_commands(parser, ""))
    paths = "|".join(shlex.quote(path) for path in known if path)
    words = [f"        {shlex.quote(path)}) {_reply(_words(each))} ;;" for path, each in known.items()]
    values = [
        f"        {shlex.quote(f'{path} {option}')}) {_reply(map(str, action.choices))}; return ;;"
        for path, each in known.items()
        for action in each._actions
        if action.choices and action.option_strings
        for option in action.option_strings
    ]
    text = _SCRIPT.format(paths=paths, values="\n".join(values), words="\n".join(words))
    return f"autoload -U +X bashcompinit && bashcompinit\n{text}" if shell == "zsh" else text


def _reply(words: Iterable[str]) -> str:
    return f'COMPREPLY=($(compgen -W {shlex.quote(" ".join(words))} -- "$word"))'


def _commands(parser: argparse.ArgumentParser, path: str) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield every parser with the commands that lead to it."""
    yield path, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from _commands(inner, f"{path} {name}")


def _words(parser: argparse.ArgumentParser) -> list[str]:
    """Return what may follow: commands, values of a place that has some, and options."""
    found: list[str] = []
    for action in parser._actions:
        if not action.option_strings and action.choices:
            found += map(str, action.choices)
        found += action.option_strings
    return found
