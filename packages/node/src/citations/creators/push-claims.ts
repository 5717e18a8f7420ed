import { encodeFunctionData } from 'viem'
import { aggregate3Call, readAggregate3 } from '../../chain/wallet/index.ts'
import type { Address } from '../../kernel/address.ts'
import type { Hex } from '../../kernel/bytes.ts'
import type { Micro } from '../../kernel/money.ts'
import type { Sql } from '../../store/database.ts'
import { distributorAbi } from './contracts.ts'
import type { CreatorChain, CreatorDeps } from './deps.ts'
import { type PayoutLeaf, type PayoutPlace, type PayoutTree, payoutTree } from './payout-tree.ts'

const pushedAtOnce = 100
const gasEach = 150_000n

const trees = new WeakMap<Sql, Map<string, { rootId: bigint; tree: PayoutTree }>>()

/** The tree of the root that is on chain now. It is made once for each root: anybody may ask for a proof. */
export async function committedTree(sql: Sql, network: string, place: PayoutPlace): Promise<PayoutTree> {
  const { rows } = await sql.query<{ id: bigint | null }>(
    `select max(id) as id from creator_root where network = $1 and state = 'committed'`,
    [network],
  )
  const rootId = rows[0]?.id ?? 0n
  const known = trees.get(sql)?.get(network)
  if (known?.rootId === rootId) return known.tree
  const tree = await makeTree(sql, network, place)
  const own = trees.get(sql) ?? new Map()
  own.set(network, { rootId, tree })
  trees.set(sql, own)
  return tree
}

async function makeTree(sql: Sql, network: string, place: PayoutPlace): Promise<PayoutTree> {
  const { rows } = await sql.query<PayoutLeaf>(
    `select wallet, committed_micro as "cumulativeMicro" from creator_balance where network = $1 and committed_micro > 0`,
    [network],
  )
  return payoutTree(place, rows)
}

export function claimCall(wallet: Address, cumulativeMicro: Micro, proof: readonly Hex[]): Hex {
  return encodeFunctionData({ abi: distributorAbi, functionName: 'claimFor', args: [wallet, cumulativeMicro, proof] })
}

/** Sends creators what they have on chain once it has reached their threshold: a claim in their name, never a transfer. */
export async function pushClaims(deps: CreatorDeps, place: CreatorChain): Promise<number> {
  const { caip2: network, chainId, multicall3 } = place.network
  const { rows } = await deps.database.query<{ wallet: Address; committed: Micro }>(
    `select b.wallet, b.committed_micro as committed from creator_balance b left join creator_setting s on s.wallet = b.wallet
     where b.network = $1 and b.committed_micro - b.claimed_micro >= coalesce(s.threshold_micro, $2)
       and not exists (select from payout_hold h where h.network = b.network and h.payee = b.wallet)
       and not exists (select from settlement_transaction t where t.network = b.network and t.purpose = 'creator_claim'
         and t.state in ('signed', 'broadcast') and t.reference_ids @> array['creator_claim:' || b.wallet])
     order by b.committed_micro - b.claimed_micro desc limit $3`,
    [network, deps.settings.thresholdMicro, pushedAtOnce],
  )
  if (rows.length === 0) return 0
  const tree = await committedTree(deps.database, network, { chainId, contract: place.distributor.address })
  const calls = rows.map(({ wallet, committed }) => ({
    wallet,
    target: place.distributor.address,
    data: claimCall(wallet, committed, tree.proofOf(wallet) ?? []),
  }))
  // What was claimed a moment ago, or cannot be received, is left out: it would only cost gas.
  const passing = await simulate(place, calls)
  if (passing.length === 0) return 0
  const sent = await place.wallets.send({
    purpose: 'creator_claim',
    references: passing.map(({ wallet }) => `creator_claim:${wallet}`),
    to: multicall3,
    data: aggregate3Call(passing),
    gasLimit: 100_000n + gasEach * BigInt(passing.length),
    stillWanted: () => true,
  })
  if (sent.status === 'not_sent') {
    deps.log.warn({ network, reason: sent.reason }, 'claims of creators were not sent')
    return 0
  }
  await Promise.race([sent.outcome, deps.clock.sleep(10_000)])
  return passing.length
}

async function simulate<Call extends { target: Address; data: Hex }>(
  place: CreatorChain,
  calls: readonly Call[],
): Promise<Call[]> {
  const answer = await place.rpc.first('eth_call', [
    { from: place.wallets.addresses[0], to: place.network.multicall3, data: aggregate3Call(calls) },
    'latest',
  ])
  const results = readAggregate3(answer, calls.length)
  return calls.filter((_, index) => results?.[index]?.success === true)
}
