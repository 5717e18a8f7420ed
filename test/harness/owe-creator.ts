import { accrueShares } from '../../packages/node/src/shops/attestations/creators/accrue.ts'
import type { Address } from '../../packages/protocol/src/address.ts'
import { accounts, mergeLines, post } from '../../packages/till/src/ledger/index.ts'
import type { Database } from '../../packages/till/src/store/database.ts'

const network = 'eip155:8453'
let owed = 0

/** A share of a creator, as a sale on credit would leave it; the operator's stake pays for it. */
export async function oweCreator(database: Database, wallet: Address, domain: string, micro: bigint): Promise<string> {
  owed += 1
  const paymentId = `pay_owed_${owed}`
  const subject = `att_owed_${owed}`
  const sale = { paymentId, network, payer: wallet, round: 0, source: 'credit' as const, settledAtMs: 0 }
  const payee = {
    ...{ domain, registrable: domain, wallet, claimId: 'c', citeScore: null, synthetic: false },
    reason: 'proven' as const,
  }
  await database.transaction(async (tx) => {
    const lines = await accrueShares(tx, sale, subject, [{ payee, micro, held: undefined }])
    const stake = { account: accounts.operator(network, 'usdc'), amount: micro }
    await post(tx, [
      { reference: `owe:${paymentId}`, kind: 'opening', paymentId, lines: mergeLines([stake, ...lines]) },
    ])
  })
  return subject
}
