"""Which files an experiment needs, and how they are sent. Used where the program `sluice`, which does the same, has no part:
an experiment that is sent to an address."""

import ast
import base64
import os
import re
import subprocess
import urllib.parse
from typing import Any, Dict, Iterable, Iterator, List, Mapping, Optional, Union

from ._http import Connection, Problem

_INLINE_BYTES = 4 << 20  # larger files go before the request, one by one

Content = Union[str, bytes, bytearray]


def as_sent(connection: Connection, files: Mapping[str, Content], folder: Optional[str] = None) -> List[Dict[str, Any]]:
    """The `files` member of a request; large ones are uploaded now. Those of a folder keep their modes."""
    sent = [_one(connection, path, content) for path, content in files.items()]
    for one in sent if folder is not None else []:
        one["mode"] = f"{os.stat(os.path.join(folder or '', one['path'])).st_mode & 0o777:03o}"
    return sent


def _one(connection: Connection, path: str, content: Content) -> Dict[str, Any]:
    data = content.encode() if isinstance(content, str) else bytes(content)
    if len(data) > _INLINE_BYTES:
        name = urllib.parse.quote(os.path.basename(path), safe="")
        upload = connection.request("PUT", "/uploads/" + name, data, {"Content-Type": "application/octet-stream"})
        return {"path": path, "upload": upload["id"]}
    return {"path": path, "base64": base64.b64encode(data).decode()}


def tracked(folder: str, named: Iterable[str], limit: int) -> List[str]:
    """`files: git`: the tracked files below the folder, as they are in the work tree. What is not named itself may not be larger than
    copy_limit."""
    try:
        done = subprocess.run(["git", "-C", folder, "ls-files", "-z", "--cached", "--recurse-submodules"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
    except OSError as error:
        raise Problem(400, {"detail": f"files: git: {error}"}) from error
    if done.returncode:
        raise Problem(400, {"detail": f"files: git: {done.stderr.decode(errors='replace').strip()}"})
    found = [path for path in dict.fromkeys(os.fsdecode(done.stdout).split("\0")) if path and os.path.isfile(os.path.join(folder, path))]
    for path in found:
        size = os.path.getsize(os.path.join(folder, path))
        if size > limit and path not in named:
            raise Problem(400, {"detail": f"{path} has {size} bytes, more than copy_limit ({limit}): pass its path as a parameter, "
                                          "name it in files:, or raise copy_limit"})
    return found


def size_of(text: Any) -> int:
    """A size as the experiment file has it: 64M, 1.5GB, or a number of bytes. 64M where it says nothing."""
    match = re.fullmatch(r"\s*([\d.]+)\s*([KMGT]?)i?B?\s*", str(text), re.IGNORECASE)
    return int(float(match.group(1)) * 1024 ** " KMGT".index(match.group(2).upper() or " ")) if match else 64 << 20


def collect(folder: str, names: Iterable[str]) -> Dict[str, bytes]:
    """What the names (files and folders below `folder`) hold, with the modules that Python files among them import from
    beside themselves."""
    found: Dict[str, bytes] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop(0)
        for path in _walk(folder, name):
            if path in found:
                continue
            with open(os.path.join(folder, path), "rb") as file:
                found[path] = file.read()
            if path.endswith(".py"):
                waiting += _imports(folder, path, found[path])
    return found


def _walk(folder: str, name: str) -> Iterator[str]:
    whole = os.path.join(folder, name)
    if not os.path.isdir(whole):
        yield os.path.normpath(name)
        return
    for base, folders, files in os.walk(whole):
        folders[:] = sorted(one for one in folders if one != "__pycache__" and not one.startswith("."))
        for file in sorted(files):
            yield os.path.relpath(os.path.join(base, file), folder)


def _imports(folder: str, path: str, source: bytes) -> Iterator[str]:
    """Modules and packages beside the file that it imports."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    here = os.path.dirname(path)
    for node in ast.walk(tree):
        modules: List[str] = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module] if node.module else [alias.name for alias in node.names]
        for module in modules:
            first = os.path.join(here, module.split(".")[0])
            if os.path.isfile(os.path.join(folder, first + ".py")):
                yield first + ".py"
            elif os.path.isfile(os.path.join(folder, first, "__init__.py")):
                yield first
