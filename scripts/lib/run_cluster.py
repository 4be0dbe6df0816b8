"""Starts the cluster of deploy/cluster on 127.0.0.1 with two servers before it, says how to break it, and waits for Ctrl-C."""

import os
import signal
import sys
import time

from clustered_service import ClusteredService
from database_cluster import DatabaseCluster

# How long a killed Patroni stays away: longer than it takes to elect another leader.
PAUSE = 40


def describe(cluster, service):
    folder, node = cluster.folder, cluster.leader().name
    first, second = [server.url for server in service.servers]
    print(f"""
servers      {first} and {second}; deploy/haproxy is what goes before them
  try        curl '{first}/locations?lat=37.3293&long=-121.8893&limit=2'
leader       psql '{service.migrate_url}'
state        {folder}/patronictl list
logs         {folder}/*.log {folder}/db*/*.log

How to break {node}, which is the leader now, from another terminal:
kill         kill -9 $(cat {folder}/{node}/patroni.pid) $(head -1 {folder}/{node}/poi/postmaster.pid)
             It is started again after {PAUSE} s.
freeze       kill -STOP $(cat {folder}/{node}/patroni.pid)
thaw         kill -CONT $(cat {folder}/{node}/patroni.pid)
cut off      kill -STOP $(cat {folder}/{node}/proxy.pid)
reconnect    kill -CONT $(cat {folder}/{node}/proxy.pid)
switch over  {folder}/patronictl switchover poi --force

Ctrl-C ends everything and removes it.""", flush=True)


def restart_killed(cluster, ended):
    """Does what systemd would: starts Patroni again where it has ended; `ended` says when each was seen to."""
    for node in cluster.nodes:
        if node.patroni.poll() is None:
            continue
        if node not in ended:
            print(f"{node.name} has ended, and is started again in {PAUSE} s", flush=True)
            ended[node] = time.monotonic()
        elif time.monotonic() - ended[node] > PAUSE:
            del ended[node]
            cluster.start_patroni(node)


def main():
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        print("starting three etcd, three PostgreSQL with Patroni, and HAProxy", flush=True)
        with DatabaseCluster() as cluster, ClusteredService(os.environ["POI_BINARY"], cluster) as service:
            describe(cluster, service)
            ended, leader = {}, cluster.leader()
            while True:
                time.sleep(0.5)
                restart_killed(cluster, ended)
                current = cluster.leader()
                if current is not leader:
                    print(f"leader: {current.name if current else 'none'}", flush=True)
                    leader = current
    except KeyboardInterrupt:
        print("ended")


try:
    main()
except (TimeoutError, RuntimeError) as error:
    sys.exit(f"cluster: {error}")
