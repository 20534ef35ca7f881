# SPDX-License-Identifier: GPL-2.0-only
"""ryu.app.wsgi: a controller's web interface. Names and arguments are those of Ryu's."""

import inspect

import webob
from os_ken import cfg
from os_ken.lib import hub
from routes import Mapper
from routes.util import URLGenerator
from ryu.websockets import (  # noqa: F401, for who imports them from here
    WebSocketManager,
    WebSocketRPCClient,
    WebSocketRPCServer,
    rpc_public,
)
from webob.exc import HTTPNotFound

CONF = cfg.CONF
CONF.register_cli_opts(
    [
        cfg.StrOpt("wsapi-host", default="0.0.0.0", help="the web interface's address"),
        cfg.IntOpt("wsapi-port", default=8080, help="the web interface's port"),
    ]
)
# Where @route() notes what a method answers.
ROUTING = "routing_info"
Request = webob.Request


class Response(webob.Response):
    """With UTF-8, where nothing else is said."""

    def __init__(self, charset="UTF-8", *args, **kwargs):
        super().__init__(*args, charset=charset, **kwargs)


def route(name, path, methods=None, requirements=None):
    """The method of a controller answers the requests of this path."""

    def note(method):
        told = {"name": name, "path": path, "methods": methods, "requirements": requirements}
        setattr(method, ROUTING, [*getattr(method, ROUTING, []), told])  # a method can have several
        return method

    return note


def websocket(name, path):
    """The method of a controller is called with a connection that stays open."""

    def note(method):
        def answer(self, request, **words):
            def talk(socket):
                manager = self.parent.websocketmanager
                manager.add_connection(socket)
                try:
                    method(self, socket)
                finally:
                    manager.delete_connection(socket)

            return lambda environ, start: hub.WebSocketWSGI(talk)(request.environ, start)

        return route(name, path)(answer)

    return note


class ControllerBase:
    """Made anew for each request."""

    def __init__(self, req, link, data, **config):
        self.req, self.link, self.data, self.parent = req, link, data, None
        vars(self).update(config)

    def __call__(self, req):
        words = dict(req.urlvars)
        words.pop("controller", None)
        method = getattr(self, words.pop("action", "index"))
        if before := getattr(self, "__before__", None):
            before()
        return method(req, **words)


class WSGIApplication:
    """Finds the controller of a request, and listens as soon as the applications are made."""

    def __init__(self, **config):
        self.config = config
        self.mapper = Mapper()
        self.registory = {}  # so written in Ryu, and in applications
        self.websocketmanager = WebSocketManager()
        hub.spawn(self._serve)

    def _serve(self):
        hub.WSGIServer((CONF.wsapi_host, CONF.wsapi_port), self).serve_forever()

    def __call__(self, environ, start_response):
        found = self.mapper.match(environ=environ)
        if not found:
            return HTTPNotFound()(environ, start_response)
        request = Request(environ)
        request.urlvars, request.start_response = found, start_response
        kind = found["controller"]
        data = self.registory.get(kind.__name__)
        controller = kind(request, URLGenerator(self.mapper, environ), data, **self.config)
        controller.parent = self
        return controller(request)(environ, start_response)

    def register(self, controller, data=None):
        """Answer with the methods of this class that have @route()."""
        self.registory[controller.__name__] = data
        for name, method in inspect.getmembers(controller, lambda found: hasattr(found, ROUTING)):
            for told in getattr(method, ROUTING):
                self.mapper.connect(
                    told["name"], told["path"], controller=controller, action=name,
                    requirements=told["requirements"] or {},
                    conditions={"method": told["methods"]} if told["methods"] else None,
                )  # fmt: skip
