#!/usr/bin/env python3
"""Does a cluster lose acknowledged writes when slots move to and fro? Redis alone: plain SET, no whittle.

plain_slots.py [seconds] [next: at_once | known]. Three redis-server nodes on loopback; four writers follow MOVED and
ASK; six slots move as `redis-cli --cluster reshard` moves them, but errors of SETSLOT and MIGRATE are ignored. With
`known` each move waits until all nodes tell it. Prints what was acknowledged and is gone.
"""
import collections
import random
import socket
import subprocess
import sys
import tempfile
import threading
import time

SLOTS = 16_384
NODES = 3
TAGS = [f"t{i}" for i in range(64)]
MOVING = TAGS[:6]


class Refusal(Exception):
    """An error that a server answered."""


class Connection:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), 5)
        self.socket.settimeout(10)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.answers = self.socket.makefile("rb")

    def __call__(self, *words):
        """The answer; a Refusal is returned, not raised."""
        words = [word if isinstance(word, bytes) else str(word).encode() for word in words]
        parts = [b"$%d\r\n%s\r\n" % (len(word), word) for word in words]
        self.socket.sendall(b"*%d\r\n" % len(words) + b"".join(parts))
        return self.read()

    def read(self):
        line = self.answers.readline()[:-2]
        kind, rest = line[:1], line[1:]
        if kind == b"-":
            return Refusal(rest.decode())
        if kind == b":":
            return int(rest)
        if kind == b"$":
            return None if rest == b"-1" else self.answers.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return [self.read() for _ in range(int(rest))]
        return rest


def slot_of(tag):
    crc = 0
    for byte in tag.encode():
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x1021 if crc & 0x8000 else crc << 1) & 0xFFFF
    return crc % SLOTS


def first_owner(slot):
    return next(i for i in range(NODES) if slot < SLOTS * (i + 1) // NODES)


class Cluster:
    def __init__(self, folder):
        self.ports = [free_port() for _ in range(NODES)]
        self.servers = [self.start(folder, port) for port in self.ports]
        nodes = [connect(port) for port in self.ports]
        self.ids = [node("CLUSTER", "MYID").decode() for node in nodes]
        for i, node in enumerate(nodes):
            node("CLUSTER", "SET-CONFIG-EPOCH", i + 1)
            node("CLUSTER", "ADDSLOTSRANGE", SLOTS * i // NODES, SLOTS * (i + 1) // NODES - 1)
            node("CLUSTER", "MEET", "127.0.0.1", self.ports[0])
        while not all(b"cluster_slots_ok:16384" in node("CLUSTER", "INFO") for node in nodes):
            time.sleep(0.1)

    @staticmethod
    def start(folder, port):
        words = f"--port {port} --dir {folder} --cluster-enabled yes --cluster-config-file {port}.conf"
        words += " --cluster-node-timeout 600 --cluster-require-full-coverage no --save"
        return subprocess.Popen(["redis-server", *words.split(), ""], stdout=subprocess.DEVNULL)


def free_port():
    while True:
        port = random.randrange(20_000, 50_000)
        with socket.socket() as probe, socket.socket() as bus:
            try:
                probe.bind(("127.0.0.1", port))
                bus.bind(("127.0.0.1", port + 10_000))
                return port
            except OSError:
                continue


def connect(port):
    for _ in range(200):
        try:
            return Connection(port)
        except OSError:
            time.sleep(0.05)
    sys.exit("redis-server does not answer")


def ask_owner(cluster, connections, port, *command):
    """The answer, and who gave it; what passes is tried again for 10 seconds."""
    is_asking = False
    until = time.monotonic() + 10
    answer = Refusal("never asked")
    while time.monotonic() < until:
        if port not in connections:
            connections[port] = Connection(port)
        connection = connections[port]
        if is_asking:
            connection("ASKING")
        answer = connection(*command)
        word, *rest = str(answer).split() if isinstance(answer, Refusal) else [""]
        if word not in ("MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN"):
            break
        is_asking = word == "ASK"
        if word in ("MOVED", "ASK"):
            port = int(rest[1].rsplit(":", 1)[1])
        else:
            time.sleep(0.002)
            port = random.choice(cluster.ports)
    return answer, port


def write_until(cluster, over, number, acknowledged):
    connections, port_of = {}, collections.defaultdict(lambda: cluster.ports[0])
    while not over.is_set():
        tag = random.choice(TAGS)
        key = f"{{{tag}}}:{number}:{len(acknowledged)}"
        answer, port_of[tag] = ask_owner(cluster, connections, port_of[tag], "SET", key, "v" * 200, "NX")
        if answer == b"OK":
            acknowledged.append(key)


def owner_told_by(node, slot):
    return next((entry[2][1] for entry in node("CLUSTER", "SLOTS") if entry[0] <= slot <= entry[1]), None)


def move_until(cluster, over, waits, tally):
    nodes = [Connection(port) for port in cluster.ports]
    owners = {tag: first_owner(slot_of(tag)) for tag in MOVING}

    def order(node, *words):
        if isinstance(node(*words), Refusal):
            tally["errors ignored"] += 1

    while not over.is_set():
        tag = random.choice(MOVING)
        slot, source = slot_of(tag), owners[tag]
        target = (source + random.choice((1, 2))) % NODES
        order(nodes[target], "CLUSTER", "SETSLOT", slot, "IMPORTING", cluster.ids[source])
        order(nodes[source], "CLUSTER", "SETSLOT", slot, "MIGRATING", cluster.ids[target])
        while keys := nodes[source]("CLUSTER", "GETKEYSINSLOT", slot, 100):
            order(nodes[source], "MIGRATE", "127.0.0.1", cluster.ports[target], "", 0, 5_000, "KEYS", *keys)
        for node in (nodes[target], nodes[source]):
            order(node, "CLUSTER", "SETSLOT", slot, "NODE", cluster.ids[target])
        owners[tag] = target
        tally["moves"] += 1
        while waits and any(owner_told_by(node, slot) != cluster.ports[target] for node in nodes):
            time.sleep(0.005)
        time.sleep(0.05 if waits else 0)


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20
    waits = sys.argv[2:] == ["known"]
    with tempfile.TemporaryDirectory() as folder:
        cluster = Cluster(folder)
        try:
            over, tally, acknowledged = threading.Event(), collections.Counter(), [[] for _ in range(4)]
            threads = [threading.Thread(target=write_until, args=(cluster, over, i, keys)) for i, keys in enumerate(acknowledged)]
            threads.append(threading.Thread(target=move_until, args=(cluster, over, waits, tally)))
            for thread in threads:
                thread.start()
            time.sleep(seconds)
            over.set()
            for thread in threads:
                thread.join()
            time.sleep(3)
            connections = {}
            keys = [key for part in acknowledged for key in part]
            lost = sum(ask_owner(cluster, connections, cluster.ports[0], "EXISTS", key)[0] != 1 for key in keys)
            print(f"{tally['moves']} moves, {tally['errors ignored']} errors ignored, {len(keys)} acknowledged, {lost} lost")
        finally:
            for server in cluster.servers:
                server.kill()
                server.wait()


if __name__ == "__main__":
    main()
