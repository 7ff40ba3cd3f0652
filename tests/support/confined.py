# SPDX-License-Identifier: Apache-2.0
"""What a snap meets whose plug `network` is missing: Internet sockets are refused, all else works."""

import ctypes
import errno
import os
import socket
import struct

_SOCKET = {"x86_64": 41, "aarch64": 198}  # the number of the system call
_LOAD, _IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _ERROR = 0x7fff0000, 0x00050000
_NO_NEW_PRIVILEGES, _SET_FILTER, _FILTER = 38, 22, 2


def without_network():
    """For preexec_fn: a filter of system calls that answers as AppArmor does there."""
    steps = ((_LOAD, 0, 0, 0), (_IF_EQUAL, 0, 3, _SOCKET[os.uname().machine]), (_LOAD, 0, 0, 16),
             (_IF_EQUAL, 2, 0, socket.AF_INET), (_IF_EQUAL, 1, 0, socket.AF_INET6),
             (_RETURN, 0, 0, _ALLOW), (_RETURN, 0, 0, _ERROR | errno.EACCES))
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) or libc.prctl(_SET_FILTER, _FILTER, program, 0, 0):
        raise OSError(ctypes.get_errno(), "cannot set the filter")
