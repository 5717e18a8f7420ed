import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { BlockRef, ChainPort, ChainTransfer, KeyUse } from '../chain/index.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import { accounts, post } from '../ledger/index.ts'
import type { Database, Tx } from '../store/database.ts'
import { isFinalBlock } from '../transitions/decide-finality.ts'
import { decidePayoutUse, decideUnusedPayout } from '../transitions/decide-payout.ts'
import { owedAccount } from './debt-account.ts'
import { lockPayoutAccount } from './identity.ts'
import { openStates, type Payout, payoutColumns, toPayout } from './payout-record.ts'
import { postPaid } from './post-paid.ts'

export type WatchDeps = { database: Database; clock: Clock; log: Log; metrics: Metrics }

const perRunMax = 2_000
/** Those of one batch share a receipt, which is then read once. */
const atOnce = 64

/**
 * Ends signed payouts by what the chain shows, and by nothing else: with the transfer in a final block, or returned once
 * the authorization has expired, unused, at a final block.
 */
export async function watchPayouts(deps: WatchDeps, chain: ChainPort): Promise<void> {
  const { rows } = await deps.database.query(
    `select ${payoutColumns} from payout where network = $1 and state in ('signed', 'parked') order by signed_at limit $2`,
    [chain.network.caip2, perRunMax],
  )
  const payouts = rows.map(toPayout)
  if (payouts.length === 0) return
  const final = await chain.finalizedBlock()
  for (let start = 0; start < payouts.length; start += atOnce)
    await Promise.all(
      payouts.slice(start, start + atOnce).map((payout) =>
        watchOne(deps, chain, payout, final).catch((error: unknown) => {
          deps.log.warn({ payout: payout.id, error: String(error) }, 'the state of a payout could not be read')
        }),
      ),
    )
}

async function watchOne(deps: WatchDeps, chain: ChainPort, payout: Payout, final: BlockRef): Promise<void> {
  const { payer, nonce, validBefore } = payout
  if (payer === null || nonce === null || validBefore === null) return
  const known = await transferIn(chain, payout.transaction, payer, nonce)
  if (known || (await chain.authorizationUsed(payer, nonce, 'latest'))) {
    const from = payout.headBlock ?? 0n
    const use: KeyUse = known
      ? { status: 'transfer', transfer: known }
      : await chain.nonceUse(payer, nonce, from > 100n ? from - 100n : 0n)
    await followUse(deps, chain, payout, use, final)
    return
  }
  if (payout.blockNumber !== null) await clearBlock(deps, payout)
  // Asked at that very block: an endpoint that lags behind has no answer, where its own idea of the last final block
  // would be "unused", and the debt would be paid twice.
  const time = { finalTime: final.timestamp, validBefore }
  if (decideUnusedPayout(time) !== 'read_final') return
  const usedAtFinal = await chain.authorizationUsed(payer, nonce, final.number)
  if (decideUnusedPayout({ ...time, usedAtFinal }) === 'return') await endUnused(deps, payout, 'authorization_expired')
}

/** The transfer of a nonce in the transaction that we believe carried it. */
async function transferIn(
  chain: ChainPort,
  transaction: Hex | null,
  payer: Address,
  nonce: Hex,
): Promise<ChainTransfer | undefined> {
  if (transaction === null) return undefined
  const transfers = await chain.transfersIn(transaction).catch(() => [])
  return transfers.find((transfer) => transfer.sender === payer && transfer.paymentKey === nonce)
}

/** What a used nonce means for its payout; nothing until its block is final. */
export async function followUse(
  deps: WatchDeps,
  chain: ChainPort,
  payout: Payout,
  use: KeyUse,
  final: BlockRef,
): Promise<void> {
  if (use.status === 'absent' || use.status === 'could_not_read') return
  const mined = use.status === 'transfer' ? use.transfer : use
  const canonical = mined.blockNumber <= final.number ? await chain.blockHash(mined.blockNumber) : undefined
  const decision = decidePayoutUse(use, isFinalBlock(final.number, canonical, mined))
  if (decision === 'paid' && use.status === 'transfer') await postPaid(deps, chain.network, payout, use.transfer)
  else if (decision === 'canceled') {
    deps.log.error({ payout: payout.id, transaction: mined.transaction }, 'the authorization of a payout was canceled')
    await endUnused(deps, payout, 'authorization_canceled')
  } else if (mined.blockHash !== payout.blockHash) await recordMined(deps, payout, mined)
}

type Mined = { transaction?: string; blockNumber: bigint; blockHash: string }

async function recordMined({ database }: WatchDeps, payout: Payout, mined: Mined): Promise<void> {
  await database.query(
    `update payout set transaction = $2, block_number = $3, block_hash = $4 where id = $1 and state in ('signed', 'parked')`,
    [payout.id, mined.transaction ?? null, mined.blockNumber, mined.blockHash],
  )
}

/** A reorg took its block away: it is sent again, with the same bytes. */
async function clearBlock({ database, log }: WatchDeps, payout: Payout): Promise<void> {
  await database.query(
    `update payout set transaction = null, block_number = null, block_hash = null where id = $1 and state in ('signed', 'parked')`,
    [payout.id],
  )
  log.warn({ payout: payout.id }, 'a payout was reorganised away and is sent again')
}

/**
 * Provably never paid. The debt of a wallet is the wallet's again, and its next payout has the same nonce; a refund can
 * be paid under its own nonce only, so it is queued again. A payee that was blocked is held until a person decides.
 */
async function endUnused(
  deps: WatchDeps,
  payout: Payout,
  why: 'authorization_expired' | 'authorization_canceled',
): Promise<void> {
  const canceled = why === 'authorization_canceled'
  const again = !canceled && payout.account !== payout.payee
  await deps.database.transaction(async (tx) => {
    await lockPayoutAccount(tx, payout)
    const { rowCount } = await tx.query(again ? queueAgainSql : returnSql, [
      payout.id,
      ...(again ? [] : [new Date(deps.clock.nowMs()), why, canceled]),
    ])
    if (rowCount === 0) return
    if (!again) await returnMoney(tx, payout)
    if (payout.state === 'parked')
      await tx.query(
        `insert into payout_hold (network, payee, reason, held_by) values ($1, $2, $3, 'node') on conflict do nothing`,
        [payout.network, payout.payee, payout.reason ?? 'blocked'],
      )
  })
}

const queueAgainSql = `update payout set state = 'queued', reason = null, payer = null, nonce = null, signature = null,
    valid_before = null, signed_at = null, head_block = null, transaction = null
  where id = $1 and state in ('signed', 'parked')`
const returnSql = `update payout set state = 'returned', ended_at = $2, reason = coalesce(reason, $3), spent = $4
  where id = $1 and state in ${openStates}`

async function returnMoney(tx: Tx, payout: Payout): Promise<void> {
  const { network, amountMicro, payee, purpose } = payout
  await post(tx, [
    {
      reference: `payout_returned:${payout.id}`,
      kind: 'payout_returned',
      lines: [
        { account: accounts.clearingPayouts(network), amount: amountMicro },
        { account: owedAccount(network, payee, purpose), amount: -amountMicro },
      ],
    },
  ])
}
