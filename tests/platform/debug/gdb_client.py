# SPDX-License-Identifier: Apache-2.0
"""A debugger's side of GDB's remote serial protocol, and a `cnnvp` that waits for one."""
import re
import socket
import subprocess


class Client:
    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.input = b""

    def close(self):
        self.socket.close()

    def byte(self):
        while not self.input:
            self.input = self.socket.recv(65536)
            if not self.input:
                raise EOFError
        first, self.input = self.input[:1], self.input[1:]
        return first

    def send(self, text):
        data = text if isinstance(text, bytes) else text.encode()
        self.socket.sendall(b"$" + data + b"#%02x" % (sum(data) & 255))

    def receive(self):
        while self.byte() != b"$":
            pass
        data = b""
        while (c := self.byte()) != b"#":
            data += bytes([self.byte()[0] ^ 0x20]) if c == b"}" else c
        self.byte()
        self.byte()
        if data[:1] in (b"W", b"X"):
            self.close()  # there is no more to come
        else:
            self.socket.sendall(b"+")
        return data.decode("latin1")

    def ask(self, text):
        self.send(text)
        return self.receive()

    def interrupt(self):
        self.socket.sendall(b"\x03")
        return self.receive()

    def pc(self):
        return int.from_bytes(bytes.fromhex(self.ask("p20")), "little")

    def monitor(self, words):
        self.send("qRcmd," + words.encode().hex())
        text = ""
        while (answer := self.receive()) != "OK":
            text += bytes.fromhex(answer[1:]).decode()
        return text


class Run:
    """cnnvp with words of a command line, until it waits for its debugger."""

    def __init__(self, program, *words):
        self.process = subprocess.Popen([program, *words, "--gdb", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        line = self.process.stderr.readline().decode()
        found = re.search(r"target remote :(\d+)", line)
        assert found, line + self.process.stderr.read().decode()
        self.port = int(found[1])

    def client(self):
        return Client(self.port)

    def end(self):
        """Exit status, standard output, standard error."""
        out, error = self.process.communicate(timeout=120)
        return self.process.returncode, out.decode(), error.decode()
