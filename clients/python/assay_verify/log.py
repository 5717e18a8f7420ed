"""The transparency log: RFC 6962 proofs and C2SP notes."""
import re

from .encoding import base64url, from_base64, is_int, is_text, sha256, utf8
from .ed25519 import verify_ed25519


def leaf_hash(entry):
    return sha256(b'\x00' + entry)


def node_hash(left, right):
    return sha256(b'\x01' + left + right)


def verify_inclusion(leaf, index, size, path, root):
    if not (is_int(index) and 0 <= index < size):
        return False
    at, last, node = index, size - 1, leaf
    for sibling in path:
        if last == 0 or len(sibling) != 32:
            return False
        if at % 2 == 1 or at == last:
            node = node_hash(sibling, node)
            while at % 2 == 0 and at != 0:
                at, last = at // 2, last // 2
        else:
            node = node_hash(node, sibling)
        at, last = at // 2, last // 2
    return last == 0 and node == root


def verify_consistency(old_size, old_root, size, root, proof):
    if not 1 <= old_size <= size:
        return False
    if old_size == size:
        return not proof and old_root == root
    at, last = old_size - 1, size - 1
    while at % 2 == 1:
        at, last = at // 2, last // 2
    proof = [old_root] + proof if at == 0 else proof
    if not proof or any(len(one) != 32 for one in proof):
        return False
    old = grown = proof[0]
    for sibling in proof[1:]:
        if last == 0:
            return False
        if at % 2 == 1 or at == last:
            old, grown = node_hash(sibling, old), node_hash(sibling, grown)
            while at % 2 == 0 and at != 0:
                at, last = at // 2, last // 2
        else:
            grown = node_hash(grown, sibling)
        at, last = at // 2, last // 2
    return last == 0 and old == old_root and grown == root


def parse_checkpoint(note):
    if not isinstance(note, str) or len(note) > 1_000_000 or not note.endswith('\n') or '\n\n' not in note:
        return None
    if re.search('[\x00-\x09\x0b-\x1f\ufffd]', note):
        return None
    split = note.rindex('\n\n')
    text, tail = note[:split + 1], note[split + 2:-1]
    lines = (text.split('\n') + ['', ''])[:3]
    root = from_base64(lines[2])
    if not lines[0] or not is_text(lines[1], r'0|[1-9][0-9]{0,15}') or int(lines[1]) >= 2**53 or root is None or len(root) != 32:
        return None
    if tail.count('\n') >= 100:
        return None
    signatures = []
    for line in tail.split('\n'):
        match = re.fullmatch(r'\u2014 ([^\s+]{1,255}) ([A-Za-z0-9+/]+={0,2})', line)
        data = from_base64(match.group(2)) if match else None
        if data is None or len(data) < 5:
            return None
        signatures.append((match.group(1), data[:4].hex(), data[4:]))
    return {'text': text, 'origin': lines[0], 'size': int(lines[1]), 'root': root, 'signatures': signatures}


def parse_note_key(vkey):
    match = re.fullmatch(r'([^\s+]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)', vkey) if isinstance(vkey, str) else None
    material = from_base64(match.group(3)) if match else None
    if material is None or len(material) != 33:
        return None
    name, key_id = match.group(1), match.group(2)
    if sha256(utf8(name + '\n') + material)[:4].hex() != key_id:
        return None
    return {'name': name, 'id': key_id, 'type': material[0], 'x': base64url(material[1:])}


def line_of(head, key):
    return next((s for name, key_id, s in head['signatures'] if name == key['name'] and key_id == key['id']), None)


def is_signed_by_log(head, key):
    lines = [s for name, key_id, s in head['signatures'] if name == key['name'] and key_id == key['id']]
    return key['type'] == 1 and len(lines) > 0 and all(verify_ed25519(key['x'], utf8(head['text']), s) for s in lines)


def cosigned_at(head, key):
    line = line_of(head, key)
    if key['type'] != 4 or line is None or len(line) != 72:
        return None
    seconds = int.from_bytes(line[:8], 'big')
    message = utf8('cosignature/v1\ntime %d\n%s' % (seconds, head['text']))
    return seconds if verify_ed25519(key['x'], message, line[8:]) else None
