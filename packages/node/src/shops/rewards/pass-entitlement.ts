import type { Address } from '@assay/protocol/address'
import { formatUsd } from '@assay/protocol/money'
import type { EntitlementPort, HoldOutcome, PaidCall } from '@assay/till'
import {
  earlierCall,
  endHold,
  endOfHold,
  expiredHolds,
  idempotencyKey,
  insertHold,
  keyWithin,
} from '@assay/till/internal'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { Problem } from '@assay/till/kernel/problem'
import { type TokenMaker, tokenHash, tokenInForce } from '@assay/till/signing'
import type { Sql } from '@assay/till/store/database'
import type { ShopContext } from '../shop.ts'

export type PassDeps = Pick<ShopContext, 'database' | 'clock' | 'ids'> & { passTokens: TokenMaker }

const name = 'pass'
const passOf = (headers: ReadonlyMap<string, string>) =>
  /^Bearer (apass_\S+)$/i.exec(headers.get('authorization') ?? '')?.[1]

/** A pass in place of a payment: one call is held in one guarded update, captured with the answer, given back on failure. */
export function createPassEntitlement(deps: PassDeps): EntitlementPort & { recover(): Promise<void> } {
  const { database, clock } = deps
  const port: EntitlementPort = {
    name,
    claims: (headers) => passOf(headers) !== undefined,
    hold: (call) => holdPass(deps, call),
    capture: async (tx, held) => {
      for (const { hold } of held)
        if (!(await endHold(tx, clock, hold.holdId, 'captured')))
          throw new Error(`the hold ${hold.holdId} is no longer held`)
      return held.map(() => ({ status: 'captured' }))
    },
    release: async (holdId) => {
      await database.transaction(async (tx) => {
        const call = await endHold(tx, clock, holdId, 'released')
        if (call) await tx.query(`update pass set used = used - 1 where id = $1`, [call.subject])
      })
      return endOfHold(database, holdId)
    },
    // A hold finds an earlier call of the same name by itself.
    describe: async () => undefined,
  }
  return {
    ...port,
    recover: async () => {
      for (const id of await expiredHolds(database, clock, name)) await port.release(id)
    },
  }
}

type Pass = { id: string; wallet: Address; calls: number; used: number; max_price_micro: bigint; expires_at: Date }

async function findPass(sql: Sql, deps: PassDeps, token: string): Promise<Pass | undefined> {
  if (!deps.passTokens.looksLike(token)) return undefined
  const { rows } = await sql.query<Pass>({
    name: 'rewards_find_pass',
    text: `select id, wallet, calls, used, max_price_micro, expires_at from pass
      where token_hash = $1 and ${tokenInForce('token_secret')}`,
    values: [tokenHash(token)],
  })
  return rows[0]
}

async function holdPass(deps: PassDeps, call: PaidCall): Promise<HoldOutcome> {
  const { database, clock } = deps
  const pass = await findPass(database, deps, passOf(call.headers) ?? '')
  if (!pass)
    return {
      status: 'refused',
      problem: new Problem('proof_invalid', { detail: 'This pass was not issued by this node.' }),
    }
  const key = keyWithin('pass', pass.id, idempotencyKey(call.headers))
  const earlier = await earlierCall(database, name, pass.wallet, key, call)
  if (earlier) return earlier
  const problem = whyNotCovered(pass, call, clock.nowMs())
  if (problem !== undefined) return notCovered(pass, call, problem)
  const id = deps.ids.next('call')
  const outcome = await database.transaction(async (tx) => {
    const hold = { id, port: name, account: pass.wallet, subject: pass.id, amount: 1n, call, key }
    if (!(await insertHold(tx, clock, hold))) return 'named_before'
    const { rowCount } = await tx.query({
      name: 'rewards_hold_pass',
      text: `update pass set used = used + 1 where id = $1 and used < calls`,
      values: [pass.id],
    })
    if (rowCount > 0) return 'held'
    await endHold(tx, clock, id, 'released')
    return 'used_up'
  })
  if (outcome === 'held')
    return { status: 'held', holdId: id, account: pass.wallet, callId: id, hasKey: key !== undefined }
  if (outcome === 'used_up') return notCovered(pass, call, 'The pass is used up.')
  return { status: 'refused', problem: new Problem('call_in_flight', { retryAfterSeconds: 1 }) }
}

/** Others' money cannot be paid with points, so a pass opens the node's own products only. */
function whyNotCovered(pass: Pass, call: PaidCall, nowMs: number): string | undefined {
  if (pass.expires_at.getTime() <= nowMs) return `The pass ended at ${toRfc3339(pass.expires_at.getTime())}.`
  if (call.route.payee !== 'pay_to') return 'A pass does not pay others, and this call does.'
  if (call.priceMicro > pass.max_price_micro)
    return `The pass covers calls of up to ${formatUsd(pass.max_price_micro)} USD.`
  return pass.used >= pass.calls ? 'The pass is used up.' : undefined
}

const notCovered = (pass: Pass, call: PaidCall, note: string): HoldOutcome => ({
  status: 'not_covered',
  note,
  extra: { price_usd: formatUsd(call.priceMicro), pass_calls_left: Math.max(0, pass.calls - pass.used) },
})
