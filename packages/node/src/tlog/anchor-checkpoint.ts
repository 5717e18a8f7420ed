import type { Address } from '@assay/protocol/address'
import { toHex } from '@assay/protocol/bytes'
import type { ChainPort, Network, Rpc } from '@assay/till/chain'
import { ensureDeployed } from '@assay/till/chain/own-contract'
import type { SettlementWallets } from '@assay/till/chain/wallet'
import type { Clock } from '@assay/till/kernel/clock'
import type { Log } from '@assay/till/kernel/log'
import type { Database } from '@assay/till/store/database'
import { encodeFunctionData } from 'viem'
import { logAnchorAbi, logAnchorContract } from './anchor-contract.ts'
import type { TransparencyLog } from './open-log.ts'
import { newestCheckpoint } from './store.ts'

export type AnchorDeps = { database: Database; clock: Clock; log: Log; tree: TransparencyLog }
export type AnchorPlace = { network: Network; chain: ChainPort; rpc: Rpc; wallets: SettlementWallets }

/** How long a sent transaction may be pending; one that was replaced or reorganised away is then sent again. */
const patienceMs = 600_000

/** Puts the newest tree head on chain, with all its signatures: from then on nobody can show another one of that size. */
export async function anchorCheckpoint(deps: AnchorDeps, place: AnchorPlace): Promise<void> {
  const { database, clock, tree } = deps
  const network = place.network.caip2
  const newest = await newestCheckpoint(database)
  if (newest) await resumeSent(deps, network, newest)
  await finishAnchors(deps, place)
  const { rowCount } = await database.query(
    `select from log_anchor where network = $1 and size >= $2 and (state = 'anchored' or sent_at > $3)`,
    [network, newest?.size ?? 0, new Date(clock.nowMs() - patienceMs)],
  )
  if (!newest || rowCount > 0) return
  if (!(await ensureDeployed(deps, place, logAnchorContract))) return
  const note = Buffer.from(await tree.withCosignatures(newest))
  const sent = await place.wallets.send({
    purpose: 'log_anchor',
    references: [referenceOf(newest.size)],
    to: logAnchorContract.address,
    data: encodeFunctionData({
      abi: logAnchorAbi,
      functionName: 'anchor',
      args: [tree.origin, BigInt(newest.size), toHex(newest.root), toHex(note)],
    }),
    gasLimit: 60_000n + 40n * BigInt(note.length + 500),
    stillWanted: () => true,
  })
  if (sent.status === 'not_sent') {
    deps.log.warn({ network, reason: sent.reason }, 'a tree head was not anchored')
    return
  }
  await database.query(
    `insert into log_anchor (network, size, root, contract, state, transaction, sent_at)
     values ($1, $2, $3, $4, 'sent', $5, $6) on conflict (network, size) do update
       set transaction = excluded.transaction, sent_at = excluded.sent_at where log_anchor.state = 'sent'`,
    [
      network,
      newest.size,
      newest.root,
      logAnchorContract.address as Address,
      sent.transaction,
      new Date(clock.nowMs()),
    ],
  )
  const outcome = await Promise.race([sent.outcome, clock.sleep(10_000)])
  if (outcome?.status === 'mined')
    await database.query('update log_anchor set transaction = $3 where network = $1 and size = $2', [
      network,
      newest.size,
      outcome.receipt.transactionHash,
    ])
  await finishAnchors(deps, place)
}

const referenceOf = (size: bigint | number) => `log_anchor:${size}`

/** Anyone who died between sending a head and writing that down has sent it all the same: it is not paid for twice. */
async function resumeSent(
  { database }: AnchorDeps,
  network: string,
  { size, root }: { size: bigint | number; root: Uint8Array },
): Promise<void> {
  await database.query(
    `insert into log_anchor (network, size, root, contract, state, transaction, sent_at)
     select $1, $2, $3, $4, 'sent', coalesce(mined_hash, hash), signed_at from settlement_transaction
     where network = $1 and purpose = 'log_anchor' and reference_ids @> array[$5] and state in ('signed', 'broadcast', 'mined')
     order by signed_at desc limit 1 on conflict (network, size) do nothing`,
    [network, size, root, logAnchorContract.address as Address, referenceOf(size)],
  )
}

async function finishAnchors({ database, clock }: AnchorDeps, place: AnchorPlace): Promise<void> {
  const { rows } = await database.query<{ size: bigint; transaction: string }>(
    `select size, transaction from log_anchor where network = $1 and state = 'sent' and transaction is not null limit 50`,
    [place.network.caip2],
  )
  if (rows.length === 0) return
  const final = await place.chain.finalizedBlock()
  for (const { size, transaction } of rows) {
    const receipt = (await place.rpc.first('eth_getTransactionReceipt', [transaction])) as {
      blockNumber: string
      status: string
    } | null
    // It can only fail for want of gas or by a fault of the chain: sent again at once, and not when the log next grows.
    if (receipt && receipt.status !== '0x1' && BigInt(receipt.blockNumber) <= final.number)
      await database.query(
        `update log_anchor set sent_at = 'epoch' where network = $1 and size = $2 and state = 'sent'`,
        [place.network.caip2, size],
      )
    if (receipt?.status !== '0x1' || BigInt(receipt.blockNumber) > final.number) continue
    await database.query(
      `update log_anchor set state = 'anchored', block_number = $3, anchored_at = $4 where network = $1 and size = $2`,
      [place.network.caip2, size, BigInt(receipt.blockNumber), new Date(clock.nowMs())],
    )
  }
}
