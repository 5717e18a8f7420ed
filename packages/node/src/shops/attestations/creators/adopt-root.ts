import { agreedLogs, type BlockRef, type ChainTransfer, ChainUnreadable } from '@assay/till/chain'
import { fromHex, type Hex } from '@assay/till/kernel/bytes'
import type { Micro } from '@assay/till/kernel/money'
import { accounts, post, type TransferRow } from '@assay/till/ledger'
import { takePaidTransfer } from '@assay/till/payouts'
import type { Sql } from '@assay/till/store/database'
import { noteRestore } from '@assay/till/store/restore'
import { decodeAbiParameters, toEventSelector } from 'viem'
import { type CreatorChain, type CreatorDeps, creatorChains } from './deps.ts'

/** A root that the contract took. */
export type Advance = {
  epoch: bigint
  root: Buffer
  totalMicro: Micro
  increaseMicro: Micro
  transaction: Hex
  blockNumber: bigint
}

export type NewestRoot = {
  epoch: bigint
  totalMicro: Micro
  /** Of the total, what no creator has in the books. */
  unassignedMicro: Micro
  blockNumber: bigint | null
}

/** The last committed root that the books know. */
export async function newestRoot(sql: Sql, place: CreatorChain): Promise<NewestRoot> {
  const { rows } = await sql.query<NewestRoot>(
    `select epoch, total_micro as "totalMicro", unassigned_micro as "unassignedMicro", block_number as "blockNumber"
     from creator_root where network = $1 and contract = $2 and state = 'committed' order by epoch desc limit 1`,
    [place.network.caip2, place.distributor.address],
  )
  return rows[0] ?? { epoch: 0n, totalMicro: 0n, unassignedMicro: 0n, blockNumber: null }
}

const advancedTopic = toEventSelector('Advanced(uint64,bytes32,uint256,uint256)')

type Search = {
  known: NewestRoot
  open: { headBlock: bigint } | undefined
  final: BlockRef
  untilEpoch: bigint
}

/** Every root after the last known one, in order. Kept for ever, so enough endpoints must show them alike. */
export async function readAdvances(
  { database }: CreatorDeps,
  place: CreatorChain,
  { known, open, final, untilEpoch }: Search,
): Promise<Advance[]> {
  const logs = await agreedLogs(place.rpc, {
    address: place.distributor.address,
    topics: [advancedTopic],
    fromBlock: known.blockNumber ?? open?.headBlock ?? (await firstBlock(database, place.network.caip2)),
    toBlock: final.number,
  })
  const advances = logs
    .map((log): Advance => {
      const [root, totalMicro, increaseMicro] = decodeAbiParameters(
        [{ type: 'bytes32' }, { type: 'uint256' }, { type: 'uint256' }],
        log.data,
      )
      return {
        epoch: BigInt(log.topics[1] ?? '0x0'),
        root: fromHex(root),
        totalMicro,
        increaseMicro,
        transaction: log.transactionHash,
        blockNumber: BigInt(log.blockNumber),
      }
    })
    .filter(({ epoch }) => epoch > known.epoch && epoch <= untilEpoch)
    .sort((one, other) => (one.epoch < other.epoch ? -1 : 1))
  if (BigInt(advances.length) !== untilEpoch - known.epoch)
    throw new ChainUnreadable('the endpoints do not show every root of the distributor')
  return advances
}

async function firstBlock(sql: Sql, network: string): Promise<bigint> {
  const { rows } = await sql.query<{ block: bigint }>(
    `select coalesce(min(block_number), 0) as block from transfer where network = $1`,
    [network],
  )
  return rows[0]?.block ?? 0n
}

/** The transfer that backs a root: the contract pulls it in the same call. */
export async function findPull(place: CreatorChain, advance: Advance): Promise<ChainTransfer> {
  const transfer = (await place.chain.transfersIn(advance.transaction)).find(
    ({ sender, recipient, amountMicro }) =>
      sender === place.key.address && recipient === place.distributor.address && amountMicro === advance.increaseMicro,
  )
  if (!transfer) throw new ChainUnreadable(`${advance.transaction} shows a root without its transfer`)
  return transfer
}

/**
 * Books a root that a restore took from the books. Its money is in the contract; which creators it was for is known only
 * as they claim, or as the next root gives it to them again. Until then it is unassigned.
 */
export async function adoptRoot(
  deps: CreatorDeps,
  place: CreatorChain,
  advance: Advance,
  transfer: ChainTransfer,
): Promise<void> {
  const network = place.network.caip2
  const nowMs = deps.clock.nowMs()
  await deps.database.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`creator root ${network}`])
    const known = await newestRoot(tx, place)
    if (known.epoch + 1n !== advance.epoch) return
    const { rows } = await tx.query<{ id: bigint }>(
      `insert into creator_root (network, contract, epoch, root, total_micro, increase_micro, unassigned_micro, creators,
         head_block, state, adopted, transaction, block_number, signed_at, ended_at)
       values ($1, $2, $3, $4, $5, $6, $7, 0, $8, 'committed', true, $9, $8, $10, $10) returning id`,
      [
        network,
        place.distributor.address,
        advance.epoch,
        advance.root,
        advance.totalMicro,
        advance.increaseMicro,
        known.unassignedMicro + advance.increaseMicro,
        advance.blockNumber,
        advance.transaction,
        new Date(nowMs),
      ],
    )
    const reference = `creator_root:${rows[0]?.id}`
    const turn = await takePaidTransfer(tx, place.network, transfer, { as: 'creator_root', for: reference }, nowMs)
    await post(tx, [
      {
        reference,
        kind: 'creator_root',
        transfer: turn,
        lines: [
          { account: accounts.onchain(network, 'custody'), amount: -advance.increaseMicro },
          { account: accounts.distributor(network), amount: advance.increaseMicro },
        ],
      },
    ])
  })
  const reason = `the distributor has a root of epoch ${advance.epoch} that the books do not know`
  await noteRestore(deps.database, deps, { network, untilBlock: advance.blockNumber, reason })
  deps.metrics.count('creator_roots', { network, outcome: 'adopted' })
}

/** Transfers into the distributor that were seen more often than this back no root: roots are followed before each look. */
const looksMax = 3

/** A transfer out of custody that a root takes, once the block it became final with was followed. */
export function mayBackRoot(deps: CreatorDeps, transfer: TransferRow): boolean {
  return (
    transfer.tries < looksMax &&
    creatorChains(deps).some(
      ({ network, distributor }) => network.caip2 === transfer.network && distributor.address === transfer.recipient,
    )
  )
}
