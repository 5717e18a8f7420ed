import { encodeFunctionData, numberToHex, pad, toEventSelector } from 'viem'
import type { BlockRef } from '../../chain/index.ts'
import type { Address } from '../../kernel/address.ts'
import { type Hex, toHex } from '../../kernel/bytes.ts'
import { type Micro, smallerOf } from '../../kernel/money.ts'
import { accounts, type LedgerLine, post } from '../../ledger/index.ts'
import type { Tx } from '../../store/database.ts'
import { accruedAccount, committedAccount, creatorReceivable, mergeLines } from './accrue.ts'
import { distributorAbi } from './contracts.ts'
import type { CreatorChain, CreatorDeps } from './deps.ts'
import type { DistributorState } from './read-distributor.ts'
import { cancelOut } from './reverse-accruals.ts'

export type SignedRoot = {
  id: bigint
  network: string
  epoch: bigint
  root: Buffer
  totalMicro: Micro
  increaseMicro: Micro
  validBefore: bigint
  headBlock: bigint
  signature: Buffer
  landed: boolean
}

export async function findSignedRoot({ database }: CreatorDeps, network: string): Promise<SignedRoot | undefined> {
  const { rows } = await database.query<SignedRoot>(
    `select id, network, epoch, root, total_micro as "totalMicro", increase_micro as "increaseMicro",
       valid_before as "validBefore", head_block as "headBlock", signature, landed
     from creator_root where network = $1 and state = 'signed'`,
    [network],
  )
  return rows[0]
}

/** Ends a root by what a final block shows, and by nothing else. Gives what is still to be sent. */
export async function followRoot(
  deps: CreatorDeps,
  place: CreatorChain,
  final: BlockRef,
  state: DistributorState | undefined,
): Promise<SignedRoot | undefined> {
  const signed = await findSignedRoot(deps, place.network.caip2)
  if (!signed) return undefined
  if (state && state.epoch === signed.epoch && state.root.equals(signed.root)) {
    await commitRoot(deps, signed, await findAdvance(place, signed, final))
    return undefined
  }
  if (BigInt(final.timestamp) <= signed.validBefore) {
    await noteLanded(deps, place, signed)
    return signed
  }
  await abandonRoot(deps, signed)
  return undefined
}

/** Not final yet, but the contract knows this root and no other: claims need its proofs from now on. A reorg undoes it. */
async function noteLanded(deps: CreatorDeps, place: CreatorChain, signed: SignedRoot): Promise<void> {
  const data = encodeFunctionData({ abi: distributorAbi, functionName: 'root' })
  const root = await place.rpc
    .first('eth_call', [{ to: place.distributor.address, data }, 'latest'])
    .catch(() => undefined)
  const landed = root === toHex(signed.root)
  if (root === undefined || landed === signed.landed) return
  await deps.database.query(`update creator_root set landed = $2 where id = $1 and state = 'signed'`, [
    signed.id,
    landed,
  ])
}

/** Sends the root, unless a transaction that may still land carries it already. Anybody could: the signature is all it takes. */
export async function sendRoot(deps: CreatorDeps, place: CreatorChain, signed: SignedRoot): Promise<void> {
  const reference = `creator_root:${signed.id}`
  const { rowCount } = await deps.database.query(
    `select from settlement_transaction where network = $1 and purpose = 'creator_root' and state in ('signed', 'broadcast')
       and reference_ids @> array[$2]`,
    [signed.network, reference],
  )
  if (rowCount > 0) return
  const call = { to: place.distributor.address, data: advanceCall(signed) }
  // A call that would fail costs gas for nothing; one that fails because it has landed is seen at the next final block.
  const passes = await place.rpc.first('eth_call', [{ ...call, from: place.wallets.addresses[0] }, 'latest']).then(
    () => true,
    () => false,
  )
  if (!passes) return
  const sent = await place.wallets.send({
    purpose: 'creator_root',
    references: [reference],
    ...call,
    gasLimit: 300_000n,
    usefulUntil: Number(signed.validBefore),
    stillWanted: () => true,
  })
  if (sent.status === 'sent') await Promise.race([sent.outcome, deps.clock.sleep(10_000)])
  else deps.log.warn({ network: signed.network, reason: sent.reason }, 'a root of creators was not sent')
}

const advanceCall = (signed: SignedRoot): Hex =>
  encodeFunctionData({
    abi: distributorAbi,
    functionName: 'advance',
    args: [toHex(signed.root), signed.totalMicro, signed.validBefore, toHex(signed.signature)],
  })

const advancedTopic = toEventSelector('Advanced(uint64,bytes32,uint256,uint256)')

async function findAdvance(place: CreatorChain, signed: SignedRoot, final: BlockRef) {
  // Asked once and kept for ever: an endpoint that does not answer is asked again in the next round.
  const logs = (await place.rpc.first('eth_getLogs', [
    {
      address: place.distributor.address,
      topics: [advancedTopic, pad(numberToHex(signed.epoch))],
      fromBlock: numberToHex(signed.headBlock),
      toBlock: numberToHex(final.number),
    },
  ])) as { transactionHash: Hex; blockNumber: Hex }[]
  const [log] = logs
  return log && { transaction: log.transactionHash, blockNumber: BigInt(log.blockNumber) }
}

async function commitRoot(
  deps: CreatorDeps,
  signed: SignedRoot,
  found: { transaction: Hex; blockNumber: bigint } | undefined,
): Promise<void> {
  await deps.database.transaction(async (tx) => {
    const { rowCount } = await tx.query(
      `update creator_root set state = 'committed', transaction = $2, block_number = $3, ended_at = $4
       where id = $1 and state = 'signed'`,
      [signed.id, found?.transaction ?? null, found?.blockNumber ?? null, new Date(deps.clock.nowMs())],
    )
    if (rowCount === 0) return
    await post(tx, [
      {
        reference: `creator_root:${signed.id}`,
        kind: 'creator_root',
        lines: await rootLines(tx, signed),
      },
    ])
    await tx.query(`update creator_accrual set state = 'committed' where root_id = $1 and state = 'committing'`, [
      signed.id,
    ])
    await tx.query(
      `update creator_balance b set committed_micro = l.cumulative_micro
       from creator_leaf l where l.root_id = $1 and b.network = $2 and b.wallet = l.wallet`,
      [signed.id, signed.network],
    )
  })
  deps.metrics.count('creator_roots', { network: signed.network, outcome: 'committed' })
}

type Gained = { wallet: Address; shard: number; micro: Micro }

/** The debt moves from the books to the contract, and the money with it. */
async function rootLines(tx: Tx, signed: SignedRoot): Promise<LedgerLine[]> {
  const { network, increaseMicro } = signed
  const { rows } = await tx.query<Gained>(
    `select wallet, shard, sum(micro)::bigint as micro from creator_accrual where root_id = $1 group by wallet, shard
     having sum(micro) <> 0 order by wallet, shard`,
    [signed.id],
  )
  const owed = await balancesOf(tx, network, rows)
  return mergeLines([
    { account: accounts.onchain(network, 'custody'), amount: -increaseMicro },
    { account: accounts.distributor(network), amount: increaseMicro },
    ...rows.flatMap((row) => gainedLines(network, row, owed)),
  ])
}

/**
 * A share comes from the balance in which it was booked; what is missing there was taken back while the root was on its
 * way, so the creator owes it. What was taken back pays such a debt first, and else gives the balance its money again.
 */
function gainedLines(network: string, { wallet, shard, micro }: Gained, owed: Map<string, Micro>): LedgerLine[] {
  const account = accruedAccount(network, wallet, shard)
  const receivable = creatorReceivable(network, wallet)
  const [from, beyond] = micro > 0n ? [account, receivable] : [receivable, account]
  const size = micro > 0n ? micro : -micro
  const covered = smallerOf(owed.get(from.name) ?? 0n, size)
  const sign = micro > 0n ? 1n : -1n
  owed.set(from.name, (owed.get(from.name) ?? 0n) - covered)
  owed.set(beyond.name, (owed.get(beyond.name) ?? 0n) + size - covered)
  return [
    { account: from, amount: sign * covered },
    { account: beyond, amount: sign * (size - covered) },
    { account: committedAccount(network, wallet), amount: -micro },
  ]
}

/** What is owed to each creator in these accounts, and what each of them owes. */
async function balancesOf(tx: Tx, network: string, rows: readonly Gained[]): Promise<Map<string, Micro>> {
  const names = rows.flatMap(({ wallet, shard }) => [
    accruedAccount(network, wallet, shard).name,
    creatorReceivable(network, wallet).name,
  ])
  const { rows: balances } = await tx.query<{ name: string; micro: Micro }>(
    `select a.name, case when a.guarded then (select b.owed_micro from ledger_balance b where b.account_id = a.id)
       else (select coalesce(sum(e.amount_micro), 0)::bigint from ledger_entry e where e.account_id = a.id) end as micro
     from ledger_account a where a.name = any($1::text[])`,
    [[...new Set(names)]],
  )
  return new Map(balances.map(({ name, micro }) => [name, micro]))
}

/** Provably never: the shares are open again, for the next root. */
async function abandonRoot(deps: CreatorDeps, signed: SignedRoot): Promise<void> {
  await deps.database.transaction(async (tx) => {
    const { rowCount } = await tx.query(
      `update creator_root set state = 'abandoned', ended_at = $2 where id = $1 and state = 'signed'`,
      [signed.id, new Date(deps.clock.nowMs())],
    )
    if (rowCount === 0) return
    const { rows } = await tx.query<{ id: bigint }>(
      `update creator_accrual set state = 'accrued', root_id = null where root_id = $1 and state = 'committing'
       returning coalesce(reverses, id) as id`,
      [signed.id],
    )
    await cancelOut(
      tx,
      rows.map(({ id }) => id),
    )
    await tx.query('update creator_balance set pending_micro = committed_micro where network = $1', [signed.network])
  })
  deps.metrics.count('creator_roots', { network: signed.network, outcome: 'abandoned' })
  deps.log.warn({ network: signed.network, epoch: signed.epoch.toString() }, 'a root of creators was not taken in time')
}
