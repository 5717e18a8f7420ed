import type { Micro } from '@assay/protocol/money'
import { entriesSinceSql } from '@assay/till/ledger'
import type { Sql } from '@assay/till/store/database'
import type { CreatorDeps } from './deps.ts'
import type { DistributorState } from './read-distributor.ts'

export type CreatorBooks = {
  accruedRows: Micro
  accruedLedger: Micro
  /** What creators were paid for sales that were reversed later. */
  receivableLedger: Micro
  waitingRows: Micro
  waitingLedger: Micro
  committedRows: Micro
  committedLedger: Micro
  distributorLedger: Micro
}

/** From the rollup of the books and what was posted since: the whole past is never read. */
const held = (which: string) =>
  `(select coalesce(sum(coalesce(f.balance_micro, 0) + coalesce(s.micro, 0)), 0)::bigint from ledger_account a
    left join books_rollup_account f on f.account_id = a.id left join since s on s.account_id = a.id where ${which})`

/** All sums in one statement, so that they are of one moment. */
export async function readCreatorBooks(sql: Sql, network: string): Promise<CreatorBooks> {
  const owed = (purpose: string) =>
    `(select coalesce(sum(b.owed_micro), 0)::bigint from ledger_account a join ledger_balance b on b.account_id = a.id
      where a.network = $1 and a.role = 'payable' and a.purpose = '${purpose}')`
  const { rows } = await sql.query<CreatorBooks>(
    `with since as materialized (select account_id, sum(amount_micro) as micro from (${entriesSinceSql}) e group by account_id)
     select
       (select coalesce(sum(micro), 0)::bigint from creator_accrual where network = $1 and state in ('accrued', 'committing')) as "accruedRows",
       ${owed('creator_accrued')} as "accruedLedger",
       ${held("a.network = $1 and a.role = 'receivable' and a.purpose = 'creator_accrued'")} as "receivableLedger",
       (select coalesce(sum(micro), 0)::bigint from creator_accrual where network = $1 and state = 'waiting') as "waitingRows",
       ${owed('creator_waiting')} as "waitingLedger",
       (select coalesce(sum(committed_micro - claimed_micro), 0)::bigint from creator_balance where network = $1) as "committedRows",
       ${owed('creator_committed')} as "committedLedger",
       ${held("a.name = 'onchain:distributor@' || $1")} as "distributorLedger"`,
    [network],
  )
  return rows[0] as CreatorBooks
}

/**
 * What creators are owed is recorded three times: in their own rows, in the ledger and in the contracts. Every difference is
 * counted; money that somebody else sent to the contract is nobody's debt and none.
 */
export function creatorDifferences(
  books: CreatorBooks,
  states: readonly (DistributorState | undefined)[],
): Record<string, Micro> {
  let [onChain, missing] = [0n, 0n]
  for (const state of states) {
    const owed = state === undefined ? 0n : state.totalMicro - state.claimedMicro
    const balance = state?.balanceMicro ?? 0n
    onChain += owed
    // What one contract has too much backs nothing of another.
    if (balance < owed) missing += balance - owed
  }
  const all: Record<string, Micro> = {
    accrued: books.accruedRows - (books.accruedLedger - books.receivableLedger),
    waiting: books.waitingRows - books.waitingLedger,
    committed: books.committedRows - books.committedLedger,
    asset: books.distributorLedger - books.committedLedger,
    contract: onChain - books.committedLedger,
    backing: missing,
  }
  return Object.fromEntries(Object.entries(all).filter(([, micro]) => micro !== 0n))
}

export async function checkCreatorBooks(
  deps: CreatorDeps,
  network: string,
  states: readonly (DistributorState | undefined)[],
  alarm = true,
): Promise<Record<string, Micro>> {
  const books = await readCreatorBooks(deps.database, network)
  const differences = creatorDifferences(books, states)
  const sum = Object.values(differences).reduce((total, micro) => total + (micro < 0n ? -micro : micro), 0n)
  if (sum > 0n && !alarm) return differences
  deps.metrics.gauge('creators_difference_micro', Number(sum), { network })
  deps.metrics.gauge('creators_owed_micro', Number(books.accruedLedger + books.waitingLedger + books.committedLedger), {
    network,
  })
  if (sum === 0n) return differences
  deps.metrics.count('alarms', { alarm: 'creators_differ' })
  const shown = Object.fromEntries(Object.entries(differences).map(([name, micro]) => [name, micro.toString()]))
  deps.log.error({ network, ...shown }, 'what creators are owed differs between rows, ledger and contract')
  return differences
}
