"""``completion``: a script that has the shell complete commands, options and their values."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterable, Iterator

__all__ = ["script"]

# zsh's own $path is its $PATH, hence $said
_SCRIPT = """\
_evenhand() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} said="" place
    for ((place = 1; place < COMP_CWORD; place++)); do
        case "$said ${{COMP_WORDS[place]}}" in
            {paths}) said="$said ${{COMP_WORDS[place]}}" ;;
        esac
    done
    case "$said $before" in
{values}
    esac
    case "$said:$word" in
{words}
    esac
}}
complete -o default -F _evenhand evenhand
"""
_IN_ZSH = """\
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
autoload -U +X bashcompinit && bashcompinit
"""


def script(parser: argparse.ArgumentParser, shell: str) -> str:
    """Return the script for `shell` ("bash" or "zsh"), read off the parser.

    Where nothing of ours fits, the shell completes names of files.
    """
    known = dict(_commands(parser, ""))
    paths = "|".join(shlex.quote(path) for path in known if path)
    words = [
        f"        {shlex.quote(f'{path}:{begin}')}*) {_reply(words)} ;;"
        for path, each in known.items()
        for begin, words in (("-", _options(each)), ("", _words(each)))
        if words
    ]
    values = [
        f"        {shlex.quote(f'{path} {option}')}) {_reply(map(str, action.choices))}; return ;;"
        for path, each in known.items()
        for action in each._actions
        if action.choices and action.option_strings
        for option in action.option_strings
    ]
    text = _SCRIPT.format(paths=paths, values="\n".join(values), words="\n".join(words))
    return f"{_IN_ZSH}{text}" if shell == "zsh" else text


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
    """Return what may follow: commands, or values of a place that has some."""
    places = (action for action in parser._actions if not action.option_strings)
    return [str(choice) for action in places for choice in action.choices or ()]


def _options(parser: argparse.ArgumentParser) -> list[str]:
    return [option for action in parser._actions for option in action.option_strings]
