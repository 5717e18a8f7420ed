import type { Address } from '@assay/protocol/address'
import { requestDigest, type WalletSigner } from '../chain/wallet/index.ts'
import { judgeRequest, type KeyRule, useOf } from './key-limits.ts'
import type { SpendingJournal } from './spending-journal.ts'
import { signerPaths, signRequestSchema } from './wire.ts'

export type HeldKey = { rule: KeyRule; signer: WalletSigner }
export type SignerAnswer = { code: number; body: unknown }

const refuse = (code: number, name: string, detail: string): SignerAnswer => ({ code, body: { code: name, detail } })

/** What a signer answers to a node whose certificate was already checked. */
export function createAnswers(keys: readonly HeldKey[], journal: SpendingJournal) {
  const byAddress = new Map<Address, HeldKey>(keys.map((key) => [key.signer.address, key]))
  return async (method: string, path: string, body: string): Promise<SignerAnswer> => {
    if (method === 'GET' && path === signerPaths.keys)
      return {
        code: 200,
        body: { keys: keys.map(({ rule, signer }) => ({ address: signer.address, use: useOf(rule) })) },
      }
    if (method !== 'POST' || path !== signerPaths.sign) return refuse(404, 'not_found', 'no such path')
    const parsed = signRequestSchema.safeParse(parseJson(body))
    if (!parsed.success) return refuse(400, 'malformed', 'not a request to sign')
    const { address, request } = parsed.data
    const key = byAddress.get(address)
    if (key === undefined) return refuse(404, 'no_such_key', `${address} is not held here`)
    const verdict = judgeRequest(key.rule, address, request)
    if (verdict.status === 'refused') return refuse(403, verdict.code, verdict.detail)
    const digest = requestDigest(request).toString('hex')
    if (!(await journal.spend(address, digest, verdict.spends, verdict.perDayMax)))
      return refuse(403, 'daily_limit', 'the day has no room for it')
    const { signature, recoveryId } = await key.signer.sign(request)
    return { code: 200, body: { signature: Buffer.from(signature).toString('hex'), recovery_id: recoveryId } }
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
