import type { Address } from '@assay/protocol/address'
import { type Micro, smallerOf } from '@assay/protocol/money'
import { type Account, accounts, balanceOf, type LedgerLine, lockAccounts, post } from '../ledger/index.ts'
import type { Tx } from '../store/database.ts'
import { debtAccount } from './debt-account.ts'
import { lockPayoutAccount, nextNumber } from './identity.ts'
import { openStates } from './payout-record.ts'

export type NewPayout = {
  id: string
  network: string
  payee: Address
  amountMicro: Micro
  /** The part that does not count against the daily limit. */
  uncountedMicro?: Micro
  purpose: string
  /** What it pays: the payee's wallet by default, or the one thing that can be paid once. */
  account?: string
  /** The payment that is refunded. */
  subject?: string
  /** Whose debt it pays. */
  from: readonly LedgerLine[]
  /** Where the debt goes back to if the transfer can never happen; without it, a person decides. */
  source?: Account
  approved: boolean
  approvedBy?: string
  reason?: string
  nowMs: number
}

export type CreateOutcome =
  | { status: 'created'; id: string }
  /** Another payout of the account is not finished. Nothing was changed. */
  | { status: 'open'; id: string }
  /** The chain shows that it was paid; the debt is settled with what the payee got. */
  | { status: 'paid_before'; id: string }

/** Takes the debt off its owner and stores the intent, in one transaction; nothing is sent here. */
export async function createPayout(tx: Tx, payout: NewPayout): Promise<CreateOutcome> {
  const account = payout.account ?? payout.payee
  const key = { network: payout.network, purpose: payout.purpose, account }
  await lockPayoutAccount(tx, key)
  const open = await findPayout(tx, key, `state in ${openStates}`)
  if (open !== undefined) return { status: 'open', id: open }
  const n = await nextNumber(tx, key)
  // A wallet is paid again and again; a refund once.
  const before = account === payout.payee || n === 0n ? undefined : await findPayout(tx, key, 'spent')
  if (before !== undefined) {
    await settleWithPaid(tx, payout)
    return { status: 'paid_before', id: before }
  }
  await insertPayout(tx, payout, account, n)
  await post(tx, [
    {
      ...postingOf(payout),
      lines: [...payout.from, { account: accounts.clearingPayouts(payout.network), amount: -payout.amountMicro }],
    },
  ])
  return { status: 'created', id: payout.id }
}

const postingOf = (payout: NewPayout) => ({
  reference: `payout:${payout.id}`,
  kind: 'payout',
  ...(payout.subject === undefined ? {} : { paymentId: payout.subject }),
})

async function findPayout(
  tx: Tx,
  key: { network: string; purpose: string; account: string },
  condition: string,
): Promise<string | undefined> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from payout where network = $1 and purpose = $2 and account = $3 and ${condition} order by n desc limit 1`,
    [key.network, key.purpose, key.account],
  )
  return rows[0]?.id
}

/** What was paid is recorded as the payee's debt, because these books did not know what for. The rest is owed. */
async function settleWithPaid(tx: Tx, payout: NewPayout): Promise<void> {
  const { network, payee, purpose, amountMicro } = payout
  const debt = await debtAccount(tx, network, payee, purpose)
  await lockAccounts(tx, [debt])
  const owes = await balanceOf(tx, debt)
  const settled = owes > 0n ? smallerOf(owes, amountMicro) : 0n
  const rest = amountMicro - settled
  await post(tx, [
    {
      ...postingOf(payout),
      lines: [
        ...payout.from,
        ...(settled > 0n ? [{ account: debt, amount: -settled }] : []),
        ...(rest > 0n ? [{ account: accounts.payable(network, payee, purpose), amount: -rest }] : []),
      ],
    },
  ])
}

async function insertPayout(tx: Tx, payout: NewPayout, account: string, n: bigint): Promise<void> {
  await tx.query(
    `insert into payout (id, network, payee, amount_micro, purpose, account, n, subject, source_account, state, reason,
       approved_by, created_at, uncounted_micro)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
    [
      payout.id,
      payout.network,
      payout.payee,
      payout.amountMicro,
      payout.purpose,
      account,
      n,
      payout.subject ?? null,
      payout.source?.name ?? null,
      payout.approved ? 'queued' : 'waiting',
      payout.reason ?? null,
      payout.approvedBy ?? null,
      new Date(payout.nowMs),
      payout.uncountedMicro ?? 0n,
    ],
  )
}
