import { createHmac } from 'node:crypto'
import { checksumAddress } from '@assay/protocol/address'
import { canonicalJson } from '@assay/protocol/canonical-json'
import type { PaidCall } from '../../contract/paid-call.ts'
import type { Terms } from '../../contract/terms.ts'
import { equalBytes, sha256 } from '../../kernel/bytes.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Rng } from '../../kernel/random.ts'
import type { ChallengeSecret, ChallengeSecrets } from '../../signing/index.ts'

export type MppDeps = { clock: Clock; rng: Rng; secrets: ChallengeSecrets }

/** What does not change from one challenge to the next: one for each network of an offer. */
export type MppQuote = { realm: string; request: string; seconds: number }

/** The parts of a challenge that its id binds. */
export type BoundChallenge = {
  realm: string
  method: string
  intent: string
  request: string
  expires: string
  opaque: string
}

export const mppMethod = 'evm'
export const mppIntent = 'charge'

/** The quotes of an offer: the very amount, by an EIP-3009 authorization, as with `exact`. */
export function mppQuotes(resourceUrl: string, terms: readonly Terms[]): MppQuote[] {
  const realm = new URL(resourceUrl).hostname
  return terms.map(({ network, asset, payTo, amountMicro, maxTimeoutSeconds }) => ({
    realm,
    seconds: maxTimeoutSeconds,
    request: encodeJson({
      amount: amountMicro.toString(),
      currency: checksumAddress(asset),
      methodDetails: { chainId: network.chainId, credentialTypes: ['authorization'], decimals: 6 },
      recipient: checksumAddress(payTo),
    }),
  }))
}

const encodeJson = (value: Parameters<typeof canonicalJson>[0]): string =>
  Buffer.from(canonicalJson(value)).toString('base64url')

/** What a challenge is for: method, URL and body. Neither HTTP nor the id of a challenge says so by itself. */
export function requestHash({ method, resourceUrl, bodyDigest }: PaidCall): string {
  return sha256(Buffer.concat([Buffer.from(`${method} ${resourceUrl}\n`), bodyDigest])).toString('base64url')
}

/**
 * The value of WWW-Authenticate, for one caller: a payer's nonce follows from the id, so two equal challenges would be
 * one payment. `expires` is the `validBefore` that the payer signs.
 */
export function writeChallenges({ clock, rng, secrets }: MppDeps, quotes: readonly MppQuote[], requested: string) {
  const secret = secrets.current()
  const nowSeconds = Math.floor(clock.nowMs() / 1000)
  return quotes
    .map(({ realm, request, seconds }) => {
      const expires = timeText(nowSeconds + seconds)
      const random = Buffer.from(rng.bytes(16)).toString('base64url')
      const opaque = Buffer.from(`{"n":"${random}","r":"${requested}","v":"${secret.version}"}`).toString('base64url')
      const bound = { realm, method: mppMethod, intent: mppIntent, request, expires, opaque }
      return `Payment id="${idOf(secret, bound)}", realm="${realm}", method="${mppMethod}", intent="${mppIntent}", request="${request}", expires="${expires}", opaque="${opaque}"`
    })
    .join(', ')
}

let lastTime = { seconds: -1, text: '' }

/** All challenges of a second expire together. */
function timeText(seconds: number): string {
  if (lastTime.seconds !== seconds) lastTime = { seconds, text: new Date(seconds * 1000).toISOString() }
  return lastTime.text
}

/** The seven places of draft-httpauth-payment; that of the digest stays empty. */
function idOf({ key }: ChallengeSecret, { realm, method, intent, request, expires, opaque }: BoundChallenge): string {
  return createHmac('sha256', key)
    .update(`${realm}|${method}|${intent}|${request}|${expires}||${opaque}`)
    .digest('base64url')
}

/** Whether we made the challenge, as it is. */
export function isOwnChallenge(secret: ChallengeSecret, id: string, bound: BoundChallenge): boolean {
  return equalBytes(Buffer.from(idOf(secret, bound)), Buffer.from(id))
}
