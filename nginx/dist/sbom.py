#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What an artifact consists of and needs, as SPDX 2.3 and CycloneDX 1.5.

    sbom.py KIND TREE ARTIFACT OUT VERSION EPOCH [PACKAGES]

writes OUT.spdx.json and OUT.cdx.json. KIND says where the components are:

    npm      package-lock.json: what is installed with the package, and not what is beside it
    python   the packages of the Python that runs this, as far as the package requires them
    go       what the go.mod files require of others
    deb      PACKAGES, what dpkg-query lists where it was built, of which the package needs those that it names
    image    PACKAGES, a folder of dpkg's entries, beside the os-release of the Debian that they are of
    own      nothing of others

ARTIFACT is named, and its SHA-256 is there unless it does not exist yet: a document inside of it cannot have it.
"""

import hashlib
import json
import re
import subprocess
import sys
import time
import uuid
from importlib import metadata
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote


class Component(NamedTuple):
    name: str
    version: str
    purl: str


def of_npm(tree: Path) -> list[Component]:
    packages = json.loads((tree / "lib/node/package-lock.json").read_text())["packages"]
    return [
        Component(name := path.rpartition("node_modules/")[2], of["version"], f"pkg:npm/{name.replace('@', '%40')}@{of['version']}")
        for path, of in packages.items()
        if path and not any(of.get(which) for which in ("dev", "peer", "optional", "devOptional"))
    ]


def of_python(tree: Path) -> list[Component]:
    declared = re.search(r"^dependencies = \[(.*)\]$", (tree / "lib/python/pyproject.toml").read_text(), re.MULTILINE)
    assert declared
    found: dict[str, str] = {}
    left = re.findall(r'"([\w.-]+)', declared[1])
    while left:
        name = re.sub(r"[-_.]+", "-", left.pop()).lower()
        if name in found:
            continue
        try:
            here = metadata.distribution(name)
        except metadata.PackageNotFoundError:  # of another platform
            continue
        found[name] = here.version
        left += [re.split(r"[^\w.-]", each, maxsplit=1)[0] for each in here.requires or [] if "extra ==" not in each]
    return [Component(name, version, f"pkg:pypi/{name}@{version}") for name, version in found.items()]


def of_go(tree: Path) -> list[Component]:
    texts = [(tree / f"lib/go{module}/go.mod").read_text() for module in ("", "/mcp", "/mcpgo", "/vault")]
    own = texts[0].split()[1]
    required = {each for text in texts for each in re.findall(r"^(?:require )?\t?([\w.-]+\.[\w.-]+/\S+) (v\S+)", text, re.MULTILINE)}
    return [Component(path, version, f"pkg:golang/{path}@{version}") for path, version in required if not path.startswith(own)]


def debian(name: str, version: str, release: str) -> Component:
    return Component(name, version, f"pkg:deb/debian/{name}@{quote(version, safe='')}?distro=debian-{release}")


def of_deb(artifact: Path, packages: Path) -> list[Component]:
    release = artifact.name.partition("+deb")[2].partition("_")[0]
    versions = dict(line.split("\t") for line in packages.read_text().splitlines())
    depends = subprocess.run(["dpkg-deb", "-f", artifact, "Depends"], check=True, capture_output=True, text=True).stdout
    names = [each.split()[0] for each in depends.replace("|", ",").split(",")]
    there = {name.partition(":")[0]: version for name, version in versions.items()}
    return [debian(name, there[name], release) for name in names if name in there]


def of_image(packages: Path) -> list[Component]:
    release = re.search(r'^VERSION_ID="(.*)"$', (packages.parent / "os-release").read_text(), re.MULTILINE)
    assert release, packages
    entries = [dict(re.findall(r"^(Package|Version): (.*)$", file.read_text(), re.MULTILINE)) for file in packages.iterdir()]
    return [debian(entry["Package"], entry["Version"], release[1]) for entry in entries]


def spdx(name: str, version: str, digest: str, components: list[Component], names: dict[str, str], created: str) -> dict[str, object]:
    def package(number: int, of: Component | None) -> dict[str, object]:
        return {
            "SPDXID": f"SPDXRef-{number}", "name": of.name if of else name, "versionInfo": of.version if of else version,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "copyrightText": "NOASSERTION",
            "licenseConcluded": "NOASSERTION" if of else "MIT", "licenseDeclared": "NOASSERTION" if of else "MIT",
            **({"externalRefs": [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": of.purl}]} if of else {}),
            **({"checksums": [{"algorithm": "SHA256", "checksumValue": digest}]} if digest and not of else {}),
        }  # fmt: skip

    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": name,
        "documentNamespace": f"{names['repository']}/spdx/{name}-{identity(name, version, digest)}",
        "creationInfo": {"created": created, "creators": ["Organization: urlmode", f"Tool: urlmode-dist-{version}"]},
        "packages": [package(number, of) for number, of in enumerate([None, *components])],
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-0"},
            *({"spdxElementId": "SPDXRef-0", "relationshipType": "DEPENDS_ON", "relatedSpdxElement": f"SPDXRef-{number}"}
              for number in range(1, len(components) + 1)),
        ],
    }  # fmt: skip


def identity(*of: str) -> uuid.UUID:
    return uuid.uuid5(uuid.NAMESPACE_URL, "\n".join(of))


def cyclonedx(name: str, version: str, digest: str, components: list[Component], names: dict[str, str], created: str) -> dict[str, object]:
    return {
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "serialNumber": f"urn:uuid:{identity(name, version, digest)}",
        "metadata": {
            "timestamp": created, "tools": {"components": [{"type": "application", "name": "urlmode-dist", "version": version}]},
            "component": {
                "type": "application", "bom-ref": name, "name": name, "version": version, "licenses": [{"license": {"id": "MIT"}}],
                **({"hashes": [{"alg": "SHA-256", "content": digest}]} if digest else {}),
                "externalReferences": [{"type": "vcs", "url": names["repository"]}],
            },
        },
        "components": [{"type": "library", "bom-ref": of.purl, "name": of.name, "version": of.version, "purl": of.purl} for of in components],
        "dependencies": [{"ref": name, "dependsOn": [of.purl for of in components]}],
    }  # fmt: skip


def main(kind: str, tree: Path, artifact: Path, out: str, version: str, epoch: str, packages: str = "") -> None:
    components = sorted({
        "npm": lambda: of_npm(tree), "python": lambda: of_python(tree), "go": lambda: of_go(tree),
        "deb": lambda: of_deb(artifact, Path(packages)), "image": lambda: of_image(Path(packages)), "own": lambda: [],
    }[kind]())  # fmt: skip
    names = dict(re.findall("^([a-z]+)=(.*)$", (tree / "nginx/dist/names").read_text(), re.MULTILINE))
    digest = hashlib.sha256(artifact.read_bytes()).hexdigest() if artifact.is_file() else ""
    created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(int(epoch)))
    for ending, form in (("spdx", spdx), ("cdx", cyclonedx)):
        document = form(artifact.name, version, digest, components, names, created)
        Path(f"{out}.{ending}.json").write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), *sys.argv[4:])
