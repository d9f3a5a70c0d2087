"""What anyone who can connect to the database can announce."""

from __future__ import annotations

import pytest

from urlmode._listener import parse_announcements

ID = "00000000-0000-4000-8000-000000000001"


@pytest.mark.parametrize(
    "payload",
    [b"", b"{", b"\xff", b"1", b"[" * 7900,
     b'{"id":1}', b'{"id":"\\ud800"}', b'{"id":"x"}', b'{"id":"%s\\n"}' % ID.encode()],
)  # fmt: skip
def test_what_is_no_announcement(payload: bytes) -> None:
    assert parse_announcements(payload) == []


def test_one_and_several() -> None:
    assert parse_announcements(b'{"id":"%s"}' % ID.encode()) == [{"id": ID}]
    assert parse_announcements(b'[{"id":"%s"},{"id":"x"}]' % ID.encode()) == [{"id": ID}]
