"""A TCP proxy between a Patroni and an etcd, which can be cut: from then on no byte passes, as if packets were dropped."""

import selectors
import socket
import threading


class EtcdProxy:
    """Passes on what arrives at `port` of 127.0.0.1, until a file called `cut` exists; goes on when it is gone."""

    INTERVAL = 0.1

    def __init__(self, port, target_port, cut):
        self.target_port, self.cut = target_port, cut
        self.selector = selectors.DefaultSelector()
        self.listener = socket.create_server(("127.0.0.1", port))
        self.selector.register(self.listener, selectors.EVENT_READ)
        self.peers = {}
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def close(self):
        self.is_over.set()
        self.thread.join()
        for end in [self.listener, *self.peers]:
            end.close()

    def run(self):
        while not self.is_over.is_set():
            if self.cut.exists():
                # What was sent meanwhile waits in the system's buffers, and new connections in the listener's queue.
                self.is_over.wait(self.INTERVAL)
                continue
            for key, _ in self.selector.select(self.INTERVAL):
                if key.fileobj is self.listener:
                    self.accept()
                elif key.fileobj in self.peers:
                    self.forward(key.fileobj)

    def accept(self):
        client, _ = self.listener.accept()
        try:
            target = socket.create_connection(("127.0.0.1", self.target_port), timeout=1)
        except OSError:
            return client.close()
        target.settimeout(None)
        for end, peer in [(client, target), (target, client)]:
            self.peers[end] = peer
            self.selector.register(end, selectors.EVENT_READ)

    def forward(self, end):
        try:
            data = end.recv(65536)
            if data:
                return self.peers[end].sendall(data)
        except OSError:
            pass
        for closed in [end, self.peers[end]]:
            self.selector.unregister(closed)
            del self.peers[closed]
            closed.close()
