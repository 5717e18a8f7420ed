import { checksumAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { type Micro, smallerOf } from '@assay/protocol/money'
import { fromHex } from '../../kernel/bytes.ts'
import { Problem } from '../../kernel/problem.ts'
import { encodeChannelSale } from '../encode-response.ts'
import { channelKey } from './channel-cache.ts'
import { claimable, claimCall, refundCall, settleCall, together } from './channel-calls.ts'
import {
  type ChannelChain,
  type ChannelDeps,
  chainOf,
  channelReason,
  headOf,
  refundPending,
  VoucherRefused,
} from './channel-deps.ts'
import { type ChannelRecord, channelColumns, channelStateExtra, toChannelRecord } from './channel-record.ts'
import { readChannel, saveState } from './channel-store.ts'
import { correctionFor } from './check-voucher.ts'
import type { ChannelPayment } from './decode-channel.ts'
import { stateAt } from './make-deposit.ts'
import { requireUnlisted } from './require-unlisted.ts'
import type { SellDeps } from './sell-by-voucher.ts'
import { firstPassing, sendCall } from './send-call.ts'

const refundGas = 400_000n

type RefundPayment = Extract<ChannelPayment, { type: 'refund' }>

/** Refunds what was not charged. Everything charged is claimed in the same transaction, and nothing is sold meanwhile. */
export async function refundChannel(deps: SellDeps, payment: RefundPayment): Promise<string> {
  const key = { network: payment.network, id: payment.voucher.channelId }
  const answer = await deps.queue.run(
    channelKey(key),
    () => true,
    async (corrected) => {
      try {
        return await refundInTurn(deps, payment, key)
      } catch (error) {
        if (error instanceof VoucherRefused && error.correction) corrected()
        throw error
      } finally {
        deps.cache.evict(key)
      }
    },
  )
  if (answer === undefined) throw new Problem('payment_in_flight', { retryAfterSeconds: 1 })
  return answer
}

async function refundInTurn(deps: SellDeps, payment: RefundPayment, key: { network: string; id: Hex }) {
  const { database, clock, policy } = deps
  const on = chainOf(deps, key.network)
  const found = await readChannel(database, key)
  if (!found) throw new VoucherRefused(channelReason('channel_not_found'), 'This channel is not known here.')
  await requireUnlisted(deps, key.network, found.config.payer)
  if (payment.voucher.maxClaimable !== found.chargedMicro) throw await correctionFor(deps, found)
  if (found.state === 'refunding') throw refundPending()
  if (!on.wallets.addresses.includes(found.config.receiverAuthorizer))
    throw new Problem('not_available', { detail: 'The key of this channel is not held any more.' })
  await requireNoRecentRefund(deps, found)
  await requireNoDeposit(deps, key)
  const state = await on.chain.channels.state(key.id, await headOf(on, found.atBlock))
  const record = { ...found, ...state }
  const free = record.balanceMicro - record.chargedMicro
  const amount = smallerOf(payment.amount ?? free, free)
  if (amount < policy.refundMicroMin)
    throw new VoucherRefused(channelReason('refund_no_balance'), `At least ${policy.refundMicroMin} is refunded.`)
  const refundAtMs = clock.nowMs()
  const isOurs = await setRefunding(deps, { ...record, refundAtMs })
  if (!isOurs) throw await correctionFor(deps, (await readChannel(database, key)) ?? found)
  const before = { refundAtMs: found.refundAtMs }
  return sendRefund(deps, { ...record, refundAtMs }, amount, () => reopen(deps, { ...record, refundAtMs }, before))
}

type Refunding = ChannelRecord & { refundAtMs: number }

/** `giveUp`: nothing was sent, so that it does not count as a refund. */
async function sendRefund(
  deps: ChannelDeps,
  record: Refunding,
  amount: Micro,
  giveUp: () => Promise<void>,
): Promise<string> {
  const { network, id, config } = record
  const claims = claimable(record) > record.claimedMicro ? [claimCall([record])] : []
  const settles = claims.map(() => settleCall(config.receiver, config.token))
  const simulated = await firstPassing(deps, network, config.receiverAuthorizer, [
    together([...claims, ...settles, refundCall(config, amount)]),
    together([...claims, refundCall(config, amount)]),
  ])
  if (simulated.status !== 'passes') {
    await giveUp()
    if (simulated.status === 'could_not_read') throw new Problem('settlement_unavailable', { retryAfterSeconds: 3 })
    throw new VoucherRefused(channelReason('refund_simulation_failed'), `The refund would fail: ${simulated.message}`)
  }
  const { data } = simulated
  const sent = await sendCall(deps, {
    ...{ network, from: config.receiverAuthorizer, data, gasLimit: refundGas, purpose: 'channels.refund' },
    reference: refundReference(record),
    // Later, another process takes it for one that was never sent, and sells by the channel again.
    stillWanted: () => deps.clock.nowMs() < record.refundAtMs + deps.settleMs,
  })
  if (sent.status === 'unknown')
    throw new Problem('settlement_unknown', { detail: 'The refund is on its way.', retryAfterSeconds: 5 })
  if (sent.status !== 'done') {
    await (sent.status === 'not_sent' ? giveUp() : reopen(deps, record))
    throw new VoucherRefused(channelReason('refund_transaction_failed'), 'The refund was not made.')
  }
  const after = await stateAt(deps, network, id, sent.blockNumber)
  await saveState(deps.database, record, after)
  await reopen(deps, record)
  deps.metrics.count('channels_refunds')
  return encodeChannelSale({
    ...{ payer: checksumAddress(config.payer), network, transaction: sent.transaction },
    amount: (record.balanceMicro - after.balanceMicro).toString(),
    extra: { channelState: channelStateExtra({ ...record, ...after }) },
  })
}

const refundReference = ({ id, refundNonce }: Pick<ChannelRecord, 'id' | 'refundNonce'>) =>
  `refund ${id} ${refundNonce}`

/**
 * The voucher of a refund may be the last one that everybody can read in a claim, and we pay its gas: one for each payer and
 * interval, for a payer opens as many channels as it likes.
 */
async function requireNoRecentRefund({ database, clock, policy }: ChannelDeps, { network, config }: ChannelRecord) {
  const everyMs = policy.refundEverySeconds * 1_000
  const { rows } = await database.query<{ last: Date | null }>(
    `select max(refund_at) as last from channel where network = $1 and payer = $2 and refund_at > $3`,
    [network, config.payer, new Date(clock.nowMs() - everyMs)],
  )
  const last = rows[0]?.last
  if (!last) return
  const leftMs = last.getTime() + everyMs - clock.nowMs()
  throw new Problem('rate_limited', {
    detail: `One refund is made for each payer in ${policy.refundEverySeconds} s.`,
    retryAfterSeconds: Math.max(1, Math.ceil(leftMs / 1_000)),
  })
}

async function requireNoDeposit({ database }: ChannelDeps, { network, id }: { network: string; id: Hex }) {
  const { rowCount } = await database.query(
    `select from channel_deposit where network = $1 and channel_id = $2 and state = 'sending'`,
    [network, fromHex(id)],
  )
  if (rowCount > 0)
    throw new Problem('settlement_unknown', {
      detail: 'A deposit into this channel is being processed.',
      retryAfterSeconds: 5,
    })
}

/** From here on no process sells by this channel. False when a sale came in between. */
async function setRefunding({ database }: ChannelDeps, record: Refunding): Promise<boolean> {
  const { network, id, sequence, chargedMicro, refundNonce, refundAtMs } = record
  const { rowCount } = await database.query(
    `update channel set state = 'refunding', refund_at = $5, refund_nonce = $6, public_micro = greatest(public_micro, signed_micro)
     where network = $1 and id = $2 and sequence = $3 and charged_micro = $4 and state = 'open'`,
    [network, fromHex(id), sequence, chargedMicro, new Date(refundAtMs), refundNonce],
  )
  return rowCount > 0
}

async function reopen(
  { database, cache }: ChannelDeps,
  record: ChannelRecord,
  { refundAtMs: countsFromMs }: Pick<ChannelRecord, 'refundAtMs'> = record,
): Promise<void> {
  const { network, id, refundAtMs } = record
  await database.query(
    `update channel set state = 'open', refund_at = $4 where network = $1 and id = $2 and state = 'refunding' and refund_at = $3`,
    [...[network, fromHex(id), new Date(refundAtMs ?? 0)], countsFromMs === undefined ? null : new Date(countsFromMs)],
  )
  cache.evict(record)
}

/** Ends refunds whose process died, or whose transaction took long: not before it is known that none is on its way. */
export async function recoverRefunds(deps: ChannelDeps, network: string, on: ChannelChain): Promise<void> {
  const { database, clock, settleMs } = deps
  const { rows } = await database.query(
    `select ${channelColumns} from channel where network = $1 and state = 'refunding' and refund_at < $2 limit 100`,
    [network, new Date(clock.nowMs() - settleMs - 5_000)],
  )
  for (const record of rows.map(toChannelRecord)) {
    const sent = await database.query<{ state: string; succeeded: boolean | null; block: bigint | null }>(
      `select state, succeeded, block_number as block from settlement_transaction
       where network = $1 and purpose = 'channels.refund' and reference_ids = array[$2]`,
      [network, refundReference(record)],
    )
    if (sent.rows.some(({ state }) => state === 'signed' || state === 'broadcast')) continue
    const head = await headOf(on, record.atBlock)
    if (sent.rows.some(({ block }) => block !== null && block > head)) continue
    await saveState(database, record, await on.chain.channels.state(record.id, head))
    await reopen(deps, record, sent.rows.length === 0 ? { refundAtMs: undefined } : record)
  }
}
