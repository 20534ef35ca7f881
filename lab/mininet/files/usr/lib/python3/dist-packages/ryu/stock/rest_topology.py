# SPDX-License-Identifier: GPL-2.0-only
"""ryu.app.rest_topology: /v1.0/topology/switches, links and hosts, all or of a switch, as JSON."""

import json

from os_ken.base import app_manager
from os_ken.lib import dpid as dpid_lib
from os_ken.topology.api import get_host, get_link, get_switch
from ryu.app.wsgi import ControllerBase, Response, WSGIApplication, route

PATH = "/v1.0/topology"
ONE = {"dpid": dpid_lib.DPID_PATTERN}
GETTERS = {"switches": get_switch, "links": get_link, "hosts": get_host}
KIND = {"kind": "|".join(GETTERS)}


class TopologyAPI(app_manager.OSKenApp):
    """Needs nothing but the switches of --observe-links."""

    _CONTEXTS = {"wsgi": WSGIApplication}

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        kwargs["wsgi"].register(TopologyController, {"topology_api_app": self})


class TopologyController(ControllerBase):
    """Answers by os-ken's own discovery."""

    def __init__(self, req, link, data, **config):
        super().__init__(req, link, data, **config)
        self.application = data["topology_api_app"]

    @route("topology", PATH + "/{kind}", methods=["GET"], requirements=KIND)
    def list_all(self, req, kind):
        """All switches, links or hosts."""
        return self.answer(kind, None)

    @route("topology", PATH + "/{kind}/{dpid}", methods=["GET"], requirements=KIND | ONE)
    def list_of(self, req, kind, dpid):
        """Those of a switch."""
        return self.answer(kind, dpid_lib.str_to_dpid(dpid))

    def answer(self, kind, dpid):
        """A list of objects."""
        found = [thing.to_dict() for thing in GETTERS[kind](self.application, dpid)]
        return Response(content_type="application/json", text=json.dumps(found))
