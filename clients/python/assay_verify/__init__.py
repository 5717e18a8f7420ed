"""Verifies what Assay nodes and other sellers of the same format signed. Python 3.9, standard library only."""
from .encoding import Invalid
from .evidence import verify_evidence
from .keys import read_keys
from .log import is_signed_by_log, leaf_hash, parse_checkpoint, parse_note_key, verify_consistency, verify_inclusion
from .receipt import receipt_in, verify_receipt
from .response import verify_response

__version__ = '1.0.0'

__all__ = ['Invalid', 'is_signed_by_log', 'leaf_hash', 'parse_checkpoint', 'parse_note_key', 'read_keys', 'receipt_in',
           'verify_consistency', 'verify_evidence', 'verify_inclusion', 'verify_receipt', 'verify_response']
