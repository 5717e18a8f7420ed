import type { ChainPort } from '../chain/index.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import { accounts, post } from '../ledger/index.ts'
import type { Database, Tx } from '../store/database.ts'
import { type Payout, payoutColumns, payoutNonce, toPayout } from './payout-record.ts'

export type WatchDeps = { database: Database; clock: Clock; log: Log; metrics: Metrics }

const perRunMax = 2_000
/** Those of one batch share a receipt, which is then read once. */
const atOnce = 64

/**
 * Brings signed payouts to their end by what the chain shows, and by nothing else: final with the transfer, or returned
 * once the authorization has run out, unused, at a final block.
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
          deps.log.warn({ payout: payout.id, error: String(error) }, 'a payout could not be looked at')
        }),
      ),
    )
}

async function watchOne(
  deps: WatchDeps,
  chain: ChainPort,
  payout: Payout,
  final: { number: bigint; timestamp: number },
): Promise<void> {
  const { payer, payee: payTo, amountMicro, validBefore } = payout
  if (payer === null || validBefore === null) return
  const nonce = payoutNonce(payout.id)
  const expected = { payer, payTo, amountMicro, nonce }
  const known = payout.transaction === null ? null : await chain.settlementByTransaction(payout.transaction, expected)
  const isKnown = known !== null && known.status === 'confirmed'
  if (isKnown || (await chain.authorizationUsed(payer, nonce, 'latest'))) {
    const from = payout.headBlock ?? 0n
    const evidence = isKnown ? known : await chain.settlementByNonce(expected, from > 100n ? from - 100n : 0n)
    if (evidence.status !== 'confirmed') return
    if (evidence.blockNumber <= final.number && (await chain.blockHash(evidence.blockNumber)) === evidence.blockHash)
      await markPaid(deps, payout, evidence)
    else if (evidence.blockHash !== payout.blockHash) await noteMined(deps, payout, evidence)
    return
  }
  if (payout.blockNumber !== null) await forgetBlock(deps, payout)
  // Asked at that very block: an endpoint that lags behind has no answer, where its own idea of the last final block
  // would be "unused", and the debt would be paid twice.
  if (BigInt(final.timestamp) > validBefore && !(await chain.authorizationUsed(payer, nonce, final.number)))
    await giveBack(deps, payout)
}

type Mined = { transaction: string; blockNumber: bigint; blockHash: string }

async function noteMined({ database }: WatchDeps, payout: Payout, mined: Mined): Promise<void> {
  await database.query(
    `update payout set transaction = $2, block_number = $3, block_hash = $4 where id = $1 and state in ('signed', 'parked')`,
    [payout.id, mined.transaction, mined.blockNumber, mined.blockHash],
  )
}

/** A reorg took its block away: it is sent again, with the same bytes. */
async function forgetBlock({ database, log }: WatchDeps, payout: Payout): Promise<void> {
  await database.query(
    `update payout set transaction = null, block_number = null, block_hash = null where id = $1 and state in ('signed', 'parked')`,
    [payout.id],
  )
  log.warn({ payout: payout.id }, 'a payout was reorganised away and is sent again')
}

async function markPaid({ database, clock, metrics }: WatchDeps, payout: Payout, mined: Mined): Promise<void> {
  await database.transaction(async (tx) => {
    const { rowCount } = await tx.query(
      `update payout set state = 'paid', reason = null, transaction = $2, block_number = $3, block_hash = $4, ended_at = $5
       where id = $1 and state in ('signed', 'parked')`,
      [payout.id, mined.transaction, mined.blockNumber, mined.blockHash, new Date(clock.nowMs())],
    )
    if (rowCount === 0) return
    await post(tx, [
      {
        reference: `paid:${payout.id}`,
        kind: 'paid_out',
        ...(payout.subject === null ? {} : { paymentId: payout.subject }),
        lines: [
          { account: accounts.clearingPayouts(payout.network), amount: payout.amountMicro },
          { account: accounts.onchain(payout.network, 'custody'), amount: -payout.amountMicro },
        ],
      },
    ])
  })
  metrics.count('payouts_paid', { purpose: payout.purpose, network: payout.network })
}

/** Provably never: the debt is its owner's again. A payee that was blocked is held until a person looks. */
async function giveBack(deps: WatchDeps, payout: Payout): Promise<void> {
  await deps.database.transaction(async (tx) => {
    const { rowCount } = await tx.query(
      `update payout set state = 'returned', ended_at = $2, reason = coalesce(reason, 'authorization_expired')
       where id = $1 and state in ('signed', 'parked')`,
      [payout.id, new Date(deps.clock.nowMs())],
    )
    if (rowCount === 0) return
    await returnMoney(tx, payout)
    if (payout.state === 'parked')
      await tx.query(
        `insert into payout_hold (network, payee, reason, held_by) values ($1, $2, $3, 'node') on conflict do nothing`,
        [payout.network, payout.payee, payout.reason ?? 'blocked'],
      )
  })
}

async function returnMoney(tx: Tx, payout: Payout): Promise<void> {
  const { network, amountMicro, payee, purpose } = payout
  // What had no owner to go back to, a refund, is still owed to its payee.
  const account = accounts.payable(network, payee, purpose)
  await post(tx, [
    {
      reference: `payout_returned:${payout.id}`,
      kind: 'payout_returned',
      lines: [
        { account: accounts.clearingPayouts(network), amount: amountMicro },
        { account, amount: -amountMicro },
      ],
    },
  ])
}
