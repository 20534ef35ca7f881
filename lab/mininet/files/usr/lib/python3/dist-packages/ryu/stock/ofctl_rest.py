# SPDX-License-Identifier: GPL-2.0-only
"""ryu.app.ofctl_rest: asks and changes switches by requests below /stats, with JSON."""

import ast

from os_ken.controller import dpset
from ryu.app.wsgi import ControllerBase, Response, WSGIApplication, route
from ryu.rest import VERSIONS, Asking, reply

# What a GET asks for, by the name of os-ken's function; a POST to the first two filters by a flow.
ASKED = {
    "flow": "get_flow_stats", "aggregateflow": "get_aggregate_flow_stats",
    "desc": "get_desc_stats", "table": "get_table_stats", "tablefeatures": "get_table_features",
    "port": "get_port_stats", "portdesc": "get_port_desc",
    "queue": "get_queue_stats", "queueconfig": "get_queue_config", "queuedesc": "get_queue_desc",
    "group": "get_group_stats", "groupdesc": "get_group_desc",
    "groupfeatures": "get_group_features",
    "meter": "get_meter_stats", "meterconfig": "get_meter_config", "meterdesc": "get_meter_desc",
    "meterfeatures": "get_meter_features", "role": "get_role",
}  # fmt: skip
FILTERED = "|".join(list(ASKED)[:2])
# What a POST changes: the function, and the command by the protocol's name.
CHANGED = {
    "flowentry": ("mod_flow_entry", {
        "add": "OFPFC_ADD", "modify": "OFPFC_MODIFY", "modify_strict": "OFPFC_MODIFY_STRICT",
        "delete": "OFPFC_DELETE", "delete_strict": "OFPFC_DELETE_STRICT",
    }),
    "groupentry": ("mod_group_entry", {
        "add": "OFPGC_ADD", "modify": "OFPGC_MODIFY", "delete": "OFPGC_DELETE",
    }),
    "meterentry": ("mod_meter_entry", {
        "add": "OFPMC_ADD", "modify": "OFPMC_MODIFY", "delete": "OFPMC_DELETE",
    }),
}  # fmt: skip
DPID = {"dpid": r"\d+"}


class RestStatsApi(Asking):
    """Keeps the switches, and what they answer."""

    OFP_VERSIONS = list(VERSIONS)
    _CONTEXTS = {"dpset": dpset.DPSet, "wsgi": WSGIApplication}

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.dpset = kwargs["dpset"]
        kwargs["wsgi"].register(StatsController, {"dpset": self.dpset, "waiters": self.waiters})


class StatsController(ControllerBase):
    """Answers requests below /stats."""

    def __init__(self, req, link, data, **config):
        super().__init__(req, link, data, **config)
        self.dpset, self.waiters = data["dpset"], data["waiters"]

    @route("stats", "/stats/switches", methods=["GET"])
    def switches(self, req):
        """Their numbers."""
        return reply([dpid for dpid, _ in self.dpset.get_all()])

    @route("stats", "/stats/{kind}/{dpid}", methods=["GET"],
           requirements={"kind": "|".join(ASKED)} | DPID)  # fmt: skip
    def ask(self, req, kind, dpid):
        """All that a switch tells of a kind."""
        return self.tell(kind, dpid)

    @route("stats", "/stats/{kind}/{dpid}/{number}", methods=["GET"],
           requirements={"kind": "port|queue|group|meter|meterconfig"} | DPID)  # fmt: skip
    def ask_of(self, req, kind, dpid, number):
        """Of a port, a group or a meter."""
        return self.tell(kind, dpid, None if number == "ALL" else int(number, 0))

    @route("stats", "/stats/{kind}/{dpid}", methods=["POST"],
           requirements={"kind": FILTERED} | DPID)  # fmt: skip
    def ask_filtered(self, req, kind, dpid):
        """Of the flows that are like the request's."""
        return self.tell(kind, dpid, req.json if req.body else {})

    @route("stats", "/stats/flowentry/clear/{dpid}", methods=["DELETE"], requirements=DPID)
    def clear(self, req, dpid):
        """Delete all rules of a switch."""
        datapath = self.dpset.get(int(dpid))
        if datapath is None:
            return Response(status=404)
        functions, protocol = VERSIONS[datapath.ofproto.OFP_VERSION], datapath.ofproto
        if hasattr(functions, "delete_flow_entry"):
            functions.delete_flow_entry(datapath)
        else:
            flow = {"table_id": protocol.OFPTT_ALL}
            functions.mod_flow_entry(datapath, flow, protocol.OFPFC_DELETE)
        return Response(status=200)

    @route("stats", "/stats/{kind}/{change}", methods=["POST"],
           requirements={"kind": "|".join(CHANGED)})  # fmt: skip
    def change(self, req, kind, change):
        """Add, change or delete a rule, a group or a meter."""
        name, commands = CHANGED[kind]
        try:
            entry = value_of(req)
            datapath = self.dpset.get(int(str(entry["dpid"]), 0))
        except (ValueError, SyntaxError, TypeError, KeyError):
            return Response(status=400)
        if datapath is None or change not in commands:
            return Response(status=404)
        functions = VERSIONS[datapath.ofproto.OFP_VERSION]
        getattr(functions, name)(datapath, entry, getattr(datapath.ofproto, commands[change]))
        return Response(status=200)

    def tell(self, kind, dpid, *more):
        """Ask the switch."""
        datapath = self.dpset.get(int(dpid))
        if datapath is None:
            return Response(status=404)
        functions = VERSIONS[datapath.ofproto.OFP_VERSION]
        function = getattr(functions, ASKED[kind], None)
        if function is None:
            return Response(status=501)
        return reply(function(datapath, self.waiters, *more))


def value_of(request):
    """What a POST says: JSON, or a value as Python writes it, which Ryu takes, too.

    Raises:
        ValueError, SyntaxError: neither.
    """
    try:
        return request.json
    except ValueError:
        return ast.literal_eval(request.text)
