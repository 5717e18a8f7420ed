import { fromBase64url, toBase64url } from '@assay/protocol/base64'
import { utf8 } from '@assay/protocol/bytes'
import { keccak256 } from '@assay/protocol/hash'
import { isRecord, readJsonObject } from '@assay/protocol/json-object'
import { bytesToHex } from 'viem/utils'
import { chainIdOf } from '../networks.ts'
import type { ChosenOffer } from '../spending-policy.ts'

/** A challenge of the Payment authentication scheme, repeated in the credential as it was received. */
type PaymentChallenge = Record<string, string> & { id: string; realm: string; request: string; expires: string }

type Money = Pick<ChosenOffer, 'offer' | 'network' | 'amountMicro'>

const headerCharsMax = 16_384

/** The challenge for the money of an offer: same chain, token, payee and amount as the 402 says. Undefined: there is none. */
export function challengeFor(header: string | null, chosen: Money): PaymentChallenge | undefined {
  if (header === null || header.length > headerCharsMax) return undefined
  for (const text of header.split(/(?:^|,\s*)Payment\s+(?=[a-z]+=")/i)) {
    const named = Object.fromEntries(
      [...text.matchAll(/([a-z]+)="([^"\\]*)"/g)].map(([, name, value]) => [name, value]),
    )
    if (named.method === 'evm' && named.intent === 'charge' && isFor(named.request, chosen) && isWhole(named))
      return named
  }
  return undefined
}

function isWhole(named: Record<string, string | undefined>): named is PaymentChallenge {
  return [named.id, named.realm, named.expires].every(Boolean) && Number.isFinite(Date.parse(named.expires ?? ''))
}

function isFor(request: string | undefined, { offer, network, amountMicro }: Money): boolean {
  const bytes = request === undefined ? undefined : fromBase64url(request)
  const asked = bytes && readJsonObject(bytes)
  const details = isRecord(asked?.methodDetails) ? asked.methodDetails : {}
  const same = (value: unknown, expected: string) =>
    typeof value === 'string' && value.toLowerCase() === expected.toLowerCase()
  return (
    asked !== undefined &&
    asked.amount === amountMicro.toString() &&
    same(asked.currency, network.usdc) &&
    same(asked.recipient, offer.payTo) &&
    details.chainId === chainIdOf(network) &&
    Array.isArray(details.credentialTypes) &&
    details.credentialTypes.includes('authorization')
  )
}

/** The nonce follows from the challenge: nobody pays it twice. */
export const challengeNonce = ({ id, realm }: PaymentChallenge) => bytesToHex(keccak256(utf8(id + realm)))

export function credentialHeader(
  challenge: PaymentChallenge,
  payer: string,
  chainId: number,
  { signature, authorization }: { signature: string; authorization: object },
): string {
  const credential = {
    challenge,
    payload: { type: 'authorization', ...authorization, signature },
    source: `did:pkh:eip155:${chainId}:${payer}`,
  }
  return `Payment ${toBase64url(utf8(JSON.stringify(credential)))}`
}
