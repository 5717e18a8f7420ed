import type { Address } from '../kernel/address.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Ids } from '../kernel/ids.ts'
import { formatUsd } from '../kernel/money.ts'
import { Problem } from '../kernel/problem.ts'
import { accounts, InsufficientBalance, post } from '../ledger/index.ts'
import type { Database, Sql, Tx } from '../store/database.ts'
import {
  type EntitledCall,
  earlierCall,
  endHold,
  expiredHolds,
  idempotencyKey,
  insertHold,
  keepAnswer,
} from './entitled-calls.ts'
import type { EntitlementPort, HoldOutcome, PaidCall } from './paid-call.ts'

export type CreditDeps = {
  database: Database
  clock: Clock
  ids: Ids
  /**
   * Who signed this very request: money moves, so nothing less will do. A contract wallet is named with its chain, for
   * elsewhere its address may have another owner.
   */
  provenCaller(call: PaidCall): Promise<{ address: Address; onlyNetwork?: string }>
}

const name = 'credit'

/** Pays for calls from what a wallet paid in before. The request is signed (ERC-8128); the price is held, then taken. */
export function createCreditEntitlement(deps: CreditDeps): EntitlementPort & { recover(): Promise<void> } {
  const { database, clock } = deps
  const port: EntitlementPort = {
    name,
    claims: (headers) => /\berc8128:/.test(headers.get('signature-input') ?? ''),
    hold: (call, fingerprint) => holdCredit(deps, call, fingerprint),
    capture: async (tx, holdId) => {
      const call = await endHold(tx, clock, holdId, 'captured')
      if (!call) throw new Error(`the credit hold ${holdId} is no longer held`)
      await takeHeld(tx, call)
      return { network: call.subject, amountMicro: call.amount }
    },
    keep: keepAnswer,
    release: (holdId) =>
      database.transaction(async (tx) => {
        const call = await endHold(tx, clock, holdId, 'released')
        if (call) await giveBack(tx, call)
      }),
  }
  return {
    ...port,
    recover: async () => {
      for (const id of await expiredHolds(database, clock, name)) await port.release(id)
    },
  }
}

async function holdCredit(deps: CreditDeps, call: PaidCall, fingerprint: string): Promise<HoldOutcome> {
  const { database } = deps
  const caller = await deps.provenCaller(call).catch((error: unknown) => {
    if (error instanceof Problem) return error
    throw error
  })
  if (caller instanceof Problem) return { status: 'refused', problem: caller }
  const { address: account, onlyNetwork } = caller
  const key = idempotencyKey(call.headers)
  const earlier = await earlierCall(database, name, account, key, fingerprint)
  if (earlier) return earlier
  const network = await networkWithCredit(database, account, call, onlyNetwork)
  if (network === undefined) return notEnough(call)
  const id = deps.ids.next('call')
  try {
    const held = await database.transaction(async (tx) => {
      const hold = { id, port: name, account, subject: network, amount: call.priceMicro, call, fingerprint, key }
      if (!(await insertHold(tx, deps.clock, hold))) return false
      await post(tx, [
        {
          reference: `credit_hold:${id}`,
          kind: 'credit_hold',
          lines: [
            { account: accounts.credit(network, account), amount: call.priceMicro },
            { account: accounts.creditHeld(network, account), amount: -call.priceMicro },
          ],
        },
      ])
      return true
    })
    if (held) return { status: 'held', holdId: id, account, callId: id }
    return { status: 'refused', problem: new Problem('call_in_flight', { retryAfterSeconds: 1 }) }
  } catch (error) {
    if (error instanceof InsufficientBalance) return notEnough(call)
    throw error
  }
}

/** Credit is owed on the chain where it was paid in; the first chain with enough of it pays. */
async function networkWithCredit(
  sql: Sql,
  account: Address,
  call: PaidCall,
  onlyNetwork: string | undefined,
): Promise<string | undefined> {
  const { rows } = await sql.query<{ unit: string; name: string; owed_micro: bigint }>(
    `select a.name, a.unit, b.owed_micro from ledger_account a join ledger_balance b on b.account_id = a.id
     where a.name like $1 and b.owed_micro >= $2 order by b.owed_micro desc`,
    [`credit:${account}@%`, call.priceMicro],
  )
  const networks = rows
    .map((row) => row.unit.slice(0, row.unit.indexOf('/')))
    .filter((network) => onlyNetwork === undefined || network === onlyNetwork)
  return networks.find((network) => call.route.networks.includes(network)) ?? networks[0]
}

function notEnough(call: PaidCall): HoldOutcome {
  return {
    status: 'not_covered',
    note: 'The credit of this wallet does not cover this call.',
    extra: { price_usd: formatUsd(call.priceMicro), topup: '/v1/credit/topup' },
  }
}

async function takeHeld(tx: Tx, call: EntitledCall): Promise<void> {
  const { id, subject: network, account, amount, routeId } = call
  await post(tx, [
    {
      reference: `credit_take:${id}`,
      kind: 'sale',
      paymentId: id,
      lines: [
        { account: accounts.creditHeld(network, account), amount },
        {
          account: call.toClearing ? accounts.clearingPayments(network) : accounts.revenue(network, routeId),
          amount: -amount,
        },
      ],
    },
  ])
}

async function giveBack(tx: Tx, { id, subject: network, account, amount }: EntitledCall): Promise<void> {
  await post(tx, [
    {
      reference: `credit_release:${id}`,
      kind: 'credit_release',
      lines: [
        { account: accounts.creditHeld(network, account), amount },
        { account: accounts.credit(network, account), amount: -amount },
      ],
    },
  ])
}
