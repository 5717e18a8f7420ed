import { parseAddress } from '@assay/protocol/address'
import { fromBase64url } from '@assay/protocol/base64'
import { toHex } from '@assay/protocol/bytes'
import { parseMicro } from '@assay/protocol/money'
import { parseStrictJson } from '@assay/protocol/strict-json'
import type { Invalid, PaymentEnvelope } from '../../contract/scheme.ts'
import { keccak256 } from '../../kernel/keccak.ts'
import type { ChallengeSecrets } from '../../signing/index.ts'
import { paymentHeaderBytesMax } from '../decode-header.ts'
import { fields, isAmount, own } from '../read-fields.ts'
import { type BoundChallenge, isOwnChallenge, mppIntent, mppMethod } from './challenge.ts'

/** A credential of the Payment authentication scheme, checked for shape only. */
export type MppCredential = {
  id: string
  bound: BoundChallenge
  chainId: number
  currency: unknown
  recipient: unknown
  amount: string
  payload: Fields
}

export type CredentialDecode = { status: 'ok'; credential: MppCredential } | { status: 'malformed'; detail: string }

type Fields = Record<string, unknown>

const depthMax = 12
const idPattern = /^[A-Za-z0-9_-]{16,128}$/
const credentialPattern = /^Payment +([A-Za-z0-9_-]+)$/i

const malformed = (detail: string): CredentialDecode => ({ status: 'malformed', detail })

export const isPaymentCredential = (authorization: string | undefined): authorization is string =>
  authorization !== undefined && /^Payment(?: |$)/i.test(authorization)

export function decodeCredential(header: string): CredentialDecode {
  if (header.length > paymentHeaderBytesMax) return malformed(`longer than ${paymentHeaderBytesMax} bytes`)
  const root = strictObject(credentialPattern.exec(header)?.[1])
  const challenge = fields(own(root, 'challenge'))
  const payload = fields(own(root, 'payload'))
  if (!challenge || !payload) return malformed('not base64url of a JSON object with challenge and payload')
  const text = (name: string) => {
    const value = own(challenge, name)
    return typeof value === 'string' ? value : ''
  }
  const [id, method, intent] = [text('id'), text('method'), text('intent')]
  if (!idPattern.test(id)) return malformed('`challenge.id` is missing')
  if (method !== mppMethod || intent !== mppIntent)
    return malformed(`method ${mppMethod} with intent ${mppIntent} is taken`)
  if (own(payload, 'type') !== 'authorization') return malformed('`payload.type` must be authorization')
  const bound = {
    ...{ realm: text('realm'), method, intent, request: text('request') },
    ...{ expires: text('expires'), opaque: text('opaque') },
  }
  const request = strictObject(bound.request)
  const chainId = own(fields(own(request, 'methodDetails')), 'chainId')
  const amount = own(request, 'amount')
  if (!request || !isAmount(amount) || typeof chainId !== 'number')
    return malformed('`challenge.request` needs amount and chainId')
  if (!isSourceOf(own(root, 'source'), chainId, payload)) return malformed('`source` is not the payer')
  const { currency, recipient } = request
  return { status: 'ok', credential: { id, bound, chainId, currency, recipient, amount, payload } }
}

function strictObject(text: string | undefined): Fields | undefined {
  const bytes = text === undefined ? undefined : fromBase64url(text)
  if (!bytes?.length) return undefined
  const json = parseStrictJson(bytes, depthMax)
  return json.status === 'malformed' ? undefined : fields(json.value)
}

/** `source`, if given, must name the wallet that pays. */
function isSourceOf(source: unknown, chainId: number, payload: Fields): boolean {
  if (source === undefined) return true
  const from = parseAddress(own(payload, 'from'))
  return (
    from !== undefined && typeof source === 'string' && source.toLowerCase() === `did:pkh:eip155:${chainId}:${from}`
  )
}

/** What the challenge of a credential is worth for this request. */
export type ChallengeVerdict = 'ok' | 'other_request' | Invalid

const invalid = (detail: string): Invalid => ({ status: 'invalid', reason: 'invalid_challenge', detail })

/** Whether the challenge is ours, for the request with this hash, and the one that was paid for. */
export async function checkChallenge(
  secrets: ChallengeSecrets,
  { id, bound, payload }: MppCredential,
  requested: string,
): Promise<ChallengeVerdict> {
  const opaque = strictObject(bound.opaque)
  const version = Number(own(opaque, 'v'))
  const secret = Number.isSafeInteger(version) ? await secrets.of(version) : undefined
  if (!secret || !isOwnChallenge(secret, id, bound))
    return invalid('The challenge is not one of this server, was changed, or is too old.')
  if (own(opaque, 'r') !== requested) return 'other_request'
  const nonce = own(payload, 'nonce')
  if (typeof nonce !== 'string' || nonce.toLowerCase() !== nonceOf(id, bound.realm))
    return invalid('The nonce is not that of the challenge.')
  if (own(payload, 'validBefore') !== String(Date.parse(bound.expires) / 1000))
    return invalid('validBefore must be the time at which the challenge expires.')
  return 'ok'
}

export const nonceOf = (id: string, realm: string): string => toHex(keccak256(Buffer.from(id + realm)))

/**
 * The same payment as the scheme `exact` reads it: the claim of a payment knows no dialect. Its id is known to the payer
 * alone, the chain shows only a hash of it; so it opens the stored answer as a payment identifier does.
 */
export function envelopeOf(credential: MppCredential, isOurs: boolean): PaymentEnvelope {
  const { id, chainId, currency, recipient, amount, payload } = credential
  const { type: _, signature, ...authorization } = payload
  const quotedMicro = isOurs ? parseMicro(amount) : undefined
  return {
    ...{ scheme: 'exact', network: `eip155:${chainId}`, amount },
    ...{ asset: parseAddress(currency), payTo: parseAddress(recipient) },
    ...{ resourceUrl: undefined, payload: { authorization, signature } },
    ...{ identifier: id, bindingSalt: undefined, offers: [] },
    ...(quotedMicro === undefined ? {} : { quotedMicro }),
  }
}
