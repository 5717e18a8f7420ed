import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { sameBytes } from '@assay/protocol/bytes'
import type { Micro } from '@assay/protocol/money'
import { accountOf, type PayoutLeaf, payoutTree } from '@assay/protocol/payout-tree'
import { agreedLogs, type BlockRef, type ChainTransfer, ChainUnreadable, type RpcLog } from '@assay/till/chain'
import { fromHex } from '@assay/till/kernel/bytes'
import { keccak256 } from '@assay/till/kernel/keccak'
import { accounts, mergeLines, post, type TransferRow } from '@assay/till/ledger'
import { takePaidTransfer } from '@assay/till/payouts'
import type { Sql, Tx } from '@assay/till/store/database'
import { recordRestore } from '@assay/till/store/restore'
import { decodeEventLog, toEventSelector } from 'viem'
import { creatorAccounts } from '../accounts.ts'
import { distributorAbi } from './contracts.ts'
import type { CreatorChain, CreatorDeps } from './deps.ts'
import { acceptedDistributors } from './distributors.ts'
import { setOffLeaves } from './set-off-leaves.ts'
import { addCommitted, insertLeaves } from './store-leaves.ts'

/** A root that the contract took, as its event has it. */
export type Advance = {
  epoch: bigint
  root: Buffer
  potMicro: Micro
  opensAt: Date
  leaves: readonly PayoutLeaf[]
  transaction: Hex
  blockNumber: bigint
}

export type NewestRoot = { epoch: bigint; totalMicro: Micro; blockNumber: bigint | null }

/** The last committed root that the books know. */
export async function newestRoot(sql: Sql, place: CreatorChain): Promise<NewestRoot> {
  const { rows } = await sql.query<NewestRoot>(
    `select epoch, total_micro as "totalMicro", block_number as "blockNumber"
     from creator_root where network = $1 and contract = $2 and state = 'committed' order by epoch desc limit 1`,
    [place.network.caip2, place.contract],
  )
  return rows[0] ?? { epoch: 0n, totalMicro: 0n, blockNumber: null }
}

const stepBlocks = 10_000n
const advancedTopic = toEventSelector('Advanced(uint64,bytes32,uint256,uint64,(bytes32,address,uint64)[])')

type Search = {
  known: NewestRoot
  open: { headBlock: bigint } | undefined
  final: BlockRef
  untilEpoch: bigint
}

type AdvancedArgs = {
  epoch: bigint
  root: Hex
  pot: bigint
  opensAt: bigint
  leaves: readonly { account: Hex; wallet: Address; amount: bigint }[]
}

/** Every root after the last known one, in order. Kept for ever, so enough endpoints must show them alike. */
export async function readAdvances(
  { database }: CreatorDeps,
  place: CreatorChain,
  { known, open, final, untilEpoch }: Search,
): Promise<Advance[]> {
  const start = known.blockNumber ?? open?.headBlock ?? (await firstBlock(database, place.network.caip2))
  const logs = await searchRoots(database, place, { epoch: known.epoch, start, until: final.number })
  const advances = logs
    .map((log): Advance => {
      const { args } = decodeEventLog({ abi: distributorAbi, topics: log.topics as [Hex, ...Hex[]], data: log.data })
      const { epoch, root, pot, opensAt, leaves } = args as unknown as AdvancedArgs
      return {
        epoch: BigInt(epoch),
        root: fromHex(root),
        potMicro: pot,
        opensAt: new Date(Number(opensAt) * 1000),
        leaves: leaves.map(({ account, wallet, amount }) => ({
          account,
          wallet: wallet.toLowerCase() as Address,
          micro: BigInt(amount),
        })),
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

/** In steps. How far there was nothing is kept, so that a search which breaks off is not begun again. */
async function searchRoots(
  sql: Sql,
  place: CreatorChain,
  { epoch, start, until }: { epoch: bigint; start: bigint; until: bigint },
): Promise<RpcLog[]> {
  const where = [place.network.caip2, place.contract, epoch]
  const { rows } = await sql.query<{ scanned_to: bigint }>(
    `select scanned_to from creator_root_scan where network = $1 and contract = $2 and epoch = $3`,
    where,
  )
  const after = (rows[0]?.scanned_to ?? -1n) + 1n
  const found: RpcLog[] = []
  for (let from = after > start ? after : start; from <= until; from += stepBlocks) {
    const end = from + stepBlocks - 1n < until ? from + stepBlocks - 1n : until
    const range = { fromBlock: from, toBlock: end }
    found.push(...(await agreedLogs(place.rpc, { address: place.contract, topics: [advancedTopic], ...range })))
    // The last step is asked again: what it does not show yet it may show soon.
    if (found.length > 0 || end === until) continue
    await sql.query(
      `insert into creator_root_scan (network, contract, epoch, scanned_to) values ($1, $2, $3, $4)
       on conflict (network, contract) do update set epoch = excluded.epoch, scanned_to = excluded.scanned_to`,
      [...where, end],
    )
  }
  return found
}

async function firstBlock(sql: Sql, network: string): Promise<bigint> {
  const { rows } = await sql.query<{ block: bigint }>(
    `select coalesce(min(block_number), 0) as block from transfer where network = $1`,
    [network],
  )
  return rows[0]?.block ?? 0n
}

/** The transfer of the pot: the contract pulls it in the same call. */
export async function findPull(place: CreatorChain, advance: Advance): Promise<ChainTransfer> {
  const transfer = (await place.chain.transfersIn(advance.transaction)).find(
    ({ sender, recipient, amountMicro }) =>
      sender === place.treasurer && recipient === place.contract && amountMicro === advance.potMicro,
  )
  if (!transfer) throw new ChainUnreadable(`${advance.transaction} shows a root without its transfer`)
  return transfer
}

/**
 * Posts a root that these books did not sign: a restore took it from them, or somebody else has the custody key. Its
 * leaves are on the chain and theirs for ever, so they come off what the same creators have open here.
 */
export async function adoptRoot(
  deps: CreatorDeps,
  place: CreatorChain,
  advance: Advance,
  transfer: ChainTransfer,
): Promise<void> {
  const network = place.network.caip2
  const nowMs = deps.clock.nowMs()
  const { chainId } = place.network
  const tree = payoutTree({ chainId, contract: place.contract, epoch: advance.epoch }, advance.leaves, keccak256)
  if (!sameBytes(tree.root, advance.root))
    throw new ChainUnreadable(`the leaves of epoch ${advance.epoch} are not its root`)
  await deps.database.transaction(async (tx) => {
    await tx.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`creator root ${network}`])
    const known = await newestRoot(tx, place)
    if (known.epoch + 1n !== advance.epoch) return
    const { rows } = await tx.query<{ id: bigint }>(
      `insert into creator_root (network, contract, epoch, root, total_micro, pot_micro, leaves, head_block, state,
         adopted, transaction, block_number, opens_at, signed_at, ended_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, 'committed', true, $9, $8, $10, $11, $11) returning id`,
      [
        network,
        place.contract,
        advance.epoch,
        advance.root,
        known.totalMicro + advance.potMicro,
        advance.potMicro,
        advance.leaves.length,
        advance.blockNumber,
        advance.transaction,
        advance.opensAt,
        new Date(nowMs),
      ],
    )
    const root = { id: rows[0]?.id as bigint, network, epoch: advance.epoch }
    await insertLeaves(tx, root, tree, await domainsOf(tx, advance.leaves))
    await addCommitted(tx, root.id)
    const reference = `creator_root:${root.id}`
    const turn = await takePaidTransfer(tx, place.network, transfer, { as: 'creator_root', for: reference }, nowMs)
    await post(tx, [
      {
        reference,
        kind: 'creator_root',
        transfer: turn,
        lines: mergeLines([
          { account: accounts.onchain(network, 'custody'), amount: -advance.potMicro },
          { account: creatorAccounts.distributor(network), amount: advance.potMicro },
          ...(await setOffLeaves(tx, root, advance.leaves)),
        ]),
      },
    ])
  })
  const reason = `the distributor has a root of epoch ${advance.epoch} that the books do not know`
  deps.metrics.count('creator_roots', { network, outcome: 'adopted' })
  // Anyone who stole the key of an earlier custody wallet must not be able to stop payouts again and again.
  if (place.treasurer === place.key.address)
    await recordRestore(deps.database, deps, { network, untilBlock: advance.blockNumber, reason })
  else deps.log.error({ network, contract: place.contract }, reason)
}

/** A leaf has the digest of its domain; which one that is, the books may know. */
async function domainsOf(tx: Tx, leaves: readonly PayoutLeaf[]): Promise<Map<Hex, string>> {
  const { rows } = await tx.query<{ domain: string }>(
    `select domain from source_claim where wallet = any($1)
     union select coalesce(payee_domain, domain) from creator_accrual where wallet = any($1)`,
    [[...new Set(leaves.map(({ wallet }) => wallet))]],
  )
  return new Map(rows.map(({ domain }) => [accountOf(domain), domain]))
}

/** Transfers into the distributor that were seen more often than this back no root: roots are followed before each check. */
const checksMax = 3

/** A transfer out of custody that a root takes, once the block it became final with was followed. */
export async function mayBackRoot({ database }: CreatorDeps, transfer: TransferRow): Promise<boolean> {
  if (transfer.tries >= checksMax) return false
  const known = await acceptedDistributors(database, transfer.network)
  return known.some(({ contract }) => contract === transfer.recipient)
}
