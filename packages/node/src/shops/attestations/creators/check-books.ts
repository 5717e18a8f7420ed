import type { Micro } from '@assay/till/kernel/money'
import type { Sql } from '@assay/till/store/database'
import type { CreatorChain, CreatorDeps } from './deps.ts'
import type { DistributorState } from './read-distributor.ts'

export type CreatorBooks = {
  accruedRows: Micro
  accruedLedger: Micro
  /** What creators were paid for sales that were taken back later. */
  receivableLedger: Micro
  waitingRows: Micro
  waitingLedger: Micro
  committedRows: Micro
  committedLedger: Micro
  distributorLedger: Micro
  /** In the contract by roots that a restore took from the books, and not yet given to a creator again. */
  unassigned: Micro
}

/** All sums in one statement, so that they are of one moment. */
export async function readCreatorBooks(sql: Sql, network: string): Promise<CreatorBooks> {
  const owed = (prefix: string) =>
    `(select coalesce(sum(b.owed_micro), 0)::bigint from ledger_account a join ledger_balance b on b.account_id = a.id
      where a.unit = $1 || '/usdc' and a.name like '${prefix}%')`
  const { rows } = await sql.query<CreatorBooks>(
    `select
       (select coalesce(sum(micro), 0)::bigint from creator_accrual where network = $1 and state in ('accrued', 'committing')) as "accruedRows",
       ${owed('payable:creator\\_accrued.')} as "accruedLedger",
       (select coalesce(sum(e.amount_micro), 0)::bigint from ledger_account a join ledger_entry e on e.account_id = a.id
        where a.name like 'receivable:%' and a.name like 'receivable:creator\\_accrued:%' and a.unit = $1 || '/usdc') as "receivableLedger",
       (select coalesce(sum(micro), 0)::bigint from creator_accrual where network = $1 and state = 'waiting') as "waitingRows",
       ${owed('payable:creator\\_waiting.')} as "waitingLedger",
       (select coalesce(sum(committed_micro - claimed_micro), 0)::bigint from creator_balance where network = $1) as "committedRows",
       ${owed('payable:creator\\_committed:')} as "committedLedger",
       (select coalesce(sum(e.amount_micro), 0)::bigint from ledger_account a join ledger_entry e on e.account_id = a.id
        where a.name = 'onchain:distributor@' || $1) as "distributorLedger",
       coalesce((select unassigned_micro from creator_root where network = $1 and state = 'committed'
         order by epoch desc limit 1), 0)::bigint as unassigned`,
    [network],
  )
  return rows[0] as CreatorBooks
}

/**
 * What creators are owed stands three times: in their own rows, in the ledger and in the contract. Every difference is
 * counted; money that somebody else sent to the contract is nobody's debt and none.
 */
export function creatorDifferences(books: CreatorBooks, state: DistributorState | undefined): Record<string, Micro> {
  const onChain = state === undefined ? 0n : state.totalMicro - state.claimedMicro
  const balance = state?.balanceMicro ?? 0n
  const all: Record<string, Micro> = {
    accrued: books.accruedRows - (books.accruedLedger - books.receivableLedger),
    waiting: books.waitingRows - books.waitingLedger,
    committed: books.committedRows - books.committedLedger,
    asset: books.distributorLedger - books.committedLedger - books.unassigned,
    contract: onChain - books.committedLedger - books.unassigned,
    backing: balance < onChain ? balance - onChain : 0n,
  }
  return Object.fromEntries(Object.entries(all).filter(([, micro]) => micro !== 0n))
}

export async function checkCreatorBooks(
  deps: CreatorDeps,
  place: CreatorChain,
  state: DistributorState | undefined,
  alarm = true,
): Promise<Record<string, Micro>> {
  const network = place.network.caip2
  const books = await readCreatorBooks(deps.database, network)
  const differences = creatorDifferences(books, state)
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
