import type { Address } from '@assay/protocol/address'
import type { Clock } from '../../kernel/clock.ts'
import type { Log } from '../../kernel/log.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import type { Database, Sql } from '../../store/database.ts'
import { ChainUnreadable } from '../chain-port.ts'
import type { Rpc } from '../rpc.ts'
import { transactionCount } from './transaction-count.ts'

export type CountFacts = {
  /** Transactions of the wallet that the chain counts, those waiting for a block included. */
  count: bigint
  /** Up to where the books have a row for each: a row is written before its transaction is sent. */
  known: bigint
  /** What the chain was seen to count before. Undefined: these books see the wallet for the first time. */
  seen: bigint | undefined
  /** What this process read as `known` before; undefined at its start. */
  remembered: bigint | undefined
}

export type CountVerdict = 'ok' | 'missing' | 'used_elsewhere'

/**
 * A restore takes rows away, so it shows where the rows a process remembers are gone, and, at the start of one, where
 * the chain counts more than the rows. The latter under a running process is somebody else with the same key.
 */
export function compareCount({ count, known, seen, remembered }: CountFacts): CountVerdict {
  if (remembered !== undefined && known < remembered) return 'missing'
  if (count <= known || (seen !== undefined && count <= seen)) return 'ok'
  if (seen === undefined && known === 0n) return 'ok'
  return remembered === undefined ? 'missing' : 'used_elsewhere'
}

export type MissingTransactionDeps = {
  database: Database
  clock: Clock
  log: Log
  metrics: Metrics
  rpcs: ReadonlyMap<string, Rpc>
  wallets: readonly Address[]
}

/** What was found missing. `noted` is called once the restore is stored, so that a crash in between finds it again. */
export type MissingTransactions = { reason: string; noted(): Promise<void> }

/** The chain is asked at the start and then this often; the rows, at every check. */
const chainEveryMs = 300_000

/** Compares the transactions of the settlement wallets with the rows the books have of them. */
export function createMissingTransactionCheck(
  deps: MissingTransactionDeps,
): () => Promise<MissingTransactions | undefined> {
  const remembered = new Map<string, bigint>()
  const counts = new Map<string, bigint>()
  let askedAtMs: number | undefined
  return async () => {
    const { clock, database } = deps
    const places = [...deps.rpcs.keys()].flatMap((network) => deps.wallets.map((wallet) => ({ network, wallet })))
    const isDue = askedAtMs === undefined || clock.monotonicMs() - askedAtMs >= chainEveryMs
    // Before the rows are read: what is sent meanwhile has its row by then.
    if (isDue) await readCounts(deps, places, counts, askedAtMs === undefined)
    const missing: string[] = []
    const seen: { network: string; wallet: Address; count: bigint }[] = []
    const knownNow = new Map<string, bigint>()
    const rows = await readRows(database, places)
    for (const [n, place] of places.entries()) {
      const key = `${place.network} ${place.wallet}`
      const { known, seen: seenBefore } = rows[n] as PlaceRows
      const count = counts.get(key) ?? 0n
      const verdict = compareCount({ known, seen: seenBefore ?? undefined, count, remembered: remembered.get(key) })
      knownNow.set(key, known)
      if (seenBefore === null || count > seenBefore) seen.push({ ...place, count })
      if (verdict === 'missing') missing.push(`${place.wallet} on ${place.network}`)
      if (verdict === 'used_elsewhere') alarmForeignTransaction(deps, place, count - known)
    }
    const noted = async () => {
      await storeSeen(database, seen)
      for (const [key, known] of knownNow) remembered.set(key, known)
      if (isDue) askedAtMs = clock.monotonicMs()
    }
    if (missing.length > 0)
      return { reason: `the books have lost transactions of the settlement wallet ${missing.join(', ')}`, noted }
    await noted()
    return undefined
  }
}

function alarmForeignTransaction(
  { log, metrics }: MissingTransactionDeps,
  { network, wallet }: { network: string; wallet: Address },
  transactions: bigint,
): void {
  metrics.count('alarms', { alarm: 'wallet_used_elsewhere' })
  log.error(
    { network, wallet, transactions: transactions.toString() },
    'a settlement wallet sent transactions that are not of this database',
  )
}

/** A chain that cannot be read keeps a node from starting; later, what it counted before is used until it can be. */
async function readCounts(
  { rpcs }: MissingTransactionDeps,
  places: readonly { network: string; wallet: Address }[],
  counts: Map<string, bigint>,
  isFirst: boolean,
): Promise<void> {
  for (const { network, wallet } of places)
    try {
      counts.set(`${network} ${wallet}`, await transactionCount(rpcs.get(network) as Rpc, wallet, 'pending'))
    } catch (error) {
      if (isFirst || !(error instanceof ChainUnreadable)) throw error
    }
}

type PlaceRows = { known: bigint; seen: bigint | null }

/** In the order of the places. */
async function readRows(sql: Sql, places: readonly { network: string; wallet: Address }[]): Promise<PlaceRows[]> {
  const { rows } = await sql.query<PlaceRows>(
    `select coalesce((select max(nonce) + 1 from settlement_transaction t where t.network = p.network and t.wallet = p.wallet), 0)::bigint as known,
       (select seen_count from settlement_wallet_count c where c.network = p.network and c.wallet = p.wallet) as seen
     from unnest($1::text[], $2::text[]) with ordinality as p (network, wallet, place) order by place`,
    [places.map(({ network }) => network), places.map(({ wallet }) => wallet)],
  )
  return rows
}

async function storeSeen(
  sql: Sql,
  seen: readonly { network: string; wallet: Address; count: bigint }[],
): Promise<void> {
  if (seen.length === 0) return
  await sql.query(
    `insert into settlement_wallet_count as c (network, wallet, seen_count)
     select * from unnest($1::text[], $2::text[], $3::bigint[])
     on conflict (network, wallet) do update set seen_count = greatest(c.seen_count, excluded.seen_count)`,
    [seen.map(({ network }) => network), seen.map(({ wallet }) => wallet), seen.map(({ count }) => count)],
  )
}
