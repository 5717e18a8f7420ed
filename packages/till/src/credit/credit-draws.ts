import type { Address } from '@assay/protocol/address'
import type { Micro } from '@assay/protocol/money'
import type { Capture, Draw, HeldCall, HoldEnd, HoldOutcome } from '../contract/entitlement.ts'
import type { PaidRoute } from '../contract/paid-call.ts'
import type { Clock } from '../kernel/clock.ts'
import { accounts, type LedgerTransaction, postValuesWithoutTransfers } from '../ledger/index.ts'
import type { Database, Sql, Tx } from '../store/database.ts'
import { sqlStateOf } from '../store/errors.ts'
import { createBatcher } from '../store/group-commit.ts'
import { creditLines } from './credit-balance.ts'
import { type EntitledCall, holdMs, paysIntoClearing } from './entitled-calls.ts'

export type DrawRequest = {
  id: string
  account: Address
  /** Networks where its credit may be, best first. */
  networks: readonly string[]
  amountMicro: Micro
  route: PaidRoute
  fingerprint: string
  key: string | undefined
  mandateId: string | undefined
  /** Nonce of the proof: claimed with the hold, so that a copy of the request draws nothing. */
  nonce: { key: string; expiresAtMs: number }
  /** What the caller gets when it cannot be drawn. */
  notHeld(drawn: DrawOutcome): Promise<HoldOutcome>
}

export type DrawOutcome = {
  /** `held`, or why not. */
  outcome: string
  network: string | null
  leftMicro: Micro | null
}

const retryable = new Set(['40001', '40P01'])
const attemptsMax = 4

/** Holds of credit, group-committed: what arrives while a write runs shares the next one. */
export function createDraws(database: Database, clock: Clock) {
  const batcher = createBatcher<DrawRequest, DrawOutcome>({
    maxItems: 128,
    maxConcurrent: 2,
    run: (items) => holdAll(database, items, clock.nowMs()),
  })
  return { hold: (request: DrawRequest) => batcher.submit(request) }
}

type Row = { place: number; outcome: string; network: string | null; left_micro: bigint | null }

function holdAll(database: Database, items: readonly DrawRequest[], nowMs: number): Promise<DrawOutcome[]> {
  return reserve(database, items, nowMs, 'hold', attemptsMax)
}

async function reserve(
  sql: Sql,
  items: readonly DrawRequest[],
  nowMs: number,
  how: 'hold' | 'take',
  attempts: number,
): Promise<DrawOutcome[]> {
  // One order for all processes: rows of the same wallet and name are met in the same sequence.
  const order = items.map((_, index) => index).sort((a, b) => compare(items[a] as DrawRequest, items[b] as DrawRequest))
  const sorted = order.map((index) => items[index] as DrawRequest)
  const statement = { name: 'credit_reserve', text: holdSql, values: [...holdValues(sorted, nowMs), how === 'take'] }
  for (let attempt = 1; ; attempt += 1)
    try {
      const { rows } = await sql.query<Row>(statement)
      const outcomes = new Array<DrawOutcome>(items.length)
      rows.forEach(({ outcome, network, left_micro }, index) => {
        outcomes[order[index] as number] = { outcome, network, leftMicro: left_micro }
      })
      return outcomes
    } catch (error) {
      // Undone as a whole by the server, so it can be tried again.
      if (attempt >= attempts || !retryable.has(sqlStateOf(error) ?? '')) throw error
    }
}

const compare = (a: DrawRequest, b: DrawRequest): number =>
  a.account < b.account ? -1 : a.account > b.account ? 1 : (a.key ?? '') < (b.key ?? '') ? -1 : 1

const holdSql = `select place, outcome, network, left_micro from credit_reserve(${Array.from({ length: 16 }, (_, i) => `$${i + 1}`).join(', ')})`

function holdValues(items: readonly DrawRequest[], nowMs: number): unknown[] {
  const pool = new Map<string, number>()
  const places: { account: Address; network: string }[] = []
  const candidates = items.map(({ account, networks }) =>
    networks
      .map((network) => {
        const key = `${account} ${network}`
        const known = pool.get(key)
        if (known !== undefined) return known
        const place = places.push({ account, network })
        pool.set(key, place)
        return place
      })
      .join(' '),
  )
  return [
    items.map(({ id }) => id),
    items.map(({ account }) => account),
    candidates,
    items.map(({ amountMicro }) => amountMicro),
    items.map(({ route }) => route.id),
    items.map(({ fingerprint }) => fingerprint),
    items.map(({ key }) => key ?? null),
    items.map(({ route }) => paysIntoClearing(route)),
    items.map(({ mandateId }) => mandateId ?? null),
    items.map(({ nonce }) => nonce.key),
    items.map(({ nonce }) => new Date(nonce.expiresAtMs)),
    places.map(({ account, network }) => accounts.credit(network, account).name),
    places.map(({ network }) => network),
    new Date(nowMs),
    new Date(nowMs + holdMs),
  ]
}

/**
 * Holds and takes in one go, for answers that are ready: what is not taken says why, as a hold would. Those taken are
 * posted by the caller, in the same transaction.
 */
export function takeDraws(tx: Tx, nowMs: number, items: readonly DrawRequest[]): Promise<DrawOutcome[]> {
  // The transaction is tried again as a whole, so not here.
  return reserve(tx, items, nowMs, 'take', 1)
}

export function postingOfDraw({ id, account, amountMicro, route }: DrawRequest, network: string): LedgerTransaction {
  return takePosting(id, account, route, { network, amountMicro })
}

/** What became of a draw; when it was taken, with what is left of its balance now. */
export async function endOfDraw(sql: Sql, id: string): Promise<HoldEnd> {
  const { rows } = await sql.query<Draw & { state: string }>(
    `select e.state, e.subject as network, e.amount as "amountMicro", b.owed_micro - b.held_micro as "leftMicro"
     from entitled_call e left join ledger_balance b on b.account_id = e.held_on where e.id = $1 and e.port = 'credit'`,
    [id],
  )
  const [row] = rows
  if (!row || row.state === 'held') return { status: 'absent' }
  const { state, ...draw } = row
  return state === 'captured' ? { status: 'captured', draw } : { status: 'released' }
}

const captureSql = `select credit_capture(${Array.from({ length: 13 }, (_, i) => `$${i + 1}`).join(', ')}) as ended`

/** Ends many holds and posts what they move, in one statement. Throws when one of them is no longer held. */
export async function captureDraws(tx: Tx, nowMs: number, held: readonly HeldCall[]): Promise<void> {
  const postings = held.map(({ hold: { holdId, account, draw }, route }) => {
    if (!draw) throw new Error(`nothing is held for ${holdId}`)
    return takePosting(holdId, account, route, draw)
  })
  const { rows } = await tx.query<{ ended: number }>({
    name: 'credit_capture',
    text: captureSql,
    values: [held.map(({ hold }) => hold.holdId), new Date(nowMs), ...postValuesWithoutTransfers(postings)],
  })
  if (rows[0]?.ended !== held.length) throw new Error('a credit hold is no longer held')
}

/** A hold of credit that just ended. */
export type EndedDraw = Pick<EntitledCall, 'id' | 'subject' | 'account' | 'amount' | 'mandateId' | 'mandateDay'>

/** Voids a hold, once, and frees what it kept aside. Undefined when it had ended before. */
export async function voidDraw(tx: Sql, nowMs: number, id: string): Promise<EndedDraw | undefined> {
  const { rows } = await tx.query<EndedDraw>({
    name: 'credit_end',
    text: `select id, account, subject, amount, mandate_id as "mandateId", mandate_day::text as "mandateDay"
      from credit_end(array[$1], 'released', $2)`,
    values: [id, new Date(nowMs)],
  })
  return rows[0]
}

function takePosting(
  id: string,
  account: Address,
  route: PaidRoute,
  { network, amountMicro }: Capture,
): LedgerTransaction {
  const target = paysIntoClearing(route) ? accounts.clearingPayments(network) : accounts.revenue(network, route.id)
  return {
    reference: `credit_take:${id}`,
    kind: 'sale',
    paymentId: id,
    lines: [
      { account: accounts.credit(network, account), amount: amountMicro },
      { account: target, amount: -amountMicro },
    ],
  }
}

/** What a void gives back pays first what the wallet owes; where it owes nothing, nothing moves. */
export async function voidPostings(
  tx: Tx,
  { id, subject: network, account, amount }: EndedDraw,
): Promise<LedgerTransaction[]> {
  const from = accounts.credit(network, account)
  const given = (await creditLines(tx, network, account, amount)).filter((line) => line.account.name !== from.name)
  const moved = given.reduce((sum, line) => sum - line.amount, 0n)
  const lines = [{ account: from, amount: moved }, ...given]
  return moved > 0n ? [{ reference: `credit_release:${id}`, kind: 'credit_release', lines }] : []
}
