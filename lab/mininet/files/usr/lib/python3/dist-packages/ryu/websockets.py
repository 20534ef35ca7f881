# SPDX-License-Identifier: GPL-2.0-only
"""The WebSockets of ryu.app.wsgi, and calls of JSON-RPC 2.0 over them. The public names and their
arguments are those of Ryu's, which takes the calls from the package tinyrpc.
"""

import inspect
import json
from itertools import count

from os_ken.lib import hub

# Where @rpc_public notes a method's name, and so does tinyrpc's decorator `public`.
PUBLIC = "_rpc_public_name"
# Errors of JSON-RPC 2.0: no JSON, no call, no such method, the method failed.
UNREADABLE, NO_CALL, UNKNOWN, FAILED = -32700, -32600, -32601, -32000


class RemoteError(Exception):
    """The other side could not do a call; its text says why."""


def rpc_public(name):
    """The other side of a WebSocket may call this method, by this name or by its own."""
    if callable(name):
        return rpc_public(name.__name__)(name)

    def note(method):
        setattr(method, PUBLIC, name)
        return method

    return note


class WebSocketManager:
    """The open connections of a web interface."""

    def __init__(self):
        self.connections = set()

    def add_connection(self, ws):
        """It gets each message from now on."""
        self.connections.add(ws)

    def delete_connection(self, ws):
        """It gets no more messages."""
        self.connections.discard(ws)

    def broadcast(self, msg):
        """Send a message to each connection. One that was cut off is forgotten."""
        for connection in list(self.connections):
            try:
                connection.send(msg)
            except OSError:
                self.delete_connection(connection)


class WebSocketRPCServer:
    """Does what the other side of a WebSocket calls."""

    def __init__(self, ws, rpc_callback):
        """rpc_callback: the object whose methods with @rpc_public may be called."""
        found = inspect.getmembers(rpc_callback, lambda method: hasattr(method, PUBLIC))
        self.ws = ws
        self.methods = {getattr(method, PUBLIC): method for _, method in found}

    def serve_forever(self):
        """Until the other side closes the connection. Each message has a thread of its own."""
        while (said := self.ws.wait()) is not None:
            hub.spawn(self._take, said)

    def _take(self, said):
        """Do the call of a message, or its list of calls."""
        try:
            asked = json.loads(said)
        except ValueError as error:
            asked, answers = None, [failure(None, UNREADABLE, error)]
        else:
            calls = asked if isinstance(asked, list) and asked else [asked]
            answers = list(filter(None, map(self._do, calls)))
        if answers:
            self.ws.send(json.dumps(answers if asked and isinstance(asked, list) else answers[0]))

    def _do(self, call):
        """The answer to a call; none to a call without a number."""
        if not isinstance(call, dict) or not isinstance(call.get("method"), str):
            return failure(None, NO_CALL, "this is no call: it names no method")
        answer = self._answer(call["method"], call.get("params", []), call.get("id"))
        return answer if "id" in call else None

    def _answer(self, name, given, number):
        if name not in self.methods:
            return failure(number, UNKNOWN, f"there is no public method {name}")
        named = isinstance(given, dict)
        try:
            result = self.methods[name](**given) if named else self.methods[name](*given)
        except Exception as error:
            return failure(number, FAILED, f"{type(error).__name__}: {error}")
        return {"jsonrpc": "2.0", "id": number, "result": result}


class WebSocketRPCClient:
    """Calls methods of the other side of a WebSocket."""

    def __init__(self, ws):
        self.ws = ws
        self.numbers = count(1)
        self.waiting = {}  # a queue for each call's answer

    def get_proxy(self, prefix="", one_way=False):
        """An object that has the other side's methods: see `call`.

        prefix: of the methods' names.
        """
        return Proxy(self, prefix, one_way)

    def call(self, method, args, kwargs, one_way=False):
        """Call a method with arguments either by place or by name.

        one_way: no answer is waited for, and the result is None.

        Raises:
            RemoteError: the other side answered with an error, or closed the connection.
        """
        asked = {"jsonrpc": "2.0", "method": method, "params": kwargs or list(args)}
        if one_way:
            self.ws.send(json.dumps(asked))
            return None
        number = next(self.numbers)
        self.waiting[number] = hub.Queue()
        self.ws.send(json.dumps(asked | {"id": number}))
        answer = self.waiting[number].get()
        del self.waiting[number]
        if "error" in answer:
            raise RemoteError(answer["error"].get("message"))
        return answer.get("result")

    def serve_forever(self):
        """Hand out the answers, until the other side closes the connection."""
        while (said := self.ws.wait()) is not None:
            answer = json.loads(said)
            if answer.get("id") in self.waiting:
                self.waiting[answer["id"]].put(answer)
        for queue in self.waiting.values():
            queue.put(failure(None, FAILED, "the connection was closed before the answer"))


class Proxy:
    """Has a method for each method of the other side of a WebSocket."""

    def __init__(self, client, prefix, one_way):
        self.client, self.prefix, self.one_way = client, prefix, one_way

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)

        def call(*args, **kwargs):
            return self.client.call(self.prefix + name, args, kwargs, self.one_way)

        return call


def failure(number, code, why):
    """The answer to a call that was not done."""
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": str(why)}}
