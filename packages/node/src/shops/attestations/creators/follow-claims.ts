import { type BlockRef, ChainUnreadable } from '@assay/till/chain'
import type { Address } from '@assay/till/kernel/address'
import type { Hex } from '@assay/till/kernel/bytes'
import type { Micro } from '@assay/till/kernel/money'
import { accounts, post } from '@assay/till/ledger'
import { decodeEventLog, numberToHex, toEventSelector } from 'viem'
import { committedAccount, mergeLines } from './accrue.ts'
import { assignClaimed } from './assign-claimed.ts'
import { distributorAbi } from './contracts.ts'
import type { CreatorChain, CreatorDeps } from './deps.ts'

const claimedTopic = toEventSelector('Claimed(address,uint256,uint256)')
const blocksAtOnce = 5_000n

type RawLog = { transactionHash: Hex; logIndex: Hex; blockNumber: Hex; topics: [Hex, ...Hex[]]; data: Hex }
export type Claim = {
  wallet: Address
  amountMicro: Micro
  cumulativeMicro: Micro
  transaction: Hex
  logIndex: number
  blockNumber: bigint
}

/** Takes every claim up to the final block into the books, whoever sent it. */
export async function followClaims(deps: CreatorDeps, place: CreatorChain, final: BlockRef): Promise<boolean> {
  const { caip2 } = place.network
  const contract = place.distributor.address
  const { rows } = await deps.database.query<{ at: bigint | null }>(
    `select coalesce((select block_number from creator_cursor where network = $1 and contract = $2),
       (select min(head_block) - 1 from creator_root where network = $1 and contract = $2)) as at`,
    [caip2, contract],
  )
  let at = rows[0]?.at ?? null
  if (at === null) return false
  while (at < final.number) {
    const until: bigint = at + blocksAtOnce < final.number ? at + blocksAtOnce : final.number
    const claims = await readClaims(place, at + 1n, until)
    await takeIn(deps, place, claims, until)
    at = until
  }
  return true
}

async function readClaims(place: CreatorChain, from: bigint, until: bigint): Promise<Claim[]> {
  const answer = await place.rpc.agreed('eth_getLogs', [
    {
      address: place.distributor.address,
      topics: [claimedTopic],
      fromBlock: numberToHex(from < 0n ? 0n : from),
      toBlock: numberToHex(until),
    },
  ])
  if (!Array.isArray(answer)) throw new ChainUnreadable('the endpoints do not agree about the claims of creators')
  return (answer as RawLog[]).map((log) => {
    const { args } = decodeEventLog({ abi: distributorAbi, topics: log.topics, data: log.data })
    const { creator, amount, cumulative } = args as unknown as { creator: Address; amount: bigint; cumulative: bigint }
    return {
      wallet: creator.toLowerCase() as Address,
      amountMicro: amount,
      cumulativeMicro: cumulative,
      transaction: log.transactionHash,
      logIndex: Number(log.logIndex),
      blockNumber: BigInt(log.blockNumber),
    }
  })
}

async function takeIn(deps: CreatorDeps, place: CreatorChain, claims: readonly Claim[], until: bigint): Promise<void> {
  const { caip2: network } = place.network
  await deps.database.transaction(async (tx) => {
    for (const claim of claims) {
      const { rowCount } = await tx.query(
        `insert into creator_claim (network, transaction, log_index, wallet, amount_micro, cumulative_micro, block_number,
           claimed_at) values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing`,
        [
          network,
          claim.transaction,
          claim.logIndex,
          claim.wallet,
          claim.amountMicro,
          claim.cumulativeMicro,
          claim.blockNumber,
          new Date(deps.clock.nowMs()),
        ],
      )
      if (rowCount === 0) continue
      const assigned = await assignClaimed(tx, place, claim)
      await post(tx, [
        {
          reference: `creator_claim:${network}:${claim.transaction}:${claim.logIndex}`,
          kind: 'creator_claim',
          lines: mergeLines([
            { account: committedAccount(network, claim.wallet), amount: claim.amountMicro },
            { account: accounts.distributor(network), amount: -claim.amountMicro },
            ...assigned,
          ]),
        },
      ])
      await tx.query('update creator_balance set claimed_micro = $3 where network = $1 and wallet = $2', [
        network,
        claim.wallet,
        claim.cumulativeMicro,
      ])
    }
    await tx.query(
      `insert into creator_cursor (network, contract, block_number) values ($1, $2, $3)
       on conflict (network, contract) do update set block_number = greatest(creator_cursor.block_number, excluded.block_number)`,
      [network, place.distributor.address, until],
    )
  })
  if (claims.length > 0) deps.metrics.count('creator_claims', { network }, claims.length)
}
