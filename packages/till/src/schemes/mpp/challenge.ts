import { createHmac } from 'node:crypto'
import { checksumAddress } from '@assay/protocol/address'
import { canonicalJson } from '@assay/protocol/canonical-json'
import type { PaidCall } from '../../contract/paid-call.ts'
import type { Terms } from '../../contract/terms.ts'
import { equalBytes, sha256 } from '../../kernel/bytes.ts'
import type { Clock } from '../../kernel/clock.ts'
import { createHmacOf } from '../../kernel/hmac.ts'
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
 * Writes WWW-Authenticate, each time for one caller: a payer's nonce follows from the id, so two equal challenges would
 * be one payment. `expires` is the `validBefore` that the payer signs. What a second of callers shares is made once.
 */
export function createChallengeWriter(deps: MppDeps, quotes: readonly MppQuote[], requested: string): () => string {
  let shared: { seconds: number; secret: ChallengeSecret; parts: readonly SharedPart[] } | undefined
  return () => {
    const secret = deps.secrets.current()
    const seconds = Math.floor(deps.clock.nowMs() / 1000)
    if (shared?.seconds !== seconds || shared.secret !== secret)
      shared = { seconds, secret, parts: quotes.map((quote) => sharedPart(secret, quote, seconds)) }
    const random = Buffer.from(deps.rng.bytes(16)).toString('base64url')
    const opaque = Buffer.from(`{"n":"${random}","r":"${requested}","v":"${secret.version}"}`).toString('base64url')
    return shared.parts.map(({ idOf, text }) => `Payment id="${idOf(opaque)}"${text}opaque="${opaque}"`).join(', ')
  }
}

type SharedPart = { idOf(opaque: string): string; text: string }

function sharedPart(secret: ChallengeSecret, { realm, request, seconds }: MppQuote, nowSeconds: number): SharedPart {
  const expires = new Date((nowSeconds + seconds) * 1000).toISOString()
  return {
    idOf: createHmacOf(quoteKey(secret, { realm, method: mppMethod, intent: mppIntent, request, expires })),
    text: `, realm="${realm}", method="${mppMethod}", intent="${mppIntent}", request="${request}", expires="${expires}", `,
  }
}

/** The places of draft-httpauth-payment; that of the digest stays empty, and `opaque` is bound by the key this gives. */
function quoteKey({ key }: ChallengeSecret, bound: Omit<BoundChallenge, 'opaque'>): Buffer {
  const { realm, method, intent, request, expires } = bound
  return createHmac('sha256', key).update(`${realm}|${method}|${intent}|${request}|${expires}|`).digest()
}

/** Whether we made the challenge, as it is. */
export function isOwnChallenge(secret: ChallengeSecret, id: string, { opaque, ...quoted }: BoundChallenge): boolean {
  const own = createHmac('sha256', quoteKey(secret, quoted)).update(opaque).digest('base64url')
  return equalBytes(Buffer.from(own), Buffer.from(id))
}
