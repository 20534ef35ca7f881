# SPDX-License-Identifier: GPL-2.0-only
"""ryu.app.rest_conf_switch: what applications shall know of a switch, at /v1.0/conf/switches.

PUT .../SWITCH/KEY sets a value of JSON, for example the address of the switch's database, which
ryu.app.rest_qos needs: "tcp:127.0.0.1:6632" as ovsdb_addr. GET tells it, DELETE takes it away; both
do so for all of a SWITCH, too.
"""

from os_ken.base import app_manager
from os_ken.controller import conf_switch
from os_ken.lib.dpid import DPID_PATTERN, dpid_to_str, str_to_dpid
from ryu.app.wsgi import ControllerBase, Response, WSGIApplication, route
from ryu.rest import reply

PATH = "/v1.0/conf/switches"
ONE = {"dpid": DPID_PATTERN}


class ConfSwitchAPI(app_manager.OSKenApp):
    """Needs no switch."""

    _CONTEXTS = {"conf_switch": conf_switch.ConfSwitchSet, "wsgi": WSGIApplication}

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        kwargs["wsgi"].register(ConfSwitchController, {"known": kwargs["conf_switch"]})


class ConfSwitchController(ControllerBase):
    """Answers by os-ken's own table."""

    @route("conf_switch", PATH, methods=["GET"])
    def switches(self, req):
        """Of which switches something is known."""
        return reply([dpid_to_str(number) for number in self.data["known"].dpids()])

    @route("conf_switch", PATH + "/{dpid}", methods=["GET"], requirements=ONE)
    def keys(self, req, dpid):
        """What is known of a switch."""
        return self.answer(lambda known: reply(known.keys(str_to_dpid(dpid))))

    @route("conf_switch", PATH + "/{dpid}", methods=["DELETE"], requirements=ONE)
    def forget(self, req, dpid):
        """All of a switch."""
        return self.answer(lambda known: gone(known.del_dpid(str_to_dpid(dpid))))

    @route("conf_switch", PATH + "/{dpid}/{key}", methods=["GET"], requirements=ONE)
    def get(self, req, dpid, key):
        """A value."""
        return self.answer(lambda known: reply(known.get_key(str_to_dpid(dpid), key)))

    @route("conf_switch", PATH + "/{dpid}/{key}", methods=["DELETE"], requirements=ONE)
    def delete(self, req, dpid, key):
        """A value less."""
        return self.answer(lambda known: gone(known.del_key(str_to_dpid(dpid), key)))

    @route("conf_switch", PATH + "/{dpid}/{key}", methods=["PUT"], requirements=ONE)
    def put(self, req, dpid, key):
        """A value."""
        try:
            value = req.json
        except ValueError:
            return Response(status=400, text=f"the value of {key} is no JSON\n")
        self.data["known"].set_key(str_to_dpid(dpid), key, value)
        return Response(status=201)

    def answer(self, ask):
        """What the table says, if it has it."""
        try:
            return ask(self.data["known"])
        except KeyError:
            return Response(status=404)


def gone(_):
    """The reply to what was taken away."""
    return Response(status=200)
