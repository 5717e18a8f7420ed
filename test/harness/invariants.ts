import { expect } from 'vitest'
import type { Address } from '../../packages/protocol/src/address.ts'
import { faultsInBooks } from './books.ts'
import type { TillFixture } from './till-fixture.ts'
import { tokenBalance } from './token-balance.ts'

type PaymentRow = {
  id: string
  state: string
  network: string
  payer: Address
  amount_micro: bigint
  transaction: string | null
  log_position: number | null
}

export async function paymentRows(till: Pick<TillFixture, 'db'>): Promise<PaymentRow[]> {
  const { rows } = await till.db.owner.query<PaymentRow>(
    `select id, state, network, payer, amount_micro, '0x' || encode(transaction, 'hex') as transaction, log_position
     from payment order by claimed_at`,
  )
  return rows
}

/** The states of a wallet's payments, oldest first. */
export const statesOf = async (till: Pick<TillFixture, 'db'>, payer: string): Promise<string[]> =>
  (await paymentRows(till)).filter((row) => row.payer === payer.toLowerCase()).map((row) => row.state)

/** Credit of a wallet on Base, summed from the entries and not read from the stored balance. */
export async function creditOf({ db }: Pick<TillFixture, 'db'>, payer: string): Promise<bigint> {
  const { rows } = await db.owner.query<{ micro: bigint }>(
    `select coalesce(-sum(e.amount_micro), 0)::bigint as micro from ledger_entry e
     join ledger_account a on a.id = e.account_id where a.name = $1`,
    [`credit:${payer.toLowerCase()}@eip155:8453`],
  )
  return rows[0]?.micro ?? 0n
}

/** What must hold whatever happened, and that the books know every micro that moved. */
export async function expectSoundBooks(till: Pick<TillFixture, 'db'>): Promise<void> {
  expect(await faultsInBooks(till.db.owner)).toEqual([])
}

/** How often a payer was charged on chain, from the token's own balance. */
export async function spentOnChain(
  till: TillFixture,
  chain: 'base' | 'polygon',
  payer: string,
  fundedMicro = 10_000_000n,
): Promise<bigint> {
  return fundedMicro - (await tokenBalance(till[chain], payer))
}
