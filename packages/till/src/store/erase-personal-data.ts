import type { Address } from '@assay/protocol/address'
import { writeAudit } from './audit-log.ts'
import type { Database, Tx } from './database.ts'

export type Erasure = {
  wallet: Address
  /** Rows that were erased, or would be. */
  erased: { place: string; what: string; rows: number }[]
  kept: { place: string; what: string; because: string }[]
}

/** Something of the wallet is under way: nothing is erased until it is over. */
export class NotErasable extends Error {
  constructor(reasons: readonly string[]) {
    super(`not while the wallet has ${reasons.join(' and ')}`)
    this.name = 'NotErasable'
  }
}

/** Only undoes the transaction. */
class DryRun extends Error {}

/**
 * Erases what is known of a wallet and need not be kept, by the rules that the migrations bring, all of it or nothing. It works with the
 * rights of the node, which may not change a posting.
 */
export async function erasePersonalData(
  database: Database,
  { wallet, actor, dryRun }: { wallet: Address; actor: string; dryRun: boolean },
): Promise<Erasure> {
  let erasure: Erasure | undefined
  try {
    await database.transaction(async (tx) => {
      erasure = await erase(tx, wallet)
      if (dryRun) throw new DryRun()
      const details = Object.fromEntries(erasure.erased.map(({ place, rows }) => [place, rows]))
      await writeAudit(tx, { actor, action: 'erase', subject: wallet, details })
    })
  } catch (error) {
    if (!(error instanceof DryRun)) throw error
  }
  return erasure as Erasure
}

async function erase(tx: Tx, wallet: Address): Promise<Erasure> {
  const reasons = await inProgress(tx, wallet)
  if (reasons.length > 0) throw new NotErasable(reasons)
  const { rows: rules } = await tx.query<{ place: string; what: string; erase: string | null; because: string | null }>(
    'select place, what, erase, kept_because as because from personal_data order by place',
  )
  const erasure: Erasure = { wallet, erased: [], kept: [] }
  for (const { place, what, erase, because } of rules) {
    if (erase === null) erasure.kept.push({ place, what, because: because ?? '' })
    else {
      const { rowCount } = await tx.query(erase, [wallet])
      erasure.erased.push({ place, what, rows: rowCount })
    }
  }
  return erasure
}

async function inProgress(tx: Tx, wallet: Address): Promise<string[]> {
  const { rows } = await tx.query<{ payments: boolean; disputes: boolean; refunds: boolean; calls: boolean }>(
    `select exists (select from payment where payer = $1 and open_to_payer) as payments,
       exists (select from payment_dispute where payer = $1 and state = 'open') as disputes,
       exists (select from payout where payee = $1 and state in ('waiting', 'queued', 'signed', 'parked')) as refunds,
       exists (select from entitled_call where account = $1 and state = 'held') as calls`,
    [wallet],
  )
  const found = rows[0]
  return [
    ...(found?.payments ? ['payments that are not final or whose answer was not delivered'] : []),
    ...(found?.disputes ? ['open disputes'] : []),
    ...(found?.refunds ? ['payouts under way'] : []),
    ...(found?.calls ? ['calls under way'] : []),
  ]
}
