"""Receipts: what a seller signed about a payment (compact JWS, EdDSA)."""
import re

from .ed25519 import verify_ed25519
from .encoding import Invalid, from_base64, from_base64url, is_text, json_object
from .keys import earlier


def receipt_in(header):
    node = json_object(from_base64(header)) if header is not None and len(header) <= 16384 else None
    for name in ('extensions', 'offer-receipt', 'info', 'receipt'):
        node = node.get(name) if isinstance(node, dict) else None
    if not isinstance(node, dict) or node.get('format') != 'jws' or not is_text(node.get('signature')):
        return None
    return node['signature']


def read_receipt(receipt, keys, authority):
    """What the seller signed, or Invalid with the reason."""
    match = re.fullmatch(r'([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{86})', receipt)
    if match is None or len(receipt) > 8192:
        raise Invalid('it cannot be read')
    head, body, signature = match.groups()
    header, said = json_object(from_base64url(head)), json_object(from_base64url(body))
    bytes_ = from_base64url(signature)
    if header is None or said is None or bytes_ is None or said.get('version') != 1:
        raise Invalid('it cannot be read')
    if not all(is_text(said.get(n)) for n in ('network', 'resourceUrl', 'payer')):
        raise Invalid('it cannot be read')
    issued = said.get('issuedAt')
    if isinstance(issued, bool) or not isinstance(issued, (int, float)):
        raise Invalid('it cannot be read')
    if 'transaction' in said and not is_text(said['transaction']):
        raise Invalid('it cannot be read')
    if 'log' in said and not (isinstance(said['log'], dict) and is_text(said['log'].get('origin'))
                              and is_text(said['log'].get('leaf_hash'))):
        raise Invalid('it cannot be read')
    if header.get('alg') != 'EdDSA' or 'crit' in header or not is_text(header.get('kid')):
        raise Invalid('it is not an EdDSA JWS with a key id')
    parts = header['kid'].split('#')
    if parts[0] != 'did:web:' + authority.replace(':', '%3A', 1):
        raise Invalid('it is of another seller')
    key = keys.get(parts[1] if len(parts) > 1 else '')
    if key is None or key['purpose'] != 'response':
        raise Invalid('the key is not known')
    end = earlier(key['until'], key['revoked'])
    if issued < key['from'] - 60 or (end is not None and issued > end):
        raise Invalid('the key was not valid at that time')
    if not verify_ed25519(key['x'], (head + '.' + body).encode(), bytes_):
        raise Invalid('the signature does not fit')
    return said


def verify_receipt(receipt, keys, authority, **expected):
    """The claims of a receipt, or Invalid. `expected` may name resourceUrl, payer, network and transaction.

    `authority` is host and port of the seller, such as api.example.org.
    """
    said = read_receipt(receipt, keys, authority)
    for name, value in expected.items():
        same = str(said.get(name)).lower() == value.lower() if name == 'payer' else said.get(name) == value
        if not same:
            raise Invalid('%s is another one' % name)
    return said
