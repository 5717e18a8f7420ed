import { fromBase64url } from '@assay/protocol/base64'
import { utf8 } from '@assay/protocol/bytes'
import { verifyEd25519 } from '@assay/protocol/ed25519'
import { splitEvent } from '@assay/protocol/event-text'
import { parseJsonObject } from '@assay/protocol/json-object'
import type { KeySet } from '@assay/protocol/keys/key-directory'

/** A CloudEvent 1.0 of a node's stream. */
export type CloudEvent<Data = Record<string, unknown>> = {
  specversion: '1.0'
  id: string
  source: string
  type: string
  subject: string
  time: string
  datacontenttype: string
  datasha256: string
  signature: string
  data: Data
}

export type EventVerification = { status: 'verified'; keyId: string } | { status: 'invalid'; reason: string }

const invalid = (reason: string): EventVerification => ({ status: 'invalid', reason })

/**
 * Checks the event's own signature: a JWS over its attributes, which name the digest of `data` as it is in the text.
 * `json` is the text as received; written again it may differ.
 */
export async function verifyEvent(json: string, keys: KeySet): Promise<EventVerification> {
  const event = splitEvent(json)
  if (event === undefined) return invalid('not a signed event')
  const { signature, ...attributes } = event.attributes
  const [head, body, proof, ...more] = String(signature).split('.')
  if (!head || !body || !proof || more.length > 0) return invalid('the signature is not a compact JWS')
  const header = parseJsonObject(decode(head))
  const keyId = String(header?.['kid']).split('#')[1]
  const key = keyId === undefined ? undefined : keys.get(keyId)
  if (header?.['alg'] !== 'EdDSA' || keyId === undefined || key === undefined) return invalid('the key is not known')
  const bytes = fromBase64url(proof)
  if (bytes === undefined || !(await verifyEd25519(key.x, utf8(`${head}.${body}`), bytes)))
    return invalid('the signature does not fit')
  const signed = parseJsonObject(decode(body))
  if (signed === undefined || !sameFields(signed, attributes)) return invalid('the signature is over another event')
  const digest = await crypto.subtle.digest('SHA-256', utf8(event.data))
  const hex = Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
  return hex === signed['datasha256'] ? { status: 'verified', keyId } : invalid('data was changed')
}

const decode = (text: string) => new TextDecoder().decode(fromBase64url(text) ?? new Uint8Array())

function sameFields(one: Record<string, unknown>, other: Record<string, unknown>): boolean {
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name])
}
