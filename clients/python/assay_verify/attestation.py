"""An attestation: its record, its signatures and what it shows."""
from .encoding import (
    Invalid, canonical, from_base64url, is_int, is_text, json_object, seconds_of, sha256, text_of, utf8,
)
from .keccak import keccak256
from .ed25519 import verify_ed25519
from .secp256k1 import ORDER, hex_bytes, recover, typed_digest, word
from .keys import ZERO_WALLET
from .checks import failed, passed

ZERO32 = '0x' + '00' * 32
SCHEMA = ('bytes32 recordSha256,string sourceUrl,bytes32 contentSha256,bytes32 textSha256,bytes32 quoteSha256,'
          'bytes32 claimSha256,address agent,address payer,uint64 priceMicro')
SCHEMA_UID = '0x' + keccak256(SCHEMA.encode() + b'\x00' * 21).hex()
ATTEST = (('uint16', 'version'), ('bytes32', 'schema'), ('address', 'recipient'), ('uint64', 'time'),
          ('uint64', 'expirationTime'), ('bool', 'revocable'), ('bytes32', 'refUID'), ('bytes', 'data'),
          ('bytes32', 'salt'))


def is_royalty(record):
    return record['type'] == 'assay.royalty/v1'


def address_of(record):
    kind = 'royalties' if is_royalty(record) else 'attestations'
    return '%s/v1/%s/%s' % (record['node'], kind, text_of(record.get('id')))


def first_page(record):
    pages = record['sources'] if isinstance(record.get('sources'), list) else [record]
    return pages[0] if pages and isinstance(pages[0], dict) else {}


def lower_hex(text, length):
    return hex_bytes(text_of(text).lower(), length)


def expected_data(record):
    agent = record.get('agent_wallet')
    agent = record.get('payer') if agent is None else agent
    royalty, page, quote = is_royalty(record), first_page(record), record.get('quote')
    found = isinstance(quote, dict) and quote.get('found') is True
    claim = record.get('claim_sha256')
    url = utf8(address_of(record) if royalty else text_of(page.get('source_url')))
    heads = [sha256(utf8(canonical(record))), word(9 * 32)]
    heads += [lower_hex(ZERO32 if royalty else one, 32) for one in (
        page.get('content_sha256'), page.get('text_sha256'), quote['sha256'] if found else ZERO32,
        claim if isinstance(claim, str) else ZERO32)]
    heads += [b'\x00' * 12 + lower_hex(one, 20) for one in (agent, record.get('payer'))]
    heads.append(word(int(text_of(record.get('royalty_micro' if royalty else 'price_micro')))))
    return b''.join(heads) + word(len(url)) + url + b'\x00' * (-len(url) % 32)


def check_record(file):
    record, message = file['record'], file['attestation']['sig']['message']
    if hex_bytes(message['data']) != expected_data(record):
        return failed('record', 'the signed data differ from the record')
    at = record.get('attested_at')
    creator = first_page(record).get('creator_wallet')
    recipient = creator if isinstance(creator, str) else ZERO_WALLET
    fits = (message['schema'] == SCHEMA_UID
            and message['time'] == str(seconds_of(record.get('remitted_at') if at is None else at))
            and message['expirationTime'] == '0' and message['recipient'].lower() == recipient.lower())
    if not fits:
        return failed('record', 'the attestation names another time, recipient or schema')
    return passed('record', 'the signed data are those of the record')


def check_attestation(file):
    sig = file['attestation']['sig']
    message, domain, signature = sig['message'], sig['domain'], sig['signature']
    if set(domain) - {'name', 'version', 'chainId', 'verifyingContract', 'salt'} != set() or 'salt' in domain:
        raise Invalid('another domain')
    if not is_int(domain['chainId']) or not is_text(domain['name']) or not is_text(domain['version']):
        raise Invalid('another domain')
    digits = r'0|[1-9][0-9]{0,19}'
    if not is_int(message['version']) or type(message['revocable']) is not bool \
            or not is_text(message['time'], digits) or not is_text(message['expirationTime'], digits):
        raise Invalid('not a message')
    r, s, v = signature['r'], signature['s'], signature['v']
    if not is_text(r, '0x[0-9a-f]{64}') or not is_text(s, '0x[0-9a-f]{64}') or v not in (27, 28) or not is_int(v):
        raise Invalid('no signature')
    if int(s, 16) > ORDER // 2:
        raise Invalid('no signature')
    values = dict(message, time=int(message['time']), expirationTime=int(message['expirationTime']),
                  data=hex_bytes(message['data']), **{n: hex_bytes(message[n], 32) for n in ('schema', 'refUID', 'salt')})
    digest = typed_digest(
        [('string', 'name', domain['name']), ('string', 'version', domain['version']),
         ('uint256', 'chainId', domain['chainId']), ('address', 'verifyingContract', domain['verifyingContract'])],
        'Attest', [(kind, name, values[name]) for kind, name in ATTEST])
    if recover(digest, int(r, 16), int(s, 16), v) != file['attestation'].get('signer'):
        return failed('attestation', 'it was not signed by the signer it names')
    packed = (values['version'].to_bytes(2, 'big') + utf8(message['schema']) + bytes.fromhex(message['recipient'][2:])
              + b'\x00' * 20 + values['time'].to_bytes(8, 'big') + values['expirationTime'].to_bytes(8, 'big')
              + (b'\x01' if values['revocable'] else b'\x00') + values['refUID'] + values['data'] + values['salt']
              + b'\x00' * 4)
    if sig.get('uid') != '0x' + keccak256(packed).hex():
        return failed('attestation', 'the identifier does not follow from the attestation')
    return passed('attestation', 'signed by %s' % file['attestation']['signer'])


def check_attester(file):
    said = file['attestation']
    parts = said['attester_statement'].split('.')
    if len(parts) != 3:
        return failed('attester', 'the statement about the attester cannot be read')
    header, body = json_object(from_base64url(parts[0])), json_object(from_base64url(parts[1]))
    signature = from_base64url(parts[2])
    if header is None or body is None or signature is None or header.get('alg') != 'EdDSA':
        return failed('attester', 'the statement about the attester cannot be read')
    about = (body.get('type') == 'assay-attester' and text_of(body.get('attester')).lower() == said['signer'].lower()
             and body.get('node') == file['record']['node']
             and text_of(body.get('chain_id')) == text_of(said['sig']['domain'].get('chainId'))
             and text_of(header.get('kid')).endswith('#' + said['key_id']))
    if not about:
        return failed('attester', 'the statement is about another attester or node')
    if not verify_ed25519(said['public_key'], (parts[0] + '.' + parts[1]).encode(), signature):
        return failed('attester', 'the statement about the attester is not signed by the key it names')
    return passed('attester', 'the key %s of %s names it' % (said['key_id'], file['record']['node']))


ABSENT = object()


def check_shown(file):
    record, sig, split = file['record'], file['attestation']['sig'], file.get('split')
    split = split if isinstance(split, dict) else {}
    types = {'Attest': [{'name': name, 'type': kind} for kind, name in ATTEST]}
    fields = [(file.get('id', ABSENT), record.get('id', ABSENT)), (file.get('url', ABSENT), address_of(record)),
              (sig.get('version', ABSENT), sig['message'].get('version', ABSENT)),
              (sig.get('primaryType', ABSENT), 'Attest'), (sig.get('types', ABSENT), types)]
    if is_royalty(record):
        fields.append((file.get('royalty_micro', ABSENT), record.get('royalty_micro', ABSENT)))
    else:
        fields += [(split.get(n, ABSENT), record.get(n, ABSENT)) for n in ('price_micro', 'creator_micro', 'toll_micro')]
    payouts = file.get('payouts')
    if not isinstance(payouts, list) or not all(isinstance(one, dict) for one in payouts):
        return failed('shown', 'the payouts are not those of the record')
    for one in payouts:
        wallet = one.get('wallet')
        follow = '%s/v1/creators/%s' % (record['node'], wallet) if isinstance(wallet, str) else None
        fields += [(one.get('network', ABSENT), record.get('network', ABSENT)), (one.get('follow', ABSENT), follow)]
    if is_royalty(record):
        if str(sum(int(text_of(one.get('micro'))) for one in payouts)) != record.get('creator_micro'):
            return failed('shown', 'the payouts are not those of the record')
        fields += [(one.get('micro', ABSENT), text_of(one.get('micro'))) for one in payouts]
    else:
        pages = record['sources'] if isinstance(record.get('sources'), list) else [record]
        shares = [one for one in pages if isinstance(one, dict) and one.get('creator_micro') != '0']
        if len(shares) != len(payouts):
            return failed('shown', 'the payouts are not those of the record')
        for one, share in zip(payouts, shares):
            fields += share_fields(one, share)
    if any(signed is ABSENT or shown is ABSENT or canonical(shown) != canonical(signed) for shown, signed in fields):
        return failed('shown', 'not what was signed')
    return passed('shown', 'what the file shows beside the record follows from it')


def share_fields(one, share):
    fields = [(one.get('micro', ABSENT), share.get('creator_micro', ABSENT))]
    domain, wallet = one.get('domain', ABSENT), one.get('wallet', ABSENT)
    above = isinstance(domain, str) and '.' in domain and text_of(share.get('domain')).endswith('.' + domain)
    if not above:
        fields.append((domain, share.get('domain', ABSENT)))
    if share.get('creator_wallet', ABSENT) is not None or wallet is None:
        fields.append((wallet, share.get('creator_wallet', ABSENT)))
    return fields
