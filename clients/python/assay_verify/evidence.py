"""Verifies a whole evidence file."""
import time

from .encoding import Invalid, canonical, from_base64, json_object, load_json
from .keys import resolve_keys
from .evidence_file import parse_evidence
from .checks import failed, open_, passed
from .exchange import check_exchange
from .attestation_log import check_attested
from .policy import parse_policy


def is_shallow(value, depth):
    if not isinstance(value, (dict, list)):
        return True
    return depth > 0 and all(is_shallow(one, depth - 1) for one in (value.values() if isinstance(value, dict) else value))


def verify(value, options):
    """The checks of a parsed file, or None when it is no evidence."""
    file = parse_evidence(value) if is_shallow(value, 200) else None
    if file is None:
        return None
    attestation = file['attestation']
    resolved = resolve_keys(file, options)
    checks = check_exchange(file, resolved['keys']) if file['request'] else []
    attested = check_attested(attestation, resolved, options) if attestation else []
    if file['request'] and attestation:
        answer = json_object(from_base64(file['response']['body_base64'])) or {}
        same = all(n in answer and canonical(answer[n]) == canonical(attestation[n]) for n in ('record', 'attestation'))
        checks.append(passed('answer', 'the attestation is the one that was answered') if same
                      else failed('answer', 'the attestation is another one than was answered'))
    if not attestation:
        unsure = failed if options['policy'] and options['policy']['key_valid'] else open_
        checks.append(passed('keys', 'they follow from what you trust') if resolved['trusted']
                      else unsure('keys', 'they come from the file itself'))
    checks += attested
    return {'ok': all(one['status'] != 'failed' for one in checks), 'checks': checks, 'attestation': bool(attestation)}


def verify_text(text, options):
    try:
        return verify(load_json(text), options)
    except (ValueError, RecursionError, Invalid):
        return None


def verify_evidence(text, policy=None, **trust):
    """{'ok', 'checks'} of the text of an evidence file, or None when it is none.

    `trust` may name what is known from elsewhere: directory (a key directory), keys and wallets (of the node), witnesses
    (their note keys), anchors ((size, root) of tree heads read on chain), now (unix seconds).
    """
    options = {'directory': None, 'keys': [], 'wallets': [], 'witnesses': None, 'anchors': [], 'now': time.time()}
    options.update(trust, policy=None if policy is None else parse_policy(policy))
    if policy is not None and options['policy'] is None:
        raise ValueError('not a policy: %s' % policy)
    return verify_text(text, options)
