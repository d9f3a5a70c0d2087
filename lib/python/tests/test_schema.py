"""Values are checked against JSON Schema as in the other languages (tests/vectors/schema-cases.json)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from conftest import VECTORS

from urlmode._core.formats import FORM_FORMATS
from urlmode._core.schema import Fault, Schema

CASES: list[dict[str, Any]] = json.loads((VECTORS / "schema-cases.json").read_text("utf-8"))


@pytest.mark.parametrize("group", CASES, ids=lambda group: group["name"])
def test_the_first_mistake_has_a_place_and_a_sentence(group: dict[str, Any]) -> None:
    schema = Schema(group["schema"], FORM_FORMATS)
    for case in group["cases"]:
        expected = Fault(case["pointer"], case["must"]) if "must" in case else None
        assert schema.fault_in("it", case["value"]) == expected, case["value"]
