import { openClearing } from '../../packages/till/src/ledger/index.ts'
import { expectSoundBooks } from './invariants.ts'
import type { TillFixture } from './till-fixture.ts'
import { tokenBalance } from './token-balance.ts'

/** What moved on chain against what the books say moved, since the last check, at both of our addresses. */
export async function createMoneyCheck(till: TillFixture) {
  const { payTo, networks } = till.node.config
  const wallets = [
    ['pay_to', payTo],
    ['custody', networks[0]?.custody ?? payTo],
  ] as const
  const look = () =>
    Promise.all(
      wallets.map(async ([wallet, address]) => {
        const { rows } = await till.db.owner.query<{ micro: bigint | null }>(
          `select sum(e.amount_micro)::bigint as micro from ledger_entry e join ledger_account a on a.id = e.account_id
             join ledger_transaction t on t.id = e.transaction_id
           where a.name = $1 and t.kind not in ('opening', 'funding', 'withdrawal')`,
          [`onchain:${wallet}@eip155:8453`],
        )
        return { wallet, chain: await tokenBalance(till.base, address), books: rows[0]?.micro ?? 0n }
      }),
    )
  const first = await look()
  return async (): Promise<void> => {
    const now = await look()
    for (const [index, { wallet, chain, books }] of now.entries()) {
      const before = first[index]
      if (!before) continue
      if (chain - before.chain !== books - before.books)
        throw new Error(
          `${wallet} grew by ${chain - before.chain} on chain and by ${books - before.books} in the books`,
        )
    }
    await expectSoundBooks(till)
    const [open] = await openClearing(till.db.owner)
    if (open) throw new Error(`${open.name} still holds ${open.balanceMicro} for ${open.paymentId}`)
  }
}
