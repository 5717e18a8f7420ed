"""An attestation: its key, its place in the log, witnesses and anchors."""
import math

from .encoding import Invalid, b64, canonical, from_base64, is_text, text_of, time_text, utf8
from .log import (
    cosigned_at, is_signed_by_log, leaf_hash, parse_checkpoint, parse_note_key, verify_consistency,
    verify_inclusion,
)
from .keys import was_valid
from .checks import failed, open_, passed
from .attestation import address_of, check_attestation, check_attester, check_record, check_shown


def check_key(file, logged, resolved, policy):
    said = file['attestation']
    key = resolved['keys'].get(said.get('key_id'))
    if key is None or key['x'] != said.get('public_key') or key['purpose'] != 'response':
        return failed('keys', 'the key does not follow from %s' % resolved['source'])
    times = logged['trusted_times'] if logged else []
    text = said['sig']['message'].get('time')
    signed_at = int(text) if is_text(text, r'[0-9]{1,20}') else float('nan')
    if not was_valid(key, signed_at, min(times) if times else math.inf):
        return failed('keys', 'the key was not valid when it signed')
    if resolved['trusted']:
        return passed('keys', 'the key follows from what you trust, and was valid when it signed')
    detail = 'the key comes from the file itself; whether it is that of %s is not known' % file['record']['node']
    return (failed if policy and policy['key_valid'] else open_)('keys', detail)


def witness_key(vkey):
    key = parse_note_key(vkey)
    return key if key and key['type'] == 4 else None


def read_head(log, options):
    head = parse_checkpoint(log.get('checkpoint')) if log.get('state') == 'logged' else None
    if head is None:
        return None
    listed = log.get('witness_keys')
    too_many = isinstance(listed, list) and len(listed) > 32
    named = [witness_key(one) for one in listed] if isinstance(listed, list) and not too_many else []
    given = None
    if options['witnesses'] is not None:
        given = [witness_key(one) for one in dict.fromkeys(options['witnesses'])]
    verified = []
    for key in named + (given or []):
        seconds = cosigned_at(head, key) if key else None
        if seconds is None or seconds > 253402300799 or any(same_key(one, key) for one in verified):
            continue
        verified.append({'name': key['name'], 'id': key['id'], 'seconds': seconds})
    counted = verified if given is None else [one for one in verified if any(same_key(one, key) for key in given)]
    return {'head': head, 'too_many': too_many, 'named': named, 'given': given, 'verified': verified,
            'times': [one['seconds'] for one in counted],
            'trusted_times': [one['seconds'] for one in counted] if given is not None else []}


def same_key(one, key):
    return key is not None and one['name'] == key['name'] and one['id'] == key['id']


def check_log(file, logged, resolved, options):
    log, policy = file['log'], options['policy']
    if log.get('state') != 'logged':
        return [check_unlogged(file, log, options)]
    if logged is None:
        return [failed('log', 'the tree head cannot be read')]
    head = logged['head']
    found, readable, listed = [], True, log.get('keys') or []
    too_many = isinstance(listed, list) and len(listed) > 8
    for vkey in [] if too_many else listed:
        key = parse_note_key(text_of(vkey))
        readable = readable and key is not None
        known = next((one for one in resolved['keys'].values()
                      if key and one['purpose'] == 'log' and one['x'] == key['x']), None)
        if key and known and key['name'] == head['origin'] == known['origin'] and is_signed_by_log(head, key):
            found.append(known)
    return [guarded('inclusion', lambda: check_inclusion(file, log, head)),
            failed('checkpoint', 'the file lists %d keys, 8 at most are read' % len(listed)) if too_many
            else check_head(head, found, readable),
            check_head_key(head, found, logged, resolved, policy),
            guarded('witnesses', lambda: check_witnesses(log, logged, policy)),
            guarded('anchor', lambda: check_anchor(log, head, options))]


def check_unlogged(file, log, options):
    if log.get('state') != 'pending' or set(log) - {'state', 'url'}:
        return failed('log', 'the file carries a proof and does not say that it is logged')
    if log.get('url') != address_of(file['record']):
        return failed('log', 'the address is not that of the record')
    if options['policy'] is None or options['policy']['logged'] or options['witnesses'] is not None:
        return failed('log', 'the file says that it is not in the log yet; fetch the attestation again')
    return open_('log', 'the file was saved before the entry had its place in the log')


def check_inclusion(file, log, head):
    leaf = leaf_hash(utf8(canonical(file['record'])))
    path = [from_base64(one) or b'' for one in log.get('inclusion_proof') or []]
    text = log.get('leaf_index')
    index = int(text) if is_text(text, r'0|[1-9][0-9]{0,14}') else -1
    if not verify_inclusion(leaf, index, head['size'], path, head['root']):
        return failed('inclusion', 'the record is not in the tree that the log signed')
    derived = {'origin': head['origin'], 'leaf_index': str(index), 'leaf_hash': b64(leaf), 'tree_size': str(head['size'])}
    if any(log.get(name) != value for name, value in derived.items()):
        return failed('inclusion', 'not what was signed')
    return passed('inclusion', 'entry %d of %d in %s' % (index, head['size'], head['origin']))


def check_head(head, found, readable):
    if not found:
        return failed('checkpoint', 'the tree head is not signed by a key of this log')
    if not readable:
        return failed('checkpoint', 'a key of the log cannot be read')
    return passed('checkpoint', 'the tree head is signed by %s' % head['origin'])


def check_head_key(head, found, logged, resolved, policy):
    if not found:
        return failed('head_key', 'no key of the log follows from %s' % resolved['source'])
    times, trusted = logged['times'], logged['trusted_times']
    at = min(times) if times else None
    fits = [key for key in found if head['size'] > (key['size'] or 0)
            and (key['revoked'] is None if at is None
                 else was_valid(key, at, min(trusted) if trusted else math.inf))]
    if not fits:
        return failed('head_key', 'the key was not valid when the head was signed')
    unsure = failed if policy and policy['key_valid'] else open_
    if not resolved['trusted']:
        return unsure('head_key', 'the key of the log comes from the file itself')
    if at is None:
        return unsure('head_key', 'when the tree head was signed is not known without a witness')
    return passed('head_key', 'the key of the log was valid when the head was signed')


def check_witnesses(log, logged, policy):
    shown, verified, named = log.get('witnesses'), logged['verified'], logged['named']
    if logged['too_many']:
        return failed('witnesses', 'the file lists more than 32 keys of witnesses')
    if not isinstance(shown, list) or not all(isinstance(one, dict) for one in shown):
        return failed('witnesses', 'the list of witnesses is missing')
    if None in named:
        return failed('witnesses', 'a key of a witness in the file cannot be read')
    for one in shown:
        if not any(key and key['name'] == one.get('name') for key in named + (logged['given'] or [])):
            continue
        at = one.get('cosigned_at')
        if not any(v['name'] == one.get('name') and at in iso_forms(v['seconds']) for v in verified):
            return failed('witnesses', 'the tree head does not hold a signature that the file lists')
    listed = [one.get('name') for one in shown]
    if any(v['name'] not in listed and any(v['id'] == key['id'] for key in named) for v in verified):
        return failed('witnesses', 'the file does not list every witness that signed')
    return count_given(logged, policy) if logged['given'] is not None else count_named(verified, policy)


def iso_forms(seconds):
    text = time_text(seconds)
    return text, text[:-1] + '.000Z'


def count_given(logged, policy):
    given = logged['given']
    if not given or None in given:
        return failed('witnesses', 'a given key is not the key of a witness')
    keys = {key['x']: key for key in given}
    at_least, of = (policy and policy['witnesses']) or (len(keys), len(keys))
    if len(keys) != of:
        return failed('witnesses', 'the policy speaks of %d witnesses, and the keys of %d were given' % (of, len(keys)))
    signed = [one for key in keys.values() for one in logged['verified'] if same_key(one, key)]
    if len(signed) < at_least:
        return failed('witnesses', '%d of %d trusted witnesses signed, at least %d must' % (len(signed), of, at_least))
    return passed('witnesses', ', '.join('%s at %s' % (one['name'], time_text(one['seconds'])) for one in signed))


def count_named(verified, policy):
    if policy and policy['witnesses']:
        return failed('witnesses', 'the policy counts witnesses that you trust, and no key of one was given')
    if verified:
        return passed('witnesses', ', '.join(one['name'] for one in verified) + '; their keys come from the file itself')
    return (open_ if policy else failed)('witnesses', 'no witness has signed this tree head yet')


def check_anchor(log, head, options):
    heads = [(head['size'], head['root'])]
    if 'anchor' in log:
        named = log['anchor']
        if not isinstance(named, dict) or not isinstance(named.get('consistency_proof'), list) \
                or not is_text(text_of(named.get('size')), r'[1-9][0-9]{0,14}') \
                or not is_text(named.get('root'), r'0x[0-9a-f]{64}'):
            return failed('anchor', 'the anchor that the file names cannot be read')
        proof = [from_base64(text_of(one)) or b'' for one in named['consistency_proof']]
        size, root = int(text_of(named['size'])), bytes.fromhex(named['root'][2:])
        both = sorted([(size, root), heads[0]], key=lambda one: one[0])
        index = int(log['leaf_index'])
        if size <= index or not verify_consistency(*both[0], *both[1], proof):
            return failed('anchor', 'the tree head and the anchor that the file names are not of one tree')
        heads.append((size, root))
    pairs = [(own, seen) for own in heads for seen in options['anchors'] if seen[0] == own[0]]
    if any(own[1] != seen[1] for own, seen in pairs):
        return failed('anchor', 'the chain holds another tree of this size')
    if pairs:
        return passed('anchor', 'the tree of size %d is on chain' % pairs[0][0][0])
    unsure = failed if options['policy'] and options['policy']['anchor'] else open_
    return unsure('anchor', 'no such head that was read on chain was given')


def check_age(file, options):
    policy = options['policy']
    if not policy or policy['max_age'] is None:
        return []
    text = file['attestation']['sig']['message'].get('time')
    age = options['now'] - int(text) if is_text(text, r'[0-9]{1,20}') else math.inf
    fits = -300 <= age <= policy['max_age']
    return [passed('age', 'attested lately') if fits else failed('age', 'attested too long ago, or in the future')]


def guarded(name, work):
    try:
        return work()
    except (Invalid, ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError):
        return failed(name, 'it cannot be read')


def check_attested(file, resolved, options):
    logged = read_head(file['log'], options)
    return [guarded('record', lambda: check_record(file)), guarded('attestation', lambda: check_attestation(file)),
            guarded('attester', lambda: check_attester(file)), guarded('shown', lambda: check_shown(file)),
            guarded('keys', lambda: check_key(file, logged, resolved, options['policy']))] \
        + check_log(file, logged, resolved, options) + check_age(file, options) \
        + [open_('truth', 'that these bytes were served and paid for is attested, never that they are true')]
