import { randomBytes } from 'node:crypto'
import type { Address } from '@assay/protocol/address'
import { mandateHeader } from '../contract/credit-terms.ts'
import type { Hold, HoldOutcome } from '../contract/entitlement.ts'
import type { PaidCall, PaidRoute } from '../contract/paid-call.ts'
import { type Clock, systemClock } from '../kernel/clock.ts'
import { createIds } from '../kernel/ids.ts'
import { systemRng } from '../kernel/random.ts'
import { externalAccount } from '../ledger/accounts.fixture.ts'
import { accounts, credit, debit, heldOf, owedTo, post } from '../ledger/index.ts'
import type { TestDatabase } from '../store/testing.ts'
import { type CreditCaller, createCreditEntitlement } from './credit-entitlement.ts'

export const base = 'eip155:8453'
export const polygon = 'eip155:137'
export const dollar = `${base}/erc20:0x${'d0'.repeat(20)}`

export const randomWallet = (): Address => `0x${randomBytes(20).toString('hex')}`

export type Asked = {
  by: Address
  micro: bigint
  nonce?: string
  key?: string
  mandate?: string
  route?: Partial<PaidRoute>
  path?: string
  kind?: 'key' | 'contract'
  chainId?: number
}

/** The credit port on a real database; who signs is the party that a test says. */
export function openTestCredit(
  db: Pick<TestDatabase, 'database'>,
  given: { clock?: Clock; chargesAfterPrepare?: boolean } = {},
) {
  const clock = given.clock ?? systemClock
  const { database } = db
  const callers = new WeakMap<PaidCall, CreditCaller>()
  const port = createCreditEntitlement({
    database,
    clock,
    ids: createIds(clock, systemRng),
    networks: [base, dollar, polygon],
    provenCaller: async (call) => callers.get(call) as CreditCaller,
    topUpPath: '/topup',
    chargesAfterPrepare: given.chargesAfterPrepare ?? false,
  })
  const signed = (asked: Asked): PaidCall => {
    const call = callOf(asked)
    const nonce = {
      key: `8453:${asked.by}:${asked.nonce ?? randomBytes(16).toString('hex')}`,
      expiresAtMs: clock.nowMs() + 60_000,
    }
    callers.set(call, { address: asked.by, kind: asked.kind ?? 'key', chainId: asked.chainId ?? 8453, nonce })
    return call
  }
  const hold = async (asked: Asked): Promise<HoldOutcome> => port.hold(signed(asked))
  return {
    port,
    clock,
    callOf,
    hold,
    earlier: async (asked: Asked) => port.describe(signed(asked)),
    /** Held or thrown. */
    held: async (asked: Asked) => {
      const outcome = await hold(asked)
      if (outcome.status !== 'held') throw new Error(JSON.stringify(outcome))
      return outcome
    },
    /** Captured and posted, as the gate does it. */
    capture: (hold: Hold, asked: Asked) =>
      database.transaction(async (tx) => {
        const [outcome] = await port.capture(tx, [{ hold, route: callOf(asked).route }])
        if (outcome?.status === 'captured' && outcome.posting) await post(tx, [outcome.posting])
        return outcome?.status
      }),
    topUp: (wallet: Address, micro: bigint, network = base) =>
      post(database, [
        {
          reference: `test_topup:${randomBytes(12).toString('hex')}`,
          kind: 'topup',
          lines: [debit(externalAccount(network), micro), credit(accounts.credit(network, wallet), micro)],
        },
      ]),
    balance: (wallet: Address, network = base) => owedTo(database, accounts.credit(network, wallet)),
    heldMicro: (wallet: Address, network = base) => heldOf(database, accounts.credit(network, wallet)),
  }
}

const plainRoute: PaidRoute = {
  id: 'test.answer',
  networks: [base],
  payee: 'pay_to',
  revocable: false,
  description: '',
  mimeType: 'application/json',
}

function callOf(asked: Asked): PaidCall {
  const path = asked.path ?? '/v1/test/answer'
  const headers = new Map<string, string>()
  if (asked.key !== undefined) headers.set('idempotency-key', asked.key)
  if (asked.mandate !== undefined) headers.set(mandateHeader, asked.mandate)
  return {
    route: { ...plainRoute, ...asked.route },
    method: 'GET',
    resourceUrl: `http://node.test${path}`,
    contentType: '',
    received: { authority: 'node.test', path, query: '?' },
    rawBody: new Uint8Array(),
    bodyDigest: new Uint8Array(32),
    representation: 'application/json',
    priceMicro: asked.micro,
    attribution: {},
    headers,
    remoteAddress: '127.0.0.1',
    clientGone: new AbortController().signal,
    prepare: async () => ({ answer: { status: 200, contentType: 'application/json', body: '{}' } }),
  }
}

export type TestMandate = {
  owner: Address
  delegate: Address
  routes?: readonly string[]
  call?: bigint
  day?: bigint
  total?: bigint
  untilMs?: number
  ownerKind?: 'key' | 'contract'
  chainId?: number
}

/** A mandate as if its signature had been checked. */
export async function insertTestMandate(db: Pick<TestDatabase, 'database'>, given: TestMandate): Promise<string> {
  const id = `mdt_${randomBytes(20).toString('hex')}`
  await db.database.query(
    `insert into mandate (id, owner, delegate, chain_id, owner_kind, routes, cap_call_micro, cap_day_micro, cap_total_micro,
       valid_until, nonce, signature, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, '\\x00', now())`,
    [
      id,
      given.owner,
      given.delegate,
      given.chainId ?? 8453,
      given.ownerKind ?? 'key',
      given.routes ?? ['test.*'],
      given.call ?? 1_000n,
      given.day ?? 5_000n,
      given.total ?? 10_000n,
      new Date(given.untilMs ?? systemClock.nowMs() + 86_400_000),
      randomBytes(32),
    ],
  )
  return id
}

export async function mandateCounters(db: Pick<TestDatabase, 'database'>, id: string) {
  const { rows } = await db.database.query<{ day: string; day_micro: bigint; total_micro: bigint }>(
    'select day::text as day, day_micro, total_micro from mandate where id = $1',
    [id],
  )
  return rows[0]
}
