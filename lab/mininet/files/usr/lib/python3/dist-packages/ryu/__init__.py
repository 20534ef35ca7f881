# SPDX-License-Identifier: GPL-2.0-only
"""Ryu by its successor: a module ryu.X is os_ken.X, with Ryu's names of what was renamed.

os-ken has no stock applications any more: those of stock/ are ryu.app.NAME.
"""

import importlib
import importlib.util
import inspect
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path

from os_ken import __version__ as version
from os_ken import exception
from os_ken.base import app_manager

STOCK = Path(__file__).parent / "stock"
# Ryu's applications that are not in stock/, and what does their work.
ABSENT = {"app.gui_topology": "ask ryu.app.rest_topology for the topology"}
__version__ = version
app_manager.RyuApp = app_manager.OSKenApp
exception.RyuException = exception.OSKenException


def require_app(app_name, api_style=False):
    """os-ken's, which looks through the stack for the module that imports an api. The modules of
    an alias, and those of Python that import them, are not that module: without this, the
    application that the api needs did not start, and each request of the api waited for ever.
    """
    modules = filter(None, (inspect.getmodule(frame[0]) for frame in inspect.stack()))
    between = [__name__, "importlib"]
    others = [module for module in modules if module.__name__ not in between]
    wants = others[1 if api_style else 0]
    wants._REQUIRED_APP = [*getattr(wants, "_REQUIRED_APP", []), app_name]


app_manager.require_app = require_app


class Alias(MetaPathFinder, Loader):
    """Finds ryu.X, and the stock applications, whose package is os_ken.app for both names."""

    def find_spec(self, name, path=None, target=None):
        package, _, rest = name.partition(".")
        if instead := ABSENT.get(rest):
            raise ModuleNotFoundError(f"cellbed has no {name}: {instead}", name=name)
        stock = STOCK / f"{rest.removeprefix('app.')}.py"
        if package == "os_ken" and rest.startswith("app.") and stock.exists():
            return importlib.util.spec_from_file_location(name, stock)
        if package != "ryu" or not rest or not importlib.util.find_spec(f"os_ken.{rest}"):
            return None
        return ModuleSpec(name, self)

    def create_module(self, spec):
        module = importlib.import_module(f"os_ken{spec.name.removeprefix('ryu')}")
        spec.submodule_search_locations = module.__spec__.submodule_search_locations
        return module

    def exec_module(self, module):
        real = importlib.import_module(module.__name__)
        real.__spec__ = importlib.util.spec_from_file_location(real.__name__, real.__file__)


sys.meta_path.insert(0, Alias())
