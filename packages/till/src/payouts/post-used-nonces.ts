import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { type ChainPort, type KeyUse, type Rpc, usdcCalls } from '../chain/index.ts'
import { aggregate3Call, readAggregate3 } from '../chain/wallet/index.ts'
import { transfersOfKey } from '../ledger/index.ts'
import type { Database } from '../store/database.ts'
import { readDatabaseId } from '../store/instance.ts'
import { recordRestore } from '../store/restore.ts'
import type { CustodyKey } from './custody-key.ts'
import { type Payout, payoutColumns, toPayout } from './payout-record.ts'
import { nonceOf } from './sign-queued.ts'
import { followUse, type WatchDeps } from './watch-payouts.ts'

const atOnce = 250
const perRunMax = 5_000

/**
 * Payouts that these books have not signed, and whose nonces the chain has seen: the books were restored to a time before
 * they were paid. They are posted as what the chain shows, and the restore is noted.
 */
export async function postUsedNonces(
  deps: WatchDeps,
  { chain, rpc, key }: { chain: ChainPort; rpc: Rpc; key: Pick<CustodyKey, 'address'> },
): Promise<number> {
  const { database } = deps
  const network = chain.network.caip2
  const { rows } = await database.query(
    `select ${payoutColumns} from payout where network = $1 and state in ('waiting', 'queued') order by created_at, id limit $2`,
    [network, perRunMax],
  )
  if (rows.length === 0) return 0
  const databaseId = await readDatabaseId(database)
  const unsigned = rows.map(toPayout).map((payout) => ({ payout, nonce: nonceOf(databaseId, chain, key, payout) }))
  const used: Used[] = []
  for (let start = 0; start < unsigned.length; start += atOnce) {
    const part = unsigned.slice(start, start + atOnce)
    const isUsed = await readUsed(chain, rpc, key.address, part)
    used.push(...part.filter((_, index) => isUsed[index]))
  }
  return postUsed(deps, chain, key.address, await stillUnsigned(database, used))
}

type Used = { payout: Payout; nonce: Hex }

/** Another worker may have signed and sent one between our two reads; what is signed is watched as usual. */
async function stillUnsigned(database: Database, used: readonly Used[]): Promise<Used[]> {
  if (used.length === 0) return []
  const { rows } = await database.query<{ id: string }>(
    `select id from payout where id = any($1::text[]) and state in ('waiting', 'queued')`,
    [used.map(({ payout }) => payout.id)],
  )
  const ids = new Set(rows.map(({ id }) => id))
  return used.filter(({ payout }) => ids.has(payout.id))
}

async function postUsed(deps: WatchDeps, chain: ChainPort, custody: Address, used: readonly Used[]): Promise<number> {
  if (used.length === 0) return 0
  const { database } = deps
  const network = chain.network.caip2
  const { number: untilBlock } = await chain.head()
  const reason = `the nonce of ${used[0]?.payout.id} was used before`
  await recordRestore(database, deps, { network, untilBlock, reason })
  const final = await chain.finalizedBlock()
  // Read once: each that is posted here is a transfer that is known from then on.
  const fromBlock = await lastKnownBlock(database, network, custody)
  for (const { payout, nonce } of used)
    await followUse(deps, chain, payout, await findUse(database, chain, custody, nonce, fromBlock), final)
  return used.length
}

/** As enough endpoints see it: a restore that one alone reports would stop payouts, renewals and mandates. */
async function readUsed(
  chain: ChainPort,
  rpc: Rpc,
  custody: Address,
  part: readonly { nonce: Hex }[],
): Promise<boolean[]> {
  const calls = part.map(({ nonce }) => ({
    target: chain.network.usdc.address,
    data: usdcCalls.authorizationState(custody, nonce),
  }))
  const answer = await rpc.agreed('eth_call', [{ to: chain.network.multicall3, data: aggregate3Call(calls) }, 'latest'])
  const results = readAggregate3(answer, calls.length)
  if (!results) throw new Error('whether nonces of payouts are used could not be read')
  return results.map(({ success, returnData }) => success && /[1-9a-f]/i.test(returnData.slice(2)))
}

/** From the transfer rows, where reconciliation has found it already; else after the last transfer that is known. */
async function findUse(
  database: Database,
  chain: ChainPort,
  custody: Address,
  nonce: Hex,
  fromBlock: bigint,
): Promise<KeyUse> {
  const [row] = await transfersOfKey(database, { network: chain.network.caip2, sender: custody, paymentKey: nonce })
  if (row) {
    const transfers = await chain.transfersIn(row.transaction)
    const transfer = transfers.find(({ position }) => position === row.position)
    if (transfer) return { status: 'transfer', transfer }
  }
  return chain.nonceUse(custody, nonce, fromBlock)
}

async function lastKnownBlock(database: Database, network: string, custody: Address): Promise<bigint> {
  const { rows } = await database.query<{ block: bigint }>(
    `select coalesce(max(block_number), 0) as block from transfer where network = $1 and sender = $2 and final`,
    [network, custody],
  )
  return rows[0]?.block ?? 0n
}
