"""Sockets that the server listens on pass on that small answers leave at once."""

from __future__ import annotations

import socket
from pathlib import Path

from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session

from app.serving.promptness import answer_at_once, tell_theme_once


def test_connections_inherit_the_option_and_nothing_stays_open() -> None:
    with socket.socket() as listening:  # without the protocol, as the server's own
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        before = len(list(Path("/dev/fd").iterdir()))
        assert answer_at_once() >= 1
        assert len(list(Path("/dev/fd").iterdir())) == before
        with socket.create_connection(listening.getsockname()):
            accepted = listening.accept()[0]
            with accepted:
                assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_the_theme_is_put_together_once_and_is_the_same(monkeypatch) -> None:
    populate, sections = app_session._populate_theme_msg, ("theme", "theme.light", "theme.dark.sidebar")
    asked: list[str] = []

    def counted(message: CustomThemeConfig, section: str = "theme") -> None:
        asked.append(section)
        message.body_font = section
        message.base_font_size = 15

    monkeypatch.setattr(app_session, "_populate_theme_msg", counted)
    tell_theme_once()
    for _ in range(3):
        for section in sections:
            told, wanted = CustomThemeConfig(), CustomThemeConfig()
            app_session._populate_theme_msg(told, section)
            counted(wanted, section)
            assert told == wanted
    assert asked.count("theme.light") == 1 + 3, "once, and three times for the comparison"
    assert callable(populate), "this Streamlit still puts themes together there"
