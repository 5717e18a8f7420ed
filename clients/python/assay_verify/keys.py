"""Key directories, and what is said about keys."""
import re

from .encoding import from_base64url, is_int, is_text, seconds_of, text_of, utf8
from .keccak import keccak256
from .ed25519 import thumbprint, verify_ed25519
from .secp256k1 import ORDER, recover, typed_digest
from .log import parse_note_key

ZERO_WALLET = '0x' + '00' * 20
STATEMENT_TEXTS = ('action', 'purpose', 'key_id', 'public_key', 'node', 'api', 'origin', 'wallet', 'predecessor_key_id')
STATEMENT_NUMBERS = ('not_before', 'not_after', 'tree_size', 'predecessor_until', 'chain_id')


def read_statements(listed):
    return [one for one in (listed[:256] if isinstance(listed, list) else []) if is_statement(one)]


def is_statement(one):
    return (isinstance(one, dict) and all(is_text(one.get(name)) for name in STATEMENT_TEXTS)
            and all(is_int(one.get(name)) and one[name] >= 0 for name in STATEMENT_NUMBERS)
            and all(name in one and (one[name] is None or is_text(one[name]))
                    for name in ('wallet_signature', 'predecessor_signature'))
            and one['action'] in ('add', 'rotate', 'revoke') and one['purpose'] in ('response', 'log') and is_text(one['wallet'], r'0x[0-9a-f]{40}')
            and is_text(one['public_key'], r'[A-Za-z0-9_-]{43}') and thumbprint(one['public_key']) == one['key_id'])


def statement_digest(one):
    domain = [('string', 'name', 'Assay'), ('string', 'version', '1'), ('uint256', 'chainId', one['chain_id']),
              ('bytes32', 'salt', keccak256(utf8(one['node'])))]
    return typed_digest(domain, 'KeyStatement', [
        ('string', 'action', one['action']), ('string', 'purpose', one['purpose']), ('string', 'keyId', one['key_id']),
        ('string', 'publicKey', one['public_key']), ('uint64', 'notBefore', one['not_before']),
        ('uint64', 'notAfter', one['not_after']), ('string', 'node', one['node']), ('string', 'api', one['api']),
        ('string', 'origin', one['origin']),
        ('uint64', 'treeSize', one['tree_size']), ('address', 'operator', one['wallet']),
        ('string', 'predecessor', one['predecessor_key_id']),
        ('uint64', 'predecessorUntil', one['predecessor_until'])])


def signed_by_wallet(one):
    match = re.fullmatch(r'0x([0-9a-f]{64})([0-9a-f]{64})(1b|1c)', one['wallet_signature'] or '')
    if match is None or one['wallet'] == ZERO_WALLET:
        return False
    r, s, v = (int(part, 16) for part in match.groups())
    if s > ORDER // 2:
        return False
    signer = recover(statement_digest(one), r, s, v)
    return signer is not None and signer.lower() == one['wallet']


def signed_by_predecessor(one, x):
    signature = from_base64url(one['predecessor_signature'] or '')
    return verify_ed25519(x, ('assay key statement 0x' + statement_digest(one).hex()).encode(), signature)


def earlier(a, b):
    return min(a, b) if a is not None and b is not None else (b if a is None else a)


def new_key(key_id, x, purpose, **more):
    return dict({'id': key_id, 'x': x, 'purpose': purpose, 'from': 0, 'until': None, 'revoked': None,
                 'origin': None, 'size': None}, **more)


def follow_keys(statements, anchors, wallets, named, homes):
    """Every key that what is trusted leads to, by id."""
    revoked, keys, accepted, node = {}, {}, set(), None
    wallets = {wallet.lower() for wallet in wallets}
    for one in statements:
        if one['action'] == 'revoke':
            revoked[one['key_id']] = earlier(revoked.get(one['key_id']), one['not_after'])
    by_wallet = [signed_by_wallet(one) for one in statements]

    def add(key_id, x, purpose, **more):
        key = dict(keys.get(key_id) or new_key(key_id, x, purpose), x=x, purpose=purpose, **more)
        key['revoked'] = earlier(earlier((keys.get(key_id) or key)['revoked'], more.get('revoked')), revoked.get(key_id))
        keys[key_id] = key

    for key in anchors:
        add(key['id'], key['x'], key['purpose'], **{n: key[n] for n in ('from', 'until', 'revoked', 'origin', 'size')})

    def vouched(place, one):
        if node is not None and one['node'] != node:
            return False
        # A wallet may run several nodes: it names keys for one at a time.
        own = all(home in (one['node'], one['api']) for home in homes)
        if own and by_wallet[place] and one['wallet'] in wallets:
            return True
        old = keys.get(one['predecessor_key_id'])
        if old is None:
            return False
        if one['action'] == 'rotate':
            if old['purpose'] != one['purpose']:
                return False
        elif not (old['purpose'] == 'response' and one['purpose'] == 'log'):
            return False
        end = earlier(old['until'], old['revoked'])
        if end is not None and one['not_before'] > end:
            return False
        return signed_by_predecessor(one, old['x'])

    found = True
    while found:
        found = False
        for place, one in enumerate(statements):
            if place in accepted or not vouched(place, one):
                continue
            accepted.add(place)
            found = True
            node = one['node'] if node is None else node
            if one['wallet'] != ZERO_WALLET:
                wallets.add(one['wallet'])
            if one['action'] == 'revoke':
                continue
            is_log = one['purpose'] == 'log'
            where = {'origin': one['origin'], 'size': one['tree_size']} if is_log else {}
            add(one['key_id'], one['public_key'], one['purpose'], **{'from': one['not_before'], **where})
            if one['action'] != 'rotate':
                continue
            old = keys.get(one['predecessor_key_id'])
            x = old['x'] if old else named.get(one['predecessor_key_id'])
            if x is not None:
                until = earlier(old['until'] if old else None, one['predecessor_until'])
                where = {} if old or not one['origin'] else {'origin': one['origin'], 'size': 0}
                add(one['predecessor_key_id'], x, one['purpose'], **{'until': until, **where})
    return keys


def directory_keys(directory):
    found = []
    listed = directory.get('keys') if isinstance(directory, dict) else None
    for one in (listed[:256] if isinstance(listed, list) else []):
        if not isinstance(one, dict) or one.get('kty') != 'OKP' or one.get('crv') != 'Ed25519':
            continue
        number = lambda value: isinstance(value, (int, float)) and not isinstance(value, bool)
        if not (is_text(one.get('kid')) and is_text(one.get('x')) and number(one.get('nbf', 0))):
            continue
        if 'exp' in one and not number(one['exp']):
            continue
        if thumbprint(one['x']) != one['kid']:
            continue
        lost = (seconds_of(one['revoked_at']) or 0) if 'revoked_at' in one else None
        found.append(new_key(one['kid'], one['x'], 'response', revoked=lost,
                             **{'from': one.get('nbf', 0), 'until': one.get('exp')}))
    return found


def read_keys(directory):
    """The keys of a node's /.well-known/http-message-signatures-directory, by id."""
    return {key['id']: key for key in directory_keys(directory)}


def statements_in(directory):
    if not isinstance(directory, dict) or not isinstance(directory.get('keys'), list):
        return []
    return read_statements(directory.get('statements'))


def resolve_keys(file, options):
    attestation, own_directory = file['attestation'], file['directory']
    statements = read_statements(attestation['log'].get('key_statements')) if attestation else []
    listed = own_directory.get('statements') if isinstance(own_directory, dict) else None
    statements = statements + read_statements(listed)
    named = {}
    for key in directory_keys(own_directory):
        named[key['id']] = key

    def name(x, purpose, **more):
        named.setdefault(thumbprint(x), new_key(thumbprint(x), x, purpose, **more))

    for one in statements:
        name(one['public_key'], one['purpose'], **({'origin': one['origin'], 'size': 0} if one['purpose'] == 'log' else {}))
    if attestation:
        name(text_of(attestation['attestation'].get('public_key')), 'response')
    trusted = options['directory'] is not None or bool(options['keys']) or bool(options['wallets'])
    if trusted:
        anchors = directory_keys(options['directory'])
        for text in options['keys']:
            anchors += trusted_key(text, list(named.values()), statements)
    else:
        anchors = [key for key in named.values() if key['purpose'] == 'response']
    more = statements_in(options['directory'])
    # Without trust from outside the file names its wallets as it names its keys.
    wallets = options['wallets'] if trusted else [one['wallet'] for one in statements]
    keys = follow_keys(statements + more, anchors, wallets, {key['id']: key['x'] for key in named.values()},
                       file['homes'])
    source = 'what you trust' if trusted else 'the file itself'
    return {'keys': keys, 'trusted': trusted, 'source': source}


def trusted_key(text, own, statements):
    note = parse_note_key(text)
    if note:
        if note['type'] != 1:
            return []
        return [new_key(thumbprint(note['x']), note['x'], 'log', origin=note['name'], size=0)]
    for key in own:
        if text in (key['x'], key['id']):
            return [key]
    key_id = thumbprint(text)
    for one in statements:
        if one['action'] == 'rotate' and one['predecessor_key_id'] == key_id:
            where = {'origin': one['origin'], 'size': 0} if one['purpose'] == 'log' else {}
            return [new_key(key_id, text, one['purpose'], **where)]
    return [new_key(key_id, text, 'response')]


def was_valid(key, signed_at, proven_by=None):
    if not signed_at >= key['from'] - 60 or (key['until'] is not None and signed_at > key['until']):
        return False
    proven_by = signed_at if proven_by is None else proven_by
    return key['revoked'] is None or max(signed_at, proven_by) <= key['revoked']
