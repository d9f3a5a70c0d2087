"""What will go is said once, where it is used."""

from __future__ import annotations

import warnings

from urlmode._core.deprecated import deprecated


def old() -> int:
    deprecated("old()", "call fresh()")
    return 1


def test_it_warns_once_and_names_its_caller() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert [old(), old()] == [1, 1]
    (warning,) = caught
    assert warning.category is DeprecationWarning
    assert str(warning.message) == "old() is deprecated, and goes with the next major version; call fresh()"
    assert warning.filename == __file__
