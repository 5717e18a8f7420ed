"""Reads evidence files."""
from urllib.parse import urlsplit

from .encoding import b64, from_base64, is_int, is_text, json_object
from .secp256k1 import is_address


def parse_attestation(value):
    if not isinstance(value, dict) or not all(isinstance(value.get(n), dict) for n in ('record', 'attestation', 'log')):
        return None
    record, sig = value['record'], value['attestation'].get('sig')
    if not is_text(record.get('type'), r'assay\.(?:citation|claim|royalty)/v1') or not is_text(record.get('node')):
        return None
    if not isinstance(sig, dict) or not all(isinstance(sig.get(n), dict) for n in ('message', 'signature', 'domain')):
        return None
    return value


def plain_base64(text):
    data = from_base64(text)
    return data is not None and b64(data) == text


URL = r'https?://(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::[0-9]{1,5})?/[!-~]*'


def is_request(one):
    return (isinstance(one, dict) and is_text(one.get('method')) and is_text(one.get('url'), URL)
            and '#' not in one['url'] and 'content_type' in one
            and (one['content_type'] is None or is_text(one['content_type'])) and plain_base64(one.get('body_base64')))


def is_response(one):
    if not isinstance(one, dict) or not is_int(one.get('status')) or not isinstance(one.get('headers'), dict):
        return False
    name, visible = r"[!#$%&'*+.^_`|~0-9a-z-]+", '[\x21-\x7e\x80-\xff]'
    value = '(?:%s(?:[\t\x20-\x7e\x80-\xff]*%s)?)?' % (visible, visible)
    return all(is_text(n, name) and is_text(v, value) for n, v in one['headers'].items()) \
        and plain_base64(one.get('body_base64'))


def is_payment(one):
    if not isinstance(one, dict) or not isinstance(one.get('authorization'), dict):
        return False
    by, hex32, digits = one['authorization'], r'0x[0-9a-f]{64}', r'0|[1-9][0-9]{0,77}'
    or_null = lambda name: name in one and (one[name] is None or is_text(one[name], hex32))
    return (is_text(one.get('resource')) and bool(urlsplit(one['resource']).scheme)
            and is_text(one.get('network'), r'eip155:[1-9][0-9]{0,14}')
            and all(is_address(a) for a in (one.get('asset'), by.get('from'), by.get('to')))
            and all(is_text(by.get(n), digits) for n in ('value', 'validAfter', 'validBefore'))
            and is_text(by.get('nonce'), hex32) and is_text(one.get('signature'), r'0x(?:[0-9a-f]{2})*')
            and is_text(one.get('asset_name')) and is_text(one.get('asset_version'))
            and or_null('binding_salt') and or_null('transaction'))


def parse_evidence(value):
    """One shape for both versions and for an attestation by itself; None for anything else."""
    bare = parse_attestation(value)
    if bare:
        return {'saved': None, 'request': None, 'response': None, 'origin': bare['record']['node'], 'directory': None,
                'homes': [bare['record']['node']], 'payment': None, 'receipt': None, 'attestation': bare}
    if not isinstance(value, dict) or value.get('format') != 'assay-evidence' or not is_int(value.get('version')):
        return None
    names = {'format', 'version', 'saved_at', 'request', 'response', 'keys', 'payment', 'receipt'}
    if value['version'] not in (1, 2) or set(value) != names | ({'attestation'} if value['version'] == 2 else set()):
        return None
    keys, request, response = value.get('keys'), value.get('request', 0), value.get('response', 0)
    payment, receipt, attestation = (value.get(name) for name in ('payment', 'receipt', 'attestation'))
    if not isinstance(keys, dict) or not is_text(keys.get('origin')) or not is_text(value.get('saved_at')):
        return None
    alone = request is None and response is None
    if not alone and not (is_request(request) and is_response(response)):
        return None
    if receipt is not None and not is_text(receipt) or payment is not None and not is_payment(payment):
        return None
    given = parse_attestation(attestation)
    if attestation is not None and given is None:
        return None
    found = given or (None if alone else parse_attestation(json_object(from_base64(response['body_base64']))))
    if alone and (found is None or payment is not None or receipt is not None):
        return None
    homes = [keys['origin']] + ([found['record']['node']] if found else [])
    return {'saved': value['saved_at'], 'request': request, 'response': response, 'origin': keys['origin'], 'homes': homes,
            'directory': keys.get('directory'), 'payment': payment, 'receipt': receipt, 'attestation': found}
