import type { Address } from '@assay/protocol/address'
import { parseJson } from '@assay/protocol/json-object'
import { requestDigest, type WalletSigner } from '../chain/wallet/index.ts'
import type { Clock } from '../kernel/clock.ts'
import { type PrivateSigningKey, signEd25519 } from '../signing/signing-key.ts'
import { checkRequest, type KeyRule, type SigningRule, useOf } from './key-limits.ts'
import type { SpendingJournal } from './spending-journal.ts'
import { signBytesRequestSchema, signerPaths, signRequestSchema } from './wire.ts'

export type HeldKey = { rule: KeyRule; signer: WalletSigner }
export type HeldSigningKey = { rule: SigningRule; key: PrivateSigningKey }
export type SignerAnswer = { code: number; body: unknown }

const refuse = (code: number, name: string, detail: string): SignerAnswer => ({ code, body: { code: name, detail } })

type Held = { wallets: readonly HeldKey[]; signing: readonly HeldSigningKey[] }

/** What a signer answers to a node whose certificate was already checked. */
export function createAnswers({ wallets, signing }: Held, journal: SpendingJournal, clock: Clock) {
  const signWallet = walletAnswers(wallets, journal)
  const signBytes = bytesAnswers(signing, clock)
  return async (method: string, path: string, body: string): Promise<SignerAnswer> => {
    if (method === 'GET' && path === signerPaths.keys)
      return {
        code: 200,
        body: {
          keys: wallets.map(({ rule, signer }) => ({ address: signer.address, use: useOf(rule) })),
          signing_keys: signing.map(({ rule, key }) => ({ x: key.x, use: rule.use })),
        },
      }
    if (method === 'POST' && path === signerPaths.sign) return signWallet(body)
    if (method === 'POST' && path === signerPaths.signBytes) return signBytes(body)
    return refuse(404, 'not_found', 'no such path')
  }
}

function walletAnswers(keys: readonly HeldKey[], journal: SpendingJournal) {
  const byAddress = new Map<Address, HeldKey>(keys.map((key) => [key.signer.address, key]))
  return async (body: string): Promise<SignerAnswer> => {
    const parsed = signRequestSchema.safeParse(parseJson(body))
    if (!parsed.success) return refuse(400, 'malformed', 'not a request to sign')
    const { address, request } = parsed.data
    const key = byAddress.get(address)
    if (key === undefined) return refuse(404, 'no_such_key', `${address} is not held here`)
    const verdict = checkRequest(key.rule, address, request)
    if (verdict.status === 'refused') return refuse(403, verdict.code, verdict.detail)
    const digest = requestDigest(request).toString('hex')
    if (!(await journal.spend(address, digest, verdict.spends, verdict.perDayMax)))
      return refuse(403, 'daily_limit', 'the day has no room for it')
    const { signature, recoveryId } = await key.signer.sign(request)
    return { code: 200, body: { signature: Buffer.from(signature).toString('hex'), recovery_id: recoveryId } }
  }
}

/** A key signs so much a minute; a signer that is started again begins again. */
function bytesAnswers(keys: readonly HeldSigningKey[], clock: Clock) {
  const byKey = new Map(keys.map((held) => [held.key.x, { ...held, sinceMs: 0, signed: 0 }]))
  return (body: string): SignerAnswer => {
    const parsed = signBytesRequestSchema.safeParse(parseJson(body))
    if (!parsed.success) return refuse(400, 'malformed', 'not a request to sign')
    const held = byKey.get(parsed.data.x)
    if (held === undefined) return refuse(404, 'no_such_key', `${parsed.data.x} is not held here`)
    const nowMs = clock.monotonicMs()
    if (held.signed === 0 || nowMs - held.sinceMs >= 60_000) Object.assign(held, { sinceMs: nowMs, signed: 0 })
    if (held.signed >= held.rule.signatures_per_minute_max)
      return refuse(403, 'limit', 'the minute has no room for another signature')
    held.signed += 1
    const signature = signEd25519(held.key, Buffer.from(parsed.data.bytes, 'base64'))
    return { code: 200, body: { signature: signature.toString('hex') } }
  }
}
