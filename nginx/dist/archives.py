#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Archives that are the same wherever and whenever they are made.

goproxy TREE PROXY VERSION EPOCH: the modules of TREE/lib/go as a Go proxy has them (go.dev/ref/mod, "Module zip files").
oci LAYER CONTAINERFILE ARCHIVE EPOCH ARCHITECTURE LABEL=VALUE...: an OCI archive of one layer, with the settings
  of the last stage of the Containerfile. The labels title and version are also the name of the image in the archive.
"""

import gzip
import hashlib
import io
import json
import re
import sys
import tarfile
import time
import zipfile
from pathlib import Path

MODULES = ("", "/mcp", "/mcpgo", "/vault")


def timestamp(epoch: int) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch))


def module_files(folder: Path) -> list[Path]:
    """Without the modules in its folders, which are others."""
    others = [file.parent for file in folder.rglob("go.mod") if file.parent != folder]
    return sorted(
        file
        for file in folder.rglob("*")
        if file.is_file() and not file.is_symlink() and not any(other in file.parents for other in others)
    )


def goproxy(tree: str, proxy: str, version: str, epoch: int) -> None:
    go = Path(tree, "lib/go")
    for module in MODULES:
        folder = Path(f"{go}{module}")
        declared = re.search("^module (.*)$", (folder / "go.mod").read_text(), re.MULTILINE)
        assert declared, folder
        path = declared[1]
        # The proxy protocol writes capitals in another way.
        at = Path(proxy, re.sub("[A-Z]", lambda letter: "!" + letter[0].lower(), path), "@v")
        at.mkdir(parents=True)
        (at / "list").write_text(f"{version}\n")
        (at / f"{version}.info").write_text(json.dumps({"Version": version, "Time": timestamp(epoch)}) + "\n")
        (at / f"{version}.mod").write_bytes((folder / "go.mod").read_bytes())
        with zipfile.ZipFile(at / f"{version}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            for file in module_files(folder):
                entry = zipfile.ZipInfo(f"{path}@{version}/{file.relative_to(folder)}")
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, file.read_bytes())


def settings(containerfile: str) -> dict[str, object]:
    """ENV, USER, STOPSIGNAL and CMD after the last FROM."""
    of = dict(re.findall("^(ENV|USER|STOPSIGNAL|CMD) (.*)$", Path(containerfile).read_text().rpartition("\nFROM ")[2], re.MULTILINE))
    return {"Env": [of["ENV"]], "User": of["USER"], "StopSignal": of["STOPSIGNAL"], "Cmd": json.loads(of["CMD"])}


def oci(layer: str, containerfile: str, to: str, epoch: int, architecture: str, labels: dict[str, str]) -> None:
    blobs: dict[str, bytes] = {}

    def described(kind: str, content: bytes) -> dict[str, object]:
        digest = hashlib.sha256(content).hexdigest()
        blobs[f"blobs/sha256/{digest}"] = content
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(content)}

    def document(content: object) -> bytes:
        return json.dumps(content, indent=1, sort_keys=True).encode() + b"\n"

    raw = Path(layer).read_bytes()
    platform = {"architecture": architecture, "os": "linux"}
    named = {f"org.opencontainers.image.{name}": value for name, value in labels.items()}
    config = described("config.v1+json", document({
        **platform, "created": timestamp(epoch), "config": {**settings(containerfile), "Labels": named},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(raw).hexdigest()}"]},
        "history": [{"created": timestamp(epoch), "created_by": "nginx/dist/dist"}],
    }))
    manifest = described("manifest.v1+json", document({
        "schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json", "config": config,
        "layers": [described("layer.v1.tar+gzip", gzip.compress(raw, mtime=0))], "annotations": named,
    }))
    name = f"{labels['title']}:{labels['version']}"
    index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [{
        **manifest, "platform": platform,
        "annotations": {"org.opencontainers.image.ref.name": name, "io.containerd.image.name": name},
    }]}
    with tarfile.open(to, "w", format=tarfile.USTAR_FORMAT) as archive:
        for file, content in sorted({"oci-layout": document({"imageLayoutVersion": "1.0.0"}), "index.json": document(index), **blobs}.items()):
            entry = tarfile.TarInfo(file)
            entry.size, entry.mtime, entry.mode = len(content), epoch, 0o644
            archive.addfile(entry, io.BytesIO(content))


if __name__ == "__main__":
    command, *given = sys.argv[1:]
    if command == "goproxy":
        goproxy(given[0], given[1], given[2], int(given[3]))
    else:
        oci(given[0], given[1], given[2], int(given[3]), given[4], dict(label.split("=", 1) for label in given[5:]))
