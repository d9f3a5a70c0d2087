"""Reads the `oauth` part of a description in lib/providers (lib/providers/ACCOUNTS.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from .._core import contract_texts as texts
from .._core.arguments import check_text
from .._core.contract_limits import ACCOUNT_HOST_MAX, ACCOUNT_PARAMETER_MAX, PROVIDER_MAX
from .._core.contract_words import TAKEN_PARAMETERS
from .._core.shipped import shipped_file

_NAME = re.compile(rf"[a-z0-9][a-z0-9_-]{{0,{PROVIDER_MAX - 1}}}")
_LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
# What the value of a variable can be.
_VALUES = {
    "label": re.compile(_LABEL),
    "labels": re.compile(rf"(?=.{{1,{ACCOUNT_HOST_MAX}}}$){_LABEL}(?:\.{_LABEL})*"),
    "url": re.compile(r"(https://[\w.~:-]+|http://(127\.0\.0\.1|localhost|\[::1\])(:\d+)?)(/[\w.~:/@-]*)?", re.ASCII),
}
_ADDRESSES = ("issuer", "authorization_endpoint", "token_endpoint", "revocation_endpoint", "refresh_endpoint")


def read_description(name: object) -> dict[str, Any]:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError("description must be the name of a description of lib/providers")
    try:
        content = json.loads(shipped_file(f"providers/{name}.json").read_text("utf-8"))
    except OSError:
        raise ValueError(f"there is no description {name}") from None
    oauth = content.get("oauth")
    if not isinstance(oauth, dict):
        raise ValueError(f"the description {name} does not say how an account is connected: it has no oauth")
    return oauth


def fill_in(oauth: Mapping[str, Any], given: Mapping[str, str]) -> dict[str, Any]:
    """The description with its variables filled in."""
    variables: dict[str, Any] = oauth.get("variables", {})
    for name in given:
        if name not in variables:
            raise ValueError(f"variables.{name} {texts.VARIABLE_UNKNOWN}")
    values: dict[str, str] = {}
    for name, variable in variables.items():
        value = given.get(name, variable.get("default"))
        if value is None:
            raise ValueError(f"variables.{name} is required")
        if not isinstance(value, str) or not _VALUES[variable["as"]].fullmatch(value) or not _has_host(variable, value):
            raise ValueError(f"variables.{name} must be " + (
                texts.HTTPS_WITHOUT_QUERY if variable["as"] == "url" else
                f"letters, digits and hyphens{', with dots between them' if variable['as'] == 'labels' else ''}"))
        if "among" in variable and value not in variable["among"]:
            raise ValueError(f"variables.{name} {texts.must_be_one_of(', '.join(variable['among']))}")
        values[name] = value

    def fill(template: str) -> str:
        return re.sub(r"\{(\w+)\}", lambda match: values[match[1]], template)

    filled = {**oauth, **{name: fill(oauth[name]) for name in _ADDRESSES if name in oauth}}
    if "endpoint" in oauth.get("account", {}):
        filled["account"] = {**oauth["account"], "endpoint": fill(oauth["account"]["endpoint"])}
    if "long_lived" in oauth:
        filled["long_lived"] = {
            name: {**request, "endpoint": fill(request["endpoint"])} for name, request in oauth["long_lived"].items()
        }
    if "signed_secret" in oauth:
        filled["signed_secret"] = {**oauth["signed_secret"], "issuer": fill(oauth["signed_secret"]["issuer"])}
    return filled


def _has_host(variable: Mapping[str, Any], value: str) -> bool:
    if variable["as"] != "url":
        return True
    try:
        parts = urlsplit(value)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def from_return(oauth: Mapping[str, Any], returned: Mapping[str, str]) -> dict[str, str]:
    """The variables that come back with the user: the host of the token endpoint, where a provider has several. The
    browser says them, so only those that the description names are taken. Raises a KeyError with the parameter."""
    found: dict[str, str] = {}
    for name, variable in oauth.get("variables", {}).items():
        value = returned.get(variable.get("return_parameter", ""))
        if value is None:
            continue
        host = value.removeprefix("https://").removesuffix("/")
        if host not in variable.get("among", ()):
            raise KeyError(variable["return_parameter"])
        found[name] = host
    return found


def check_parameters(parameters: Mapping[str, str]) -> None:
    for name, value in parameters.items():
        if name in TAKEN_PARAMETERS:
            raise ValueError(f"parameters.{name} comes from elsewhere")
        check_text(f"parameters.{name}", value, 1, ACCOUNT_PARAMETER_MAX)


def find_in(document: Any, pointer: str) -> Any:
    """RFC 6901, without lists of the index `-`. None if there is nothing."""
    for step in pointer.split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(document, list) and name.isdigit() and int(name) < len(document):
            document = document[int(name)]
        elif isinstance(document, Mapping) and name in document:
            document = document[name]
        else:
            return None
    return document


def find_text(document: Any, pointer: str | None) -> str | None:
    """A text or a whole number, as text."""
    found = None if pointer is None else find_in(document, pointer)
    if isinstance(found, str):
        return found or None
    return str(found) if isinstance(found, int) and not isinstance(found, bool) else None
