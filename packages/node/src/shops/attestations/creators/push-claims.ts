import { aggregate3Call, readAggregate3 } from '@assay/till/chain/wallet'
import type { Address } from '@assay/till/kernel/address'
import type { Hex } from '@assay/till/kernel/bytes'
import type { Micro } from '@assay/till/kernel/money'
import { encodeFunctionData } from 'viem'
import { claimTree, cumulativeSql } from './claim-tree.ts'
import { distributorAbi } from './contracts.ts'
import type { CreatorChain, CreatorDeps } from './deps.ts'

const pushedAtOnce = 100
const gasEach = 150_000n

export function claimCall(wallet: Address, cumulativeMicro: Micro, proof: readonly Hex[]): Hex {
  return encodeFunctionData({ abi: distributorAbi, functionName: 'claimFor', args: [wallet, cumulativeMicro, proof] })
}

/** Sends creators what they have on chain once it has reached their threshold: a claim in their name, never a transfer. */
export async function pushClaims(deps: CreatorDeps, place: CreatorChain): Promise<number> {
  const { caip2: network, chainId, multicall3 } = place.network
  const { tree, landed } = await claimTree(deps.database, network, { chainId, contract: place.distributor.address })
  const unclaimed = `${cumulativeSql('$4')} - b.claimed_micro`
  const { rows } = await deps.database.query<{ wallet: Address }>(
    `select b.wallet from creator_balance b left join creator_setting s on s.wallet = b.wallet
     where b.network = $1 and ${unclaimed} >= coalesce(s.threshold_micro, $2)
       and not exists (select from payout_hold h where h.network = b.network and h.payee = b.wallet)
       and not exists (select from settlement_transaction t where t.network = b.network and t.purpose = 'creator_claim'
         and t.state in ('signed', 'broadcast') and t.reference_ids @> array['creator_claim:' || b.wallet])
     order by ${unclaimed} desc limit $3`,
    [network, deps.settings.thresholdMicro, pushedAtOnce, landed],
  )
  if (rows.length === 0) return 0
  const calls = rows.map(({ wallet }) => ({
    wallet,
    target: place.distributor.address,
    data: claimCall(wallet, tree.cumulativeOf(wallet) ?? 0n, tree.proofOf(wallet) ?? []),
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
