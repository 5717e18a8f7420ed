"""An answer in an evidence file: its signature, receipt and payment."""
import re
from urllib.parse import parse_qsl

from .checks import failed, open_, passed
from .encoding import Invalid, b64, canonical, from_base64, from_base64url, json_object, sha256, utf8
from .keccak import keccak256
from .log import leaf_hash
from .receipt import read_receipt, receipt_in
from .response import response_problem, url_parts
from .secp256k1 import hex_bytes, recover, typed_digest, word


def check_exchange(file, keys):
    checks = check_response(file, keys) + check_receipt(file, keys) + check_payment(file)
    return checks + [open_('time', 'when it was signed is the word of the node')]


def check_response(file, keys):
    response = dict(file['response'], body=from_base64(file['response']['body_base64']))
    problem = response_problem(file['request'], response, keys)
    if problem:
        return [failed('signature', problem)]
    if url_parts(file['request']['url'])[0] != file['origin']:
        return [failed('request', 'the keys of the file are of %s' % file['origin'])]
    return [passed('signature', 'status, body and headers were signed'),
            passed('request', 'it answers %s %s' % (file['request']['method'], file['request']['url'])),
            passed('digest', 'the body is the one that was signed'),
            passed('key', 'the key was valid then and had not been revoked')]


def check_receipt(file, keys):
    receipt, payment = file['receipt'], file['payment']
    if receipt_in(file['response']['headers'].get('payment-response')) != receipt:
        return [failed('receipt', 'it is not the one in PAYMENT-RESPONSE')]
    if receipt is None:
        return [] if payment is None else [open_('receipt', 'the seller gave none')]
    try:
        said = read_receipt(receipt, keys, url_parts(file['request']['url'])[1])
    except Invalid as problem:
        return [failed('receipt', str(problem))]
    other = payment and receipt_of_another(said, payment)
    if other:
        return [failed('receipt', other)]
    return [passed('receipt', 'the seller signed that it was paid')] + check_leaf(file, receipt)


def check_leaf(file, receipt):
    promised = json_object(from_base64url(receipt.split('.')[1])).get('log')
    attestation = file['attestation']
    if promised is None:
        return []
    if attestation is None:
        return [failed('leaf', 'the receipt promises an entry that the answer does not show')]
    if promised['leaf_hash'] != b64(leaf_hash(utf8(canonical(attestation['record'])))):
        return [failed('leaf', 'the receipt promises another entry than this attestation')]
    shown = attestation['log'].get('origin')
    if shown is not None and shown != promised['origin']:
        return [failed('leaf', 'the receipt promises a place in another log')]
    return [passed('leaf', 'the seller signed that this entry gets a place in the log')]


def receipt_of_another(said, payment):
    if said['resourceUrl'] != payment['resource'] or said['network'] != payment['network'] \
            or said['payer'].lower() != payment['authorization']['from'].lower():
        return 'resource, network or payer is another one'
    if payment['transaction'] is not None and said.get('transaction') and said['transaction'] != payment['transaction']:
        return 'it names another transaction'
    return None


def check_payment(file):
    payment = file['payment']
    if payment is None:
        return []
    by = payment['authorization']
    if payment_signer(payment) != by['from'].lower():
        return [failed('payment', 'the authorization is not signed by the payer')]
    return [passed('payment', '%s authorized %s USD for %s' % (by['from'], usd(by['value']), by['to'])),
            check_binding(file['request'], payment),
            open_('settlement', 'look up the transfer on %s' % payment['network'])]


def usd(micro):
    whole, part = divmod(int(micro), 1000000)
    return ('%d.%06d' % (whole, part)).rstrip('0').rstrip('.')


def payment_signer(payment):
    match = re.fullmatch(r'0x([0-9a-f]{64})([0-9a-f]{64})(1b|1c)', payment['signature'])
    if match is None:
        return None
    by = payment['authorization']
    domain = [('string', 'name', payment['asset_name']), ('string', 'version', payment['asset_version']),
              ('uint256', 'chainId', int(payment['network'][7:])),
              ('address', 'verifyingContract', payment['asset'].lower())]
    try:
        digest = typed_digest(domain, 'TransferWithAuthorization', [
            ('address', 'from', by['from']), ('address', 'to', by['to']), ('uint256', 'value', int(by['value'])),
            ('uint256', 'validAfter', int(by['validAfter'])), ('uint256', 'validBefore', int(by['validBefore'])),
            ('bytes32', 'nonce', hex_bytes(by['nonce'], 32))])
    except Invalid:
        return None
    signer = recover(digest, *(int(part, 16) for part in match.groups()))
    return signer.lower() if signer else None


def abi_string(text):
    data = utf8(text)
    return word(len(data)) + data + b'\x00' * (-len(data) % 32)


def check_binding(request, payment):
    tag = keccak256(b'assay:request-binding:v1')[:8]
    nonce = hex_bytes(payment['authorization']['nonce'])
    if nonce[:8] != tag:
        return open_('binding', 'the payment does not name what it bought')
    if payment['binding_salt'] is None:
        return open_('binding', 'the salt is missing, so the nonce cannot be opened')
    kind = (request['content_type'] or '').split(';', 1)[0].strip().lower()
    texts = [abi_string(t) for t in (request['method'].upper(), payment['resource'], kind)]
    heads, at = [word(1)], 6 * 32
    for text in texts:
        heads.append(word(at))
        at += len(text)
    heads += [sha256(from_base64(request['body_base64'])), hex_bytes(payment['binding_salt'], 32)]
    made = tag + keccak256(b''.join(heads + texts))[:24]
    if made != nonce or not same_resource(request['url'], payment['resource']):
        return failed('binding', 'the payment was made for another request')
    return passed('binding', 'the signature of the payer names this request')


def same_resource(asked, quoted_url):
    def parts(url):
        origin, _, path, query = url_parts(url.split('#')[0] if '/' in url.partition('://')[2] else url + '/')
        pairs = parse_qsl(query[1:], keep_blank_values=True, errors='replace')
        return origin, path, sorted(pair for pair in pairs if pair[0] not in ('ref', 'aff'))
    return parts(asked) == parts(quoted_url)
