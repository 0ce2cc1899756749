"""Which requests come from one client: they share its share of the engine."""

import ipaddress
from functools import lru_cache

from starlette.datastructures import Headers
from starlette.types import Scope

_IPV6_NETWORK_BITS = 64


def client_of(scope: Scope) -> str:
    """The address that a request comes from; on this machine, where all share one, the program.

    Uvicorn has put the address of `X-Forwarded-For` into the scope where a trusted proxy sent it.
    """
    network = _network(scope["client"][0] if scope.get("client") else "")
    return network or Headers(scope=scope).get("user-agent", "")


@lru_cache(4_096)
def _network(host: str) -> str:
    """An IPv4 address, or the IPv6 network of one subscriber; empty for this machine."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if address.is_loopback:
        return ""
    if address.version == 4:
        return str(address)
    return str(ipaddress.ip_network((address, _IPV6_NETWORK_BITS), strict=False))
