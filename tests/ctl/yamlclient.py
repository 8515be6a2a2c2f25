#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-only
#
# A client of the netlink family that knows of it what uapi/weft.yaml says and
# nothing else.
#
#	yamlclient.py compare SPEC HEADER	names and numbers are those of HEADER
#	yamlclient.py drive SPEC		use every command and attribute
#	yamlclient.py hear SPEC			all kinds of events
#
# "drive" wants the module of tests/ctl/fakes/node, down, and the right to change
# it.  It leaves it down.  "hear" wants it up as node 32.  Prints a line for what is wrong; exit status 1 then.

import os
import re
import socket
import struct
import sys
import time

import yaml

NLMSG_ERROR, NLMSG_DONE = 2, 3
NLM_F_REQUEST, NLM_F_MULTI, NLM_F_ACK, NLM_F_DUMP = 1, 2, 4, 0x300
NLM_F_CAPPED, NLM_F_ACK_TLVS = 0x100, 0x200
SOL_NETLINK, NETLINK_EXT_ACK, NETLINK_CAP_ACK = 270, 11, 10
GENL_ID_CTRL, CTRL_CMD_GETFAMILY = 16, 3
CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME, CTRL_ATTR_VERSION = 1, 2, 3
CTRL_ATTR_OPS, CTRL_ATTR_MCAST_GROUPS = 6, 7
NETLINK_ADD_MEMBERSHIP = 1
WAIT_SECONDS = 60

bad = 0


def wrong(text):
    global bad
    print(f"# {text}", flush=True)
    bad = 1


def upper(name):
    return name.replace("-", "_").upper()


class Refused(Exception):
    """What the kernel answered instead: errno, sentence, attribute."""

    def __init__(self, code, text="", attr=None, missing=None):
        super().__init__(f"{os.strerror(code)} ({text})")
        self.code, self.text, self.attr, self.missing = code, text, attr, missing


# --- The description ---------------------------------------------------------


class Spec:
    KEYS = {"name", "protocol", "uapi-header", "doc", "c-family-name",
            "c-version-name", "version", "max-by-define", "definitions",
            "attribute-sets", "operations", "mcast-groups"}
    TYPES = {"u32", "u64", "string", "flag", "nest", "pad", "binary"}

    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            self.all = yaml.safe_load(f)
        unknown = set(self.all) - self.KEYS
        if unknown:
            raise ValueError(f"{path}: unknown keys {sorted(unknown)}")
        self.consts, self.enums = {}, {}
        for d in self.all["definitions"]:
            if d["type"] == "const":
                self.consts[d["name"]] = d["value"]
            else:
                self.enums[d["name"]] = [None] * d.get("value-start", 0) + d["entries"]
        self.sets = {}
        for s in self.all["attribute-sets"]:
            attrs, value = {}, 0
            for a in s["attributes"]:
                if a["type"] not in self.TYPES:
                    raise ValueError(f"{s['name']}.{a['name']}: type {a['type']}")
                value = a.get("value", value + 1)
                attrs[a["name"]] = dict(a, value=value)
            self.sets[s["name"]] = attrs
        self.groups = [g["name"] for g in self.all["mcast-groups"]["list"]]
        self.ops, self.events, value = {}, {}, 0
        for o in self.all["operations"]["list"]:
            value = o.get("value", value + 1)
            kind = self.events if "event" in o else self.ops
            kind[o["name"]] = dict(o, value=value)
            attrs = self.sets[o["attribute-set"]]
            for way in ("do", "dump"):
                for side in ("request", "reply"):
                    for a in o.get(way, {}).get(side, {}).get("attributes", []):
                        if a not in attrs:
                            raise ValueError(f"{o['name']}: no attribute {a}")
            for a in o.get("event", {}).get("attributes", []):
                if a not in attrs or o["mcgrp"] not in self.groups:
                    raise ValueError(f"{o['name']}: no attribute {a}, or no group")

    def number(self, value):
        return self.consts.get(value, value)


# --- Comparing with the header -----------------------------------------------


def header_names(path):
    """All names of the header with their numbers or strings."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    names = {}
    for name, value in re.findall(r"^#define[ \t]+(\w+)[ \t]+(\S+)", text, flags=re.M):
        names[name] = value.strip('"') if value[0] == '"' else int(value, 0)
    for body in re.findall(r"enum\s+\w+\s*\{(.*?)\}", text, flags=re.S):
        value = -1
        for entry in body.split(","):
            entry = entry.strip()
            if not entry:
                continue
            name, _, given = (p.strip() for p in entry.partition("="))
            if given:
                expr = re.sub(r"\w*[A-Z_]\w*", lambda m: str(names[m[0]]), given)
                if not re.fullmatch(r"[-+0-9 ]+", expr):
                    raise ValueError(f"{path}: {entry}")
                value = eval(expr)
            else:
                value += 1
            names[name] = value
    return {n: v for n, v in names.items() if n.startswith("WEFT_")}


def spec_names(spec):
    names = {"WEFT_GENL_NAME": spec.all["name"],
             "WEFT_GENL_VERSION": spec.all["version"]}
    for name, value in spec.consts.items():
        names[f"WEFT_{upper(name)}"] = value
    for name, entries in spec.enums.items():
        for value, entry in enumerate(entries):
            if entry:
                names[f"WEFT_{upper(name)}_{upper(entry)}"] = value
    for s in spec.all["attribute-sets"]:
        for a in spec.sets[s["name"]].values():
            names[upper(s["name-prefix"] + a["name"])] = a["value"]
        names[upper(s["name-prefix"]) + "MAX"] = \
            max(a["value"] for a in spec.sets[s["name"]].values())
    prefix = upper(spec.all["operations"]["name-prefix"])
    every = [*spec.ops.values(), *spec.events.values()]
    for o in every:
        names[prefix + upper(o["name"])] = o["value"]
    names[prefix + "MAX"] = max(o["value"] for o in every)
    for group in spec.groups:
        names[f"WEFT_GENL_GROUP_{upper(group)}"] = group
    return names


def compare(spec, header):
    here, there = spec_names(spec), header_names(header)
    for name in sorted(set(here) | set(there)):
        if here.get(name) != there.get(name):
            wrong(f"{name}: {here.get(name)} in the description, "
                  f"{there.get(name)} in the header")
    if len(here) < 100:
        wrong(f"only {len(here)} names were compared")


# --- Netlink -------------------------------------------------------------------


def parse_attrs(data):
    at, attrs = 0, []
    while at + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, at)
        if length < 4 or at + length > len(data):
            raise ValueError("an attribute has no end")
        attrs.append((kind & 0x3fff, data[at + 4:at + length]))
        at += (length + 3) & ~3
    return attrs


def pack_attr(kind, data):
    return struct.pack("=HH", len(data) + 4, kind) + data + b"\0" * (-len(data) % 4)


class Family:
    def __init__(self, spec):
        self.spec = spec
        self.sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
        self.sock.bind((0, 0))
        self.sock.settimeout(WAIT_SECONDS)
        self.sock.setsockopt(SOL_NETLINK, NETLINK_EXT_ACK, 1)
        self.sock.setsockopt(SOL_NETLINK, NETLINK_CAP_ACK, 1)
        self.seq = 0
        name = spec.all["name"].encode() + b"\0"
        answer = self.exchange(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 1, NLM_F_ACK,
                               pack_attr(CTRL_ATTR_FAMILY_NAME, name))
        attrs = dict(answer[0])
        self.id = struct.unpack("=H", attrs[CTRL_ATTR_FAMILY_ID])[0]
        self.version = struct.unpack("=I", attrs[CTRL_ATTR_VERSION])[0]
        self.groups = {}
        for _, group in parse_attrs(attrs[CTRL_ATTR_MCAST_GROUPS]):
            of = dict(parse_attrs(group))
            self.groups[of[1].rstrip(b"\0").decode()] = struct.unpack("=I", of[2])[0]
        self.ops = {}
        for _, op in parse_attrs(attrs[CTRL_ATTR_OPS]):
            of = dict(parse_attrs(op))
            self.ops[struct.unpack("=I", of[1])[0]] = struct.unpack("=I", of[2])[0]

    def exchange(self, kind, cmd, version, flags, payload):
        """A request; returns the attributes of each message of the answer."""
        self.seq += 1
        body = struct.pack("=BBH", cmd, version, 0) + payload
        self.sock.send(struct.pack("=IHHII", len(body) + 16, kind,
                                   flags | NLM_F_REQUEST, self.seq, 0) + body)
        answer = []
        while True:
            data = self.sock.recv(1 << 20)
            at = 0
            while at < len(data):
                length, got, gflags, seq, _ = struct.unpack_from("=IHHII", data, at)
                body = data[at + 16:at + length]
                at += (length + 3) & ~3
                if seq != self.seq:
                    continue
                if got in (NLMSG_ERROR, NLMSG_DONE):
                    self.ended(got, gflags, body)
                    return answer
                if got != kind or body[0] != cmd and kind != GENL_ID_CTRL:
                    raise ValueError(f"an answer of type {got}, command {body[0]}")
                answer.append(parse_attrs(body[4:]))

    @staticmethod
    def ended(got, flags, body):
        code = -struct.unpack_from("=i", body)[0]
        if code <= 0:
            return
        skip = 4 if got == NLMSG_DONE else 20
        more = dict(parse_attrs(body[skip:])) if flags & NLM_F_ACK_TLVS else {}
        missing = more.get(5)
        raise Refused(code, more.get(1, b"").rstrip(b"\0").decode(), more.get(2),
                      missing and struct.unpack("=I", missing)[0])

    def encode(self, attrs, values):
        data = b""
        for name, value in values.items():
            a = attrs[name]
            for one in value if a.get("multi-attr") else [value]:
                data += pack_attr(a["value"], self.encode_one(a, one))
        return data

    @staticmethod
    def encode_one(a, value):
        if a["type"] == "string":
            return value.encode() + b"\0"
        if a["type"] == "binary":
            return value
        if a["type"] == "flag":
            return b""
        if a.get("display-hint") == "ipv4":
            value = struct.unpack(">I", socket.inet_aton(value))[0]
        order = ">" if a.get("byte-order") == "big-endian" else "="
        return struct.pack(order + {"u32": "I", "u64": "Q"}[a["type"]], value)

    def decode(self, name, raw):
        """Attributes of one message as the description has them."""
        by_value = {a["value"]: a for a in self.spec.sets[name].values()}
        values = {}
        for kind, data in raw:
            a = by_value.get(kind)
            if not a:
                raise ValueError(f"{name}: attribute {kind} is not described")
            if a["type"] == "pad":
                continue
            value = self.decode_one(name, a, data)
            if a.get("multi-attr"):
                values.setdefault(a["name"], []).append(value)
            elif a["name"] in values:
                raise ValueError(f"{name}: {a['name']} twice")
            else:
                values[a["name"]] = value
        return values

    def decode_one(self, name, a, data):
        if a["type"] == "nest":
            return self.decode(a["nested-attributes"], parse_attrs(data))
        if a["type"] == "string":
            if not data.endswith(b"\0") or b"\0" in data[:-1]:
                raise ValueError(f"{name}: {a['name']} is no string")
            return data[:-1].decode()
        size = {"u32": 4, "u64": 8, "flag": 0}[a["type"]]
        if len(data) != size:
            raise ValueError(f"{name}: {a['name']} has {len(data)} bytes")
        if a["type"] == "flag":
            return True
        if a.get("display-hint") == "ipv4":
            return socket.inet_ntoa(data)
        order = ">" if a.get("byte-order") == "big-endian" else "="
        value = struct.unpack(order + {4: "I", 8: "Q"}[size], data)[0]
        return self.spec.enums[a["enum"]][value] if "enum" in a else value

    def call(self, op, values=None, attrs=None):
        """A command by its name; a dictionary for each message of the answer."""
        o = self.spec.ops[op]
        way = "dump" if "dump" in o else "do"
        name = o["attribute-set"]
        described = set(o[way].get("reply", {}).get("attributes", []))
        raw = self.exchange(self.id, o["value"], self.version,
                            NLM_F_DUMP if way == "dump" else NLM_F_ACK,
                            self.encode(attrs or self.spec.sets[name], values or {}))
        answer = [self.decode(name, r) for r in raw]
        for a in answer:
            for key in set(a) - described:
                wrong(f"{op}: {key} is in the answer but not described")
            self.seen.setdefault(op, set()).update(a)
        return answer

    seen = {}

    def listen(self, group):
        self.sock.setsockopt(SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, self.groups[group])

    def event(self, seconds):
        """The next event, None if there is none in this time."""
        self.sock.settimeout(seconds)
        try:
            data = self.sock.recv(1 << 20)
        except TimeoutError:
            return None
        length, got, _, _, port = struct.unpack_from("=IHHII", data)
        (e,) = [e for e in self.spec.events.values() if e["value"] == data[16]]
        if got != self.id or length != len(data) or port:
            raise ValueError(f"an event of type {got}, port {port}, {len(data)} bytes")
        values = self.decode(e["attribute-set"], parse_attrs(data[20:]))
        for key in set(values) - set(e["event"]["attributes"]):
            wrong(f"{e['name']}: {key} is in it but not described")
        self.seen.setdefault(e["name"], set()).update(values)
        return values


# --- Driving -------------------------------------------------------------------


def refused(code, function, *args):
    try:
        function(*args)
    except Refused as r:
        if r.code != code:
            wrong(f"{args}: {r} instead of {os.strerror(code)}")
        return r
    wrong(f"{args}: it was not refused")
    return None


def must(holds, text):
    if not holds:
        wrong(text)


EINVAL, EPERM, ENOENT, ENOTCONN, ERANGE, EOPNOTSUPP = 22, 1, 2, 107, 34, 95
ENOTUNIQ, ENODEV, EDEADLK = 76, 19, 35
ADMIN_PERM, DO, DUMP = 1, 2, 4


def check_ops(f):
    """The family itself says which commands it has, and how they are used."""
    for o in f.spec.ops.values():
        flags = f.ops.pop(o["value"], None)
        if flags is None:
            wrong(f"{o['name']}: the family has no such command")
            continue
        must(bool(flags & ADMIN_PERM) == ("admin-perm" in o.get("flags", [])),
             f"{o['name']}: who may use it")
        must(bool(flags & DO) == ("do" in o) and bool(flags & DUMP) == ("dump" in o),
             f"{o['name']}: do or dump")
    must(not f.ops, f"commands that are not described: {list(f.ops)}")


def check_limits(f, good):
    """Each limit that is described holds, and is the kernel's."""
    for op in f.spec.ops.values():
        way = "dump" if "dump" in op else "do"
        for name in op[way].get("request", {}).get("attributes", []):
            attr = f.spec.sets[op["attribute-set"]][name]
            checks = attr.get("checks", {})
            base = good if op["name"] == "config-set" else {}
            for which, step in (("min", -1), ("max", 1)):
                if which in checks:
                    out = f.spec.number(checks[which]) + step
                    if 0 <= out < 1 << 32:
                        refused(ERANGE, f.call, op["name"], dict(base, **{name: out}))
            if "exact-len" in checks:
                for n in (-1, 1):
                    refused(ERANGE, f.call, op["name"], dict(base, **{
                        name: bytes(f.spec.number(checks["exact-len"]) + n)}))
            if "max-len" in checks:
                # the kernel misses the end of the string first
                refused(EINVAL, f.call, op["name"],
                        dict(base, **{name: "x" * (checks["max-len"] + 1)}))


def drive_config(f):
    good = {"id": 32, "rack": 0xffffffff, "ifname": "lo",
            "home": ["10.0.0.1", "10.0.0.2"], "twin": ["10.0.0.133"],
            "timeout-ms": 100, "hold-us": 0,
            "address": "10.1.2.3", "mtu": 9000}
    key = bytes([1, 2, 3]) + bytes(f.spec.number("key-bytes") - 3)

    for op in f.spec.ops:
        if op not in ("config-set", "stats-get", "hist-get", "rack-get", "tune"):
            refused(ENOTCONN, f.call, op)
    refused(ENOTCONN, f.call, "tune", {"hold-us": 1})
    must(f.call("rack-get") == [], "rack-get of none")
    for name in ("id", "home", "ifname"):
        r = refused(EINVAL, f.call, "config-set",
                    {k: v for k, v in good.items() if k != name})
        must(r and r.missing == f.spec.sets["config"][name]["value"] and r.text,
             f"config-set without {name}: {r}")
    check_limits(f, good)
    r = refused(EINVAL, f.call, "config-set", dict(good, **{"wire-version": 1}))
    must(r and r.attr and r.text, f"config-set with wire-version: {r}")
    f.call("config-set", {**{k: v for k, v in good.items() if k != "ifname"},
                          "ifindex": socket.if_nametoindex("lo"), "key": key})
    (c,) = f.call("config-get")
    must("key" not in c, "config-get tells the key")
    for k, v in dict(good, ifname="fake0").items():
        must(c[k] == v, f"config-get: {k} is {c[k]}, not {v}")
    must(c["ifindex"] == socket.if_nametoindex("lo"), f"config-get: {c}")
    f.call("tune", {"timeout-ms": 3600000, "hold-us": 10000})
    (c,) = f.call("config-get")
    must(c["timeout-ms"] == 3600000 and c["hold-us"] == 10000, f"tune: {c}")
    refused(EINVAL, f.call, "tune")
    refused(EINVAL, f.call, "tune", {"id": 1})


def drive_lists(f):
    (s,) = f.call("status-get")
    must(s["rack"] == 0xffffffff, f"status-get: {s}")
    must(s["members"] == 0xffffffff and s["cache-max"] == (1 << 64) - 1 and
         s["joined"] and s["lease-ms"] == 1234, f"status-get: {s}")
    counters = {c["name"]: c["value"] for c in f.call("stats-get")}
    must(counters["miss_upgrade"] == 3 and counters["sent_getm"] == 4,
         "stats-get: values")
    for member in (33, 34):
        blade = f.call("blade-stats-get", {"member": member})
        must(blade[0] == {"member": member}, f"blade-stats-get: first {blade[0]}")
        must(len(blade) == 201 and blade[42] == {"member": member, "name": "counter_41",
             "value": member << 32 | 41}, f"blade-stats-get: {len(blade)}")
    refused(ENOENT, f.call, "blade-stats-get", {"member": 35})
    switch = f.call("switch-stats-get")
    must(switch[0] == {} and switch[1] == {"name": "miss", "value": 100},
         f"switch-stats-get: {switch[:2]}")
    peers = f.call("peer-get")
    must([p["id"] for p in peers] == list(range(1, 49)), "peer-get: ids")
    must([p["id"] for p in peers if "self" in p] == [32] and
         all(("joined" in p) == (p["id"] < 33) for p in peers), "peer-get: flags")
    must([(p["id"], p["twin"], p["view"]) for p in peers if "twin" in p or "view" in p] ==
         [(48, "10.0.0.255", 2**32 - 1)], "peer-get: twins")
    must(f.call("node-fence", {"id": 5}) == [{"id": 5}], "node-fence")
    refused(EDEADLK, f.call, "node-fence", {"id": 32})
    refused(ENOENT, f.call, "node-fence", {"id": 6})
    refused(EINVAL, f.call, "node-fence")
    lost = f.call("lost-get", {"member": 34, "region": 3})
    must(lost == [{"member": 34}, *({"member": 34, "region": 3, "block": 8192, "offset": 8192 * 3 * i,
         "length": 8192 * 2} for i in range(200))], f"lost-get: {len(lost)}")
    refused(ENOENT, f.call, "lost-get", {"region": 4})
    refused(ENODEV, f.call, "lost-get", {"member": 35})
    blades = f.call("blade-get")
    must(blades == [{}] + [dict({"member": 33 + i, "address": f"10.0.0.{101 + i}",
         "bytes": 1 << 33, "needed": 1 << 32, "regions": 7 + i},
         **({"drains": True} if i else {"joined": True})) for i in range(2)],
         f"blade-get: {blades}")
    must(f.call("blade-set", {"member": 34, "action": 2}) == [{"member": 34}],
         "blade-set")
    refused(EINVAL, f.call, "blade-set", {"member": 34})
    must(f.call("region-spread", {"id": 3, "homes": 3}) == [{"id": 3}], "region-spread")
    hists = {h["name"]: h for h in f.call("hist-get")}
    must(hists["lock_hand_over"] == {"name": "lock_hand_over", "nsec": 3082, "bucket": [
        {"below": 1, "count": 1}, {"below": 2, "count": 1}, {"below": 4, "count": 2},
        {"below": 8, "count": 1}, {"below": 1024, "count": 1},
        {"below": 2048, "count": 2}]}, f"hist-get: {hists['lock_hand_over']}")
    must(hists["lock_yield"]["bucket"][-1] == {"count": 2}, "hist-get: no limit")
    must(len(hists["downgrade"]["bucket"]) == 40, "hist-get: a full one")


def drive_cache(f):
    regions = f.call("region-get")
    must([r["id"] for r in regions] == [3, 5, 7, 16777215], f"region-get: {regions}")
    must(regions[0]["name"] == "n" * 255 and regions[0]["lines"] == 2000 and
         regions[0]["size"] == 1 << 47 and "gone" not in regions[0], "region-get: 3")
    must("name" not in regions[1] and regions[1]["gone"] and
         regions[1]["locks"] == 1000, f"region-get: {regions[1]}")
    lines = f.call("line-get")
    must([x["index"] for x in lines] == [*range(0, 4000, 2), (1 << 36) - 1],
         f"line-get: {len(lines)} blocks")
    states, ops = f.spec.enums["state"], f.spec.enums["line-op"]
    for x in lines:
        i = x["index"]
        if x != {"region": 3 if i < 4000 else 16777215, "index": i,
                 "state": states[i % 3], "op": ops[i % 7], "waiters": 1,
                 "misses": i & 0xffffffff, "revocations": 0xffffffff,
                 **({"dirty": True} if i & 4 else {}),
                 **({"revoking": True} if i & 8 else {}),
                 **({"ahead": True} if i & 16 else {})}:
            wrong(f"line-get: {x}")
            break
    must(len(f.call("line-get", {"region": 3})) == 2000, "line-get of region 3")
    must(len(f.call("line-get", {"region": 16777215})) == 1, "line-get of the last")
    must(f.call("line-get", {"region": 7}) == [], "line-get of an empty region")
    locks = f.call("lock-get")
    must([(x["region"], x["offset"]) for x in locks] ==
         [*((5, i * 64) for i in range(1000)), (7, 4096)], f"lock-get: {len(locks)}")
    must(locks[0] == {"region": 5, "offset": 0, "state": "shared", "want": "modified",
                      "readers": 2, "waiters": 3, "queue": 31, "grants": 4,
                      "hand-overs": 5, "open": True}, f"lock-get: {locks[0]}")
    must({"writer", "tenured", "revoking"} <= set(locks[-1]), f"lock-get: {locks[-1]}")
    must(len(f.call("lock-get", {"region": 5})) == 1000, "lock-get of region 5")
    must(len(f.call("lock-get", {"region": 7})) == 1, "lock-get of region 7")
    must(f.call("lock-get", {"region": 3}) == [], "lock-get of region 3")
    for op in ("line-get", "lock-get"):
        # Linux 6.1 has no room for a sentence when a list cannot begin.
        refused(ENOENT, f.call, op, {"region": 4})


def drive_racks(f):
    """A second rack: each request says which it means, and gets that one."""
    f.call("config-set", {"id": 7, "rack": 5, "ifname": "lo", "home": ["10.0.0.9"]})
    racks = {c["rack"]: c for c in f.call("rack-get")}
    must(list(racks) == [5, 0xffffffff] and racks[5]["id"] == 7 and
         racks[5]["home"] == ["10.0.0.9"], f"rack-get: {racks}")
    for o in f.spec.ops.values():
        way = "dump" if "dump" in o else "do"
        if "rack" not in o[way].get("request", {}).get("attributes", []):
            must(o["name"] == "rack-get", f"{o['name']}: of which rack?")
            continue
        if "admin-perm" in o.get("flags", []):
            continue
        refused(ENOTUNIQ, f.call, o["name"])
        refused(ENOTCONN, f.call, o["name"], {"rack": 6})
        must(f.call(o["name"], {"rack": 5}) != [] and
             f.call(o["name"], {"rack": 0xffffffff}) != [], f"{o['name']} of each")
    f.call("tune", {"rack": 5, "hold-us": 77})
    must([f.call("config-get", {"rack": r})[0]["hold-us"] for r in racks] == [77, 10000],
         "tune of one of them")
    refused(ENOTUNIQ, f.call, "config-clear")
    f.call("config-clear", {"rack": 5})
    refused(ENOTCONN, f.call, "status-get", {"rack": 5})


def drive(spec):
    f = Family(spec)
    must(f.version == spec.all["version"], f"the family has version {f.version}")
    check_ops(f)
    drive_config(f)
    drive_lists(f)
    drive_cache(f)
    drive_racks(f)
    # A do where a dump is given, and the other way round.
    for o in spec.ops.values():
        flags = NLM_F_ACK if "dump" in o else NLM_F_DUMP
        refused(EOPNOTSUPP, f.exchange, f.id, o["value"], 1, flags, b"")
    f.call("config-clear")
    for o in spec.ops.values():
        way = "dump" if "dump" in o else "do"
        for a in o[way].get("reply", {}).get("attributes", []):
            must(a in f.seen.get(o["name"], ()), f"{o['name']}: {a} never came")


# --- Events --------------------------------------------------------------------


def provoke(what):
    """Have the module of tests/ctl/fakes/node tell something."""
    with open("/sys/module/weft_fakenode/parameters/event", "w", encoding="ascii") as p:
        p.write(str(what))


def expect(f, seconds, **values):
    """The next event is this one; a process is ourselves, the time is now."""
    e = f.event(seconds)
    if not e:
        wrong(f"no event, instead of {values}")
        return
    must(e.pop("rack", None) == 0, f"{e}: the rack")
    late = abs(e.pop("time", 0) / 1e9 - time.time())
    must(late < 30, f"{e}: {late} s from now")
    if "pid" in values:
        values.update(pid=os.getpid(),
                      comm=open("/proc/self/comm", encoding="utf-8").read().strip())
    must(e == values, f"{e} instead of {values}")


def hear(spec):
    f = Family(spec)
    must(list(f.groups) == spec.groups, f"the family has the groups {list(f.groups)}")
    # Nobody listens: nothing is told, and nothing is kept.
    provoke(1)
    f.listen("events")
    must(f.event(0.5) is None, "an event from before we listened")
    provoke(1)
    expect(f, 10, kind="node-joined", member=32)
    expect(f, 10, kind="node-left", member=5)
    expect(f, 10, kind="node-joined", member=5)
    expect(f, 10, kind="member-silent", member=33)
    expect(f, 10, kind="member-heard", member=33)
    expect(f, 10, kind="region-created", region=7, name="made", pid=0)
    expect(f, 10, kind="region-removed", region=7, name="made", pid=0)
    expect(f, 10, kind="region-removed", region=16777215, name="n" * 255)
    expect(f, 10, kind="lock-abandoned", region=5, offset=(1 << 64) - 1, count=3, pid=0)
    expect(f, 10, kind="lock-owner-died", region=7, offset=640)
    expect(f, 10, kind="blocks-lost", region=7, count=(1 << 64) - 1)
    expect(f, 10, kind="access-failed", region=7, offset=4101, errno=110, pid=0)
    expect(f, 10, kind="unanswered", region=7, offset=65536, count=8)
    expect(f, 10, kind="node-dead", member=5)
    expect(f, 10, kind="blade-moved", member=33, address="10.0.0.133")
    expect(f, 10, kind="node-left", member=32)
    must(f.event(0.5) is None, "more events than there were")

    # A flood: a few a second, and how many there were is known.
    time.sleep(1.5)
    provoke(2)
    told = missed = 0
    while e := f.event(0.5):
        must(e["kind"] == "access-failed", f"{e} in the flood")
        told += 1
        missed += e.get("missed", 0)
    time.sleep(1.1)
    provoke(1)
    while e := f.event(0.5):
        if e["kind"] == "access-failed":
            told += 1
            missed += e.get("missed", 0)
    must(told + missed == 1001, f"{told} events and {missed} missed of 1001")
    must(20 <= told <= 62, f"{told} events of a flood were told")

    # Where the directory is: told when it changes, which takes two looks.
    provoke(3)
    expect(f, 10, kind="node-joined", member=32)
    time.sleep(3)
    provoke(4)
    expect(f, 10, kind="directory", count=5, switch=True)
    provoke(4)
    must(f.event(3) is None, "an event though the directory is where it was")
    provoke(5)
    must(f.event(3) is None, "few answers of homes move the directory")
    provoke(5)
    expect(f, 10, kind="directory", count=10)
    provoke(6)
    expect(f, 10, kind="node-left", member=32)
    for o in spec.events.values():
        for a in o["event"]["attributes"]:
            must(a in f.seen.get(o["name"], ()), f"{o['name']}: {a} never came")


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "compare":
        compare(Spec(sys.argv[2]), sys.argv[3])
    elif len(sys.argv) == 3 and sys.argv[1] == "drive":
        drive(Spec(sys.argv[2]))
    elif len(sys.argv) == 3 and sys.argv[1] == "hear":
        hear(Spec(sys.argv[2]))
    else:
        sys.exit("usage: yamlclient.py compare SPEC HEADER | drive SPEC | hear SPEC")
    sys.exit(bad)


main()
