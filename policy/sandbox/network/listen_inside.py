"""Opens a listener in the network of a confined program and hands it out; runs beside bubblewrap.

The supervisor of the program calls `main` in a process of its own. Bubblewrap reports the process
that it has made on the descriptor `report` (`--info-fd`), and waits. This one enters the network of
that process, which leads nowhere, listens there, and sends the listening socket over the Unix
socket `handover`: whoever gets it accepts connections from inside, and is in another network. Where
that fails, it sends the reason.

It is a process of its own because only one with a single thread can enter another user namespace.
It ends before the confined program starts.
"""

from __future__ import annotations

# `socket` and `json` import so much that they would take longer than all that is done here.
import _socket
import ctypes
import fcntl
import os
import sys

# <linux/nsfs.h>, <linux/sched.h>
_NS_GET_USERNS = 0xB701
_CLONE_NEWUSER = 0x10000000
_CLONE_NEWNET = 0x40000000
_LONGEST = 65_536
_WAITING = 128  # connections that nobody has accepted yet


def main(report: int, handover: int, port: int) -> None:
    """Hand out a listener on the loopback address, or say why not."""
    service = _socket.socket(fileno=handover)
    try:
        _enter_network(_process_in(report))
        listener = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
        listener.bind(("127.0.0.1", port))
        listener.listen(_WAITING)
        number = listener.fileno().to_bytes(4, sys.byteorder)
        service.sendmsg([b"+"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, number)])
    except (OSError, ValueError) as error:
        service.sendall(f"-{error}".encode())


def _process_in(report: int) -> int:
    """Return the number of the process that bubblewrap reports, in JSON."""
    read = b""
    while b"}" not in read and len(read) < _LONGEST:
        more = os.read(report, 4_096)
        if not more:
            raise ValueError("bubblewrap has ended")
        read += more
    _, _, rest = read.partition(b'"child-pid":')
    return int(rest.partition(b",")[0].strip(b" }\n"))


def _enter_network(process: int) -> None:
    """Enter the network of a process, by way of the user namespace that it belongs to."""
    network = os.open(f"/proc/{process}/ns/net", os.O_RDONLY)
    owner = fcntl.ioctl(network, _NS_GET_USERNS)
    _enter(owner, _CLONE_NEWUSER)
    _enter(network, _CLONE_NEWNET)


def _enter(namespace: int, kind: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(namespace, kind) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
