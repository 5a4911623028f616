"""Checks the pool of list-good.strand and list-bad.strand: `check_list.py POOL` exits 0 if every node has its value.

The first word is the number of the first node, 0 for none; node n lies at byte 64 (n + 1): its value and the number of the next node.
"""

import struct
import sys
from pathlib import Path

NODES = 8

pool = Path(sys.argv[1]).read_bytes()
(node,) = struct.unpack_from("<Q", pool)
for _ in range(NODES + 1):
    if node == 0:
        sys.exit(0)
    if node > NODES:
        sys.exit(f"node {node} does not exist")
    value, following = struct.unpack_from("<QQ", pool, 64 * (node + 1))
    if value != 11 * node:
        sys.exit(f"node {node} is in the list without its value")
    node = following
sys.exit("the list is a ring")
