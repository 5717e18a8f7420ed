import type { Hex } from '@assay/protocol/bytes'
import type { ChainPort } from '../chain/index.ts'
import { accounts, post } from '../ledger/index.ts'
import type { Database, Tx } from '../store/database.ts'

type Mined = { purpose: string; hash: Hex; gwei: bigint }

const perTransaction = 200

/**
 * Posts what transactions of our own wallets cost that settled no payment: payouts, anchors of the log, contracts, nonces
 * that were filled. Only from final blocks: until then the same nonce may be mined again at another price.
 */
export async function postGas({ database }: { database: Database }, chain: ChainPort): Promise<void> {
  const network = chain.network.caip2
  const { rowCount } = await database.query(`select from settlement_transaction where ${unposted} limit 1`, [network])
  if (rowCount === 0) return
  const final = await chain.finalizedBlock()
  for (;;) {
    const posted = await database.transaction((tx) => postSome(tx, network, final.number))
    if (posted < perTransaction) return
  }
}

const unposted = `network = $1 and state = 'mined' and purpose <> 'settle' and not gas_posted`

/** A settlement was mined after all though its nonce was to be filled: its payment has the cost. */
const isSettlement = `t.purpose = 'fill' and t.reference_ids <> '{}' and t.mined_hash <> t.hash`

async function postSome(tx: Tx, network: string, upToBlock: bigint): Promise<number> {
  const { rows } = await tx.query<Mined>(
    `update settlement_transaction t set gas_posted = true
     from (select wallet, nonce from settlement_transaction where ${unposted} and block_number <= $2
       order by block_number limit $3 for update skip locked) due
     where t.network = $1 and t.wallet = due.wallet and t.nonce = due.nonce
     returning t.purpose, t.mined_hash as hash, case when ${isSettlement} then 0 else ceil(t.cost_wei / 1000000000) end::bigint as gwei`,
    [network, upToBlock, perTransaction],
  )
  await post(
    tx,
    rows
      .filter(({ gwei }) => gwei > 0n)
      .map(({ purpose, hash, gwei }) => ({
        reference: `gas:${network}:${hash}`,
        kind: 'gas',
        lines: [
          { account: accounts.gasSpent(network, `node.${purpose}`), amount: gwei },
          { account: accounts.gasWallet(network), amount: -gwei },
        ],
      })),
  )
  return rows.length
}
