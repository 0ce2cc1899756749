"""Requests by hand, over sockets that a test opens, fills and drops as it likes."""

import json
import socket


def connect(server, timeout=20.0):
    host, port = server.address.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=timeout)


def check_request(text="高心", **headers):
    body = json.dumps({"text": text}).encode()
    lines = ["POST /v1/check HTTP/1.1", "Host: localhost", "Content-Type: application/json"]
    lines += [f"Content-Length: {len(body)}", *(f"{name}: {value}" for name, value in headers.items())]
    return "\r\n".join([*lines, "", ""]).encode() + body


def get_request(path):
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def read_answer(connection):
    """(status, headers, body) of one answer; None where the server closed the connection."""
    received = b""
    while b"\r\n\r\n" not in received:
        piece = connection.recv(65_536)
        if not piece:
            return None
        received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    while len(body) < int(headers["content-length"]):
        body += connection.recv(65_536)
    return int(first.split()[1]), headers, body


def exchange(server, request):
    with connect(server) as connection:
        connection.sendall(request)
        return read_answer(connection)
