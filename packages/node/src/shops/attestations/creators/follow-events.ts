import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { agreedLogs, type BlockRef } from '@assay/till/chain'
import { decodeEventLog, toEventSelector } from 'viem'
import { distributorAbi } from './contracts.ts'
import type { CreatorChain, CreatorDeps } from './deps.ts'
import { type MoveEvent, takeMoves } from './follow-moves.ts'
import { type Claim, type ClaimedEvent, takeClaims, toClaims } from './post-claims.ts'

const topics = [
  'Claimed(uint64,bytes32,address,address,uint256)',
  'MoveRequested(bytes32,address,address,uint64,uint256)',
  'MoveRefused(bytes32,address)',
].map(toEventSelector)
const blocksAtOnce = 5_000n

/** Posts every claim and move up to the final block, whichever wallet sent it. */
export async function followEvents(deps: CreatorDeps, place: CreatorChain, final: BlockRef): Promise<void> {
  const { caip2 } = place.network
  const contract = place.contract
  const { rows } = await deps.database.query<{ at: bigint | null }>(
    `select coalesce((select block_number from creator_cursor where network = $1 and contract = $2),
       (select min(head_block) - 1 from creator_root where network = $1 and contract = $2)) as at`,
    [caip2, contract],
  )
  let at = rows[0]?.at ?? null
  if (at === null) return
  while (at < final.number) {
    const until: bigint = at + blocksAtOnce < final.number ? at + blocksAtOnce : final.number
    const { claims, moves } = await readEvents(place, at + 1n, until)
    await deps.database.transaction(async (tx) => {
      await takeClaims(deps, tx, place, claims)
      await takeMoves(deps, tx, place, moves)
      await tx.query(
        `insert into creator_cursor (network, contract, block_number) values ($1, $2, $3)
         on conflict (network, contract) do update set block_number = greatest(creator_cursor.block_number, excluded.block_number)`,
        [caip2, contract, until],
      )
    })
    if (claims.length > 0) deps.metrics.count('creator_claims', { network: caip2 }, claims.length)
    at = until
  }
}

async function readEvents(
  place: CreatorChain,
  from: bigint,
  until: bigint,
): Promise<{ claims: Claim[]; moves: MoveEvent[] }> {
  const logs = await agreedLogs(place.rpc, {
    address: place.contract,
    topics: [topics],
    fromBlock: from < 0n ? 0n : from,
    toBlock: until,
  })
  const claimed: ClaimedEvent[] = []
  const moves: MoveEvent[] = []
  for (const log of logs) {
    const words = log.topics as [Hex, ...Hex[]]
    const { eventName, args } = decodeEventLog({ abi: distributorAbi, topics: words, data: log.data })
    const known = args as unknown as { account: Hex; wallet: Address }
    const key = { account: known.account, wallet: lower(known.wallet) }
    if (eventName === 'Claimed') {
      const { epoch, payee, amount } = args as unknown as { epoch: bigint; payee: Address; amount: bigint }
      claimed.push({
        ...key,
        epoch: BigInt(epoch),
        payee: lower(payee),
        amountMicro: amount,
        transaction: log.transactionHash,
        logIndex: Number(log.logIndex),
        blockNumber: BigInt(log.blockNumber),
      })
    } else if (eventName === 'MoveRequested') {
      const { to, untilEpoch, readyAt } = args as unknown as { to: Address; untilEpoch: bigint; readyAt: bigint }
      const requested = { to: lower(to), untilEpoch: BigInt(untilEpoch), readyAt: new Date(Number(readyAt) * 1000) }
      moves.push({ ...key, kind: 'requested', ...requested })
    } else moves.push({ ...key, kind: 'refused' })
  }
  return { claims: toClaims(claimed), moves }
}

const lower = (address: Address) => address.toLowerCase() as Address
