import type { Address } from '../kernel/address.ts'
import type { Micro } from '../kernel/money.ts'
import { type Account, accounts, type LedgerLine, post } from '../ledger/index.ts'
import type { Tx } from '../store/database.ts'

export type NewPayout = {
  id: string
  network: string
  payee: Address
  amountMicro: Micro
  purpose: string
  /** The one thing it is for; there is at most one payout for it. */
  subject?: string
  /** Whose debt it pays. */
  from: readonly LedgerLine[]
  /** Where the debt goes back to if the transfer can never happen; without it, a person decides. */
  source?: Account
  approved: boolean
  approvedBy?: string
  nowMs: number
}

/** Takes the debt off its owner and puts the intent down, in one transaction; nothing is sent here. */
export async function createPayout(tx: Tx, payout: NewPayout): Promise<void> {
  await tx.query(
    `insert into payout (id, network, payee, amount_micro, purpose, subject, source_account, state, approved_by, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      payout.id,
      payout.network,
      payout.payee,
      payout.amountMicro,
      payout.purpose,
      payout.subject ?? null,
      payout.source?.name ?? null,
      payout.approved ? 'queued' : 'waiting',
      payout.approvedBy ?? null,
      new Date(payout.nowMs),
    ],
  )
  await post(tx, [
    {
      reference: `payout:${payout.id}`,
      kind: 'payout',
      ...(payout.subject === undefined ? {} : { paymentId: payout.subject }),
      lines: [...payout.from, { account: accounts.clearingPayouts(payout.network), amount: -payout.amountMicro }],
    },
  ])
}
