"""A WebSocket client in a few lines, for the load test: no package is needed."""
import base64
import json
import os
import socket
import struct
from urllib.parse import urlsplit


class Client:
    def __init__(self, url, receive_buffer=None, host=None, origin=None, protocol="twang"):
        place = urlsplit(url)
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(60)
        self.socket.connect((place.hostname, place.port))
        key = base64.b64encode(os.urandom(16)).decode()
        own = f"http://{place.netloc}" if origin is None else origin
        origin_line = f"Origin: {own}\r\n" if own else ""
        protocol_line = f"Sec-WebSocket-Protocol: {protocol}\r\n" if protocol else ""
        self.socket.sendall((f"GET /?{place.query} HTTP/1.1\r\nHost: {host or place.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             f"{origin_line}Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
                             f"{protocol_line}\r\n").encode())
        self.data = b""
        while b"\r\n\r\n" not in self.data:
            part = self.socket.recv(65536)
            if not part:
                raise ConnectionError("refused")
            self.data += part
        head, self.data = self.data.split(b"\r\n\r\n", 1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise ConnectionError(head.decode())

    def take(self, count):
        parts = [self.data]
        size = len(self.data)
        while size < count:
            part = self.socket.recv(1 << 20)
            if not part:
                raise ConnectionError("closed")
            parts.append(part)
            size += len(part)
        data = b"".join(parts)
        self.data = data[count:]
        return data[:count]

    def message(self):
        """The next message: text, or bytes."""
        payload = []
        kind = 0
        while True:
            first, second = self.take(2)
            length = second & 127
            if length == 126:
                length = struct.unpack(">H", self.take(2))[0]
            elif length == 127:
                length = struct.unpack(">Q", self.take(8))[0]
            body = self.take(length)
            if first & 15 in (1, 2):
                kind = first & 15
            if first & 15 in (0, 1, 2):
                payload.append(body)
                if first & 128:
                    whole = b"".join(payload)
                    return whole.decode() if kind == 1 else whole

    def frame(self):
        """The next frame: its simulated time and the numbers of the first lane."""
        while True:
            message = self.message()
            if isinstance(message, bytes) and struct.unpack_from("<I", message, 8)[0] == 1:
                count = struct.unpack_from("<I", message, 24)[0]
                return struct.unpack_from("<d", message, 40)[0], struct.unpack_from(f"<{count}d", message, 72), len(message)

    def send(self, command):
        data = json.dumps(command).encode()
        size = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + struct.pack(">H", len(data))
        self.socket.sendall(b"\x81" + size + bytes(4) + data)

    def close(self):
        self.socket.close()
