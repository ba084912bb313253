"""Qdrant's REST API over its real engine in this process, for tests: qdrant-edge-py has
the segments, indexes and filters of the server, and neither network nor collections.
What stands here is collections, aliases and the wire format, for the routes that
store/qdrant uses. Usage: python qdrant.py PORT DIR"""
import json
import os
import re
import shutil
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import qdrant_edge as e

DIR = sys.argv[2]
LOCK = threading.RLock()
SHARDS = {}
ALIASES = {}
ALIAS_FILE = os.path.join(DIR, "aliases.json")
BOOL = "__bool"  # the engine's binding takes True for the integer 1: bools get a shadow


class Refused(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status, self.message = status, message


def load():
    if os.path.exists(ALIAS_FILE):
        with open(ALIAS_FILE, encoding="utf-8") as f:
            ALIASES.update(json.load(f))
    for name in os.listdir(DIR):
        path = os.path.join(DIR, name)
        if os.path.isdir(path):
            SHARDS[name] = e.EdgeShard.load(path)


def save_aliases():
    with open(ALIAS_FILE, "w", encoding="utf-8") as f:
        json.dump(ALIASES, f)


def shard(name):
    s = SHARDS.get(ALIASES.get(name, name))
    if s is None:
        raise Refused(404, f"Not found: Collection `{name}` doesn't exist!")
    return s


def shadow(x):
    if isinstance(x, dict):
        out = {}
        for k, v in x.items():
            out[k] = shadow(v)
            vs = v if isinstance(v, list) else [v]
            if vs and all(isinstance(b, bool) for b in vs):
                out[k + BOOL] = [str(b) for b in vs]
        return out
    if isinstance(x, list):
        return [shadow(v) for v in x]
    return x


def plain(x):
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items() if not k.endswith(BOOL)}
    if isinstance(x, list):
        return [plain(v) for v in x]
    return x


def match(m):
    if "value" in m:
        return e.MatchValue(m["value"])
    return e.MatchAny(m["any"])


def condition(c):
    if "is_empty" in c:
        return e.IsEmptyCondition(c["is_empty"]["key"])
    if "nested" in c:
        return e.NestedCondition(c["nested"]["key"], clause(c["nested"]["filter"]))
    if "has_id" in c:
        return e.HasIdCondition({uuid.UUID(i) for i in c["has_id"]})
    if "key" in c:
        if "match" in c:
            v = c["match"].get("value")
            if isinstance(v, bool):
                return e.FieldCondition(c["key"] + BOOL, match=e.MatchValue(str(v)))
            return e.FieldCondition(c["key"], match=match(c["match"]))
        return e.FieldCondition(c["key"], range=e.RangeFloat(**{k: float(v) for k, v in c["range"].items()}))
    return clause(c)


def clause(f):
    if f is None:
        return None
    def listed(name):
        return [condition(c) for c in f[name]] if name in f else None
    return e.Filter(must=listed("must"), should=listed("should"), must_not=listed("must_not"))


def vector(v):
    out = {}
    for name, x in (v or {}).items():
        out[name] = e.SparseVector(x["indices"], x["values"]) if isinstance(x, dict) else x
    return out


def vector_out(v):
    out = {}
    for name, x in (v or {}).items():
        out[name] = {"indices": x.indices, "values": x.values} if isinstance(x, e.SparseVector) else x
    return out


def payload_selector(w):
    if isinstance(w, list):
        # Shadows of what is asked for are left out with the rest.
        return e.PayloadSelector.Include(w) if hasattr(e.PayloadSelector, "Include") else w
    return w


def point(p, score=None):
    out = {"id": str(p.id), "version": 0}
    if p.payload is not None:
        out["payload"] = plain(p.payload)
    if p.vector is not None:
        out["vector"] = vector_out(p.vector)
    if score is not None:
        out["score"] = score
    return out


DATATYPES = {"float16": e.VectorStorageDatatype.Float16, "float32": e.VectorStorageDatatype.Float32}


def create(name, body):
    if name in SHARDS or name in ALIASES:
        raise Refused(409, f"Wrong input: Collection `{name}` already exists!")
    vectors = {n: e.EdgeVectorParams(size=v["size"], distance=getattr(e.Distance, v["distance"]), datatype=DATATYPES[v.get("datatype", "float32")])
               for n, v in (body.get("vectors") or {}).items()}
    sparse = {n: e.EdgeSparseVectorParams() for n in body.get("sparse_vectors") or {}}
    if not vectors and not sparse:
        sparse = {"none": e.EdgeSparseVectorParams()}  # the server takes points without any vector, the engine needs the name of one
    path = os.path.join(DIR, name)
    os.makedirs(path)
    SHARDS[name] = e.EdgeShard.create(path, e.EdgeConfig(vectors=vectors, sparse_vectors=sparse or None))
    return True


def drop(name):
    s = SHARDS.pop(name, None)
    if s is None:
        raise Refused(404, f"Not found: Collection `{name}` doesn't exist!")
    s.close()
    shutil.rmtree(os.path.join(DIR, name), ignore_errors=True)
    for alias in [a for a, c in ALIASES.items() if c == name]:
        del ALIASES[alias]
    save_aliases()
    return True


def aliases(body):
    for a in body["actions"]:
        if "delete_alias" in a:
            ALIASES.pop(a["delete_alias"]["alias_name"], None)
        else:
            c = a["create_alias"]
            if c["alias_name"] in SHARDS:
                raise Refused(409, f"Wrong input: Collection `{c['alias_name']}` already exists!")
            ALIASES[c["alias_name"]] = c["collection_name"]
    save_aliases()
    return True


TYPES = {"keyword": "Keyword", "integer": "Integer", "float": "Float", "bool": "Bool"}


def index(s, body):
    kind = getattr(e.PayloadSchemaType, TYPES[body["field_schema"]])
    s.update(e.UpdateOperation.create_field_index(body["field_name"], kind))
    if body["field_schema"] == "bool":
        s.update(e.UpdateOperation.create_field_index(body["field_name"] + BOOL, e.PayloadSchemaType.Keyword))


def update(s, op):
    if "upsert" in op:
        points = [e.Point(uuid.UUID(p["id"]), vector(p.get("vector")), shadow(p.get("payload") or {})) for p in op["upsert"]["points"]]
        s.update(e.UpdateOperation.upsert_points(points))
    else:
        s.update(e.UpdateOperation.delete_points([uuid.UUID(i) for i in op["delete"]["points"]]))


def count(s, b):
    return {"count": s.count(e.CountRequest(exact=True, filter=clause(b.get("filter"))))}


def scroll(s, b):
    offset = b.get("offset")
    rs, following = s.scroll(e.ScrollRequest(offset=uuid.UUID(offset) if offset else None, limit=b["limit"], filter=clause(b.get("filter")),
                                             with_payload=payload_selector(b["with_payload"]), with_vector=b["with_vector"]))
    return {"points": [point(r) for r in rs], "next_page_offset": str(following) if following is not None else None}


def retrieve(s, b):
    rs = s.retrieve([uuid.UUID(i) for i in b["ids"]], with_payload=payload_selector(b["with_payload"]), with_vector=b["with_vector"])
    return [point(r) for r in rs]


def query(s, b):
    q = b["query"]
    q = e.SparseVector(q["indices"], q["values"]) if isinstance(q, dict) else q
    rs = s.query(e.QueryRequest(limit=b["limit"], query=e.Query.Nearest(q, using=b["using"]), filter=clause(b.get("filter")),
                                with_payload=payload_selector(b["with_payload"]), with_vector=b["with_vector"],
                                params=e.SearchParams(exact=b["params"]["exact"])))
    return {"points": [point(r, r.score) for r in rs]}


def facet(s, b):
    key, is_bool = b["key"], False
    hits = s.facet(e.FacetRequest(key, limit=b["limit"], exact=True, filter=clause(b.get("filter")))).hits
    return {"hits": [{"value": h.value, "count": h.count} for h in hits]}


COLLECTION = re.compile(r"^/collections/([^/?]+)(/[^?]*)?(\?.*)?$")


def answer(method, path, body):
    if path == "/collections" and method == "GET":
        return {"collections": [{"name": n} for n in SHARDS]}
    if path == "/aliases":
        return {"aliases": [{"alias_name": a, "collection_name": c} for a, c in ALIASES.items()]}
    if path == "/collections/aliases":
        return aliases(body)
    m = COLLECTION.match(path)
    if not m:
        raise Refused(404, "no such route")
    name, route = m.group(1), m.group(2) or ""
    if route == "/exists":
        return {"exists": ALIASES.get(name, name) in SHARDS}
    if route == "" and method == "PUT":
        return create(name, body)
    if route == "" and method == "DELETE":
        return drop(name)
    s = shard(name)
    if route == "/index":
        index(s, body)
        return {"status": "completed"}
    if route == "/points/batch":
        for op in body["operations"]:
            update(s, op)
        return [{"status": "completed"} for _ in body["operations"]]
    routes = {"/points/count": count, "/points/scroll": scroll, "/points": retrieve, "/points/query": query, "/facet": facet}
    return routes[route](s, body)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # head and body in one packet: else each answer waits 40 ms for an ACK
    disable_nagle_algorithm = True

    def serve(self):
        n = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(n)
        status, result, error = 200, None, None
        try:
            with LOCK:
                result = answer(self.command, self.path, json.loads(raw) if raw else None)
        except Refused as x:
            status, error = x.status, x.message
        except Exception as x:  # the engine's complaints are about requests
            status, error = 400, f"Wrong input: {type(x).__name__}: {x}"
        body = json.dumps({"result": result, "status": {"error": error} if error else "ok", "time": 0.0}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_PUT = do_POST = do_DELETE = serve

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


os.makedirs(DIR, exist_ok=True)
load()
Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
