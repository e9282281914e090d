"""Lets a wheel carry compiled twins of the hot modules: HEADWATER_COMPILE=1 when it is built.

Without the variable the wheel is pure Python and installs anywhere without a compiler.
"""

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

VARIABLE = "HEADWATER_COMPILE"


class CompiledTwins(BuildHookInterface[Any]):
    """Compiles, adds the libraries to the wheel, and makes its tag say so."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable" or os.environ.get(VARIABLE) != "1":
            return
        sys.path.insert(0, self.root)
        from tools.compile import build  # noqa: PLC0415 - of the project being built

        self._folder = tempfile.TemporaryDirectory()
        target = Path(self._folder.name)
        for library in build(target):
            build_data["force_include"][str(target / library)] = str(library)
        build_data["pure_python"] = False
        build_data["infer_tag"] = True
