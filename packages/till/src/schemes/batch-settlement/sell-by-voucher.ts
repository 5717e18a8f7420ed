import type { Hex } from '@assay/protocol/bytes'
import type { Micro } from '@assay/protocol/money'
import { depositNonce } from '@assay/protocol/typed-data/channel'
import type { Hold } from '../../contract/entitlement.ts'
import type { Terms } from '../../contract/terms.ts'
import { equalBytes } from '../../kernel/bytes.ts'
import { nowSeconds } from '../../kernel/clock.ts'
import { keccak256 } from '../../kernel/keccak.ts'
import { Problem } from '../../kernel/problem.ts'
import { settleMarginSeconds, windowSlackSeconds } from '../exact/verify-authorization.ts'
import type { KnownChannel } from './channel-cache.ts'
import { channelKey } from './channel-cache.ts'
import { depositCall } from './channel-calls.ts'
import {
  ChannelChanged,
  type ChannelDeps,
  chainOf,
  channelReason,
  headOf,
  refundPending,
  VoucherRefused,
} from './channel-deps.ts'
import type { ChannelQueue } from './channel-queue.ts'
import type { ChannelRecord } from './channel-record.ts'
import {
  type DeliveredSale,
  insertChannel,
  readChannel,
  readSale,
  requireAnswer,
  type StoredSale,
  saveState,
} from './channel-store.ts'
import { correctionFor } from './check-voucher.ts'
import type { ChannelPayment, Deposit } from './decode-channel.ts'
import { adoptClaims } from './post-claims.ts'
import { type ReplayedSale, replaySale } from './replay-sale.ts'
import { simulate } from './send-call.ts'
import type { Unclaimed } from './unclaimed.ts'
import type { VoucherHold } from './voucher-hold.ts'
import { heldVoucher } from './voucher-port.ts'

export type VoucherCall = {
  payment: Exclude<ChannelPayment, { type: 'refund' }>
  terms: Terms
  fingerprint: Buffer
  identifierHash: Buffer | null
}

type SaleHandlers<T> = {
  /** Makes the answer and commits the sale. */
  sell(hold: Hold): Promise<T>
  /** Returns the answer of an earlier sale again. */
  replay(sale: ReplayedSale): Promise<T>
}

export type SellDeps = ChannelDeps & {
  queue: ChannelQueue
  unclaimed: Unclaimed
  delivered(sale: DeliveredSale): Promise<void>
}

/** One sale by voucher, when it is the turn of its channel. Throws a Problem where nothing is sold. */
export async function sellByVoucher<T>(deps: SellDeps, sale: VoucherCall, handlers: SaleHandlers<T>): Promise<T> {
  const { payment, terms } = sale
  const { network, voucher } = payment
  const key = { network, id: voucher.channelId }
  const base = voucher.maxClaimable - terms.amountMicro
  const isFresh = () => {
    const known = deps.cache.peek(key)
    return known === undefined || known.record.chargedMicro === base
  }
  const outcome = await deps.queue.run(channelKey(key), isFresh, async (corrected) => {
    let known = await openChannel(deps, payment)
    // Another process may have sold since this one looked.
    if (known.record.chargedMicro !== base && known.record.sequence > 0n) {
      deps.cache.evict(key)
      known = await openChannel(deps, payment)
    }
    try {
      const value = await sellInTurn(deps, sale, known, handlers).catch(async (error: unknown) => {
        if (!(error instanceof ChannelChanged)) throw error
        // Perhaps it was sold for this request: then its answer is stored.
        return sellInTurn(deps, sale, await openChannel(deps, payment), handlers)
      })
      return { value }
    } catch (error) {
      if (error instanceof VoucherRefused && error.correction) corrected()
      throw error
    }
  })
  if (!outcome)
    throw new Problem('payment_in_flight', { detail: 'Too many requests of this channel wait.', retryAfterSeconds: 1 })
  return outcome.value
}

/** From the database or, where it is not known there, from the chain. */
async function openChannel(deps: SellDeps, payment: ChannelPayment): Promise<KnownChannel> {
  const { network, config, voucher } = payment
  const key = { network, id: voucher.channelId }
  const known = await deps.cache.get(key)
  if (known) return known
  const on = chainOf(deps, network)
  const state = await on.chain.channels.state(key.id, await headOf(on))
  if (state.balanceMicro === 0n && payment.type !== 'deposit')
    throw new VoucherRefused(channelReason('channel_not_found'), 'Nothing was paid into this channel.')
  const opened = { ...key, config, ...state }
  // A channel without a balance is written with its deposit.
  if (state.balanceMicro === 0n) return { record: unopened(opened), undelivered: new Map(), readAtMs: 0 }
  await insertChannel(deps.database, key, config, state, deps.clock.nowMs())
  return (await deps.cache.get(key)) as KnownChannel
}

type Opened = Pick<
  ChannelRecord,
  'network' | 'id' | 'config' | 'balanceMicro' | 'claimedMicro' | 'refundNonce' | 'withdrawStartedAt' | 'atBlock'
>

const unopened = (opened: Opened): ChannelRecord => ({
  ...opened,
  ...{ chargedMicro: opened.claimedMicro, sequence: 0n, signedMicro: 0n, signature: undefined, publicMicro: 0n },
  ...{ postedMicro: opened.claimedMicro, lostMicro: 0n, state: 'open', refundAtMs: undefined },
  claimFailingSinceMs: undefined,
})

async function sellInTurn<T>(
  deps: SellDeps,
  sale: VoucherCall,
  found: KnownChannel,
  handlers: SaleHandlers<T>,
): Promise<T> {
  const { payment, terms, fingerprint } = sale
  const { maxClaimable } = payment.voucher
  const base = maxClaimable - terms.amountMicro
  const isAhead = base > found.record.chargedMicro
  const known = (isAhead && (await adoptClaims(deps, found.record)) && (await deps.cache.get(found.record))) || found
  const { record } = known
  if (base !== record.chargedMicro) {
    const newest = await newestSale(deps, sale, record)
    if (newest) return handlers.replay(replaySale(deps, record, newest, payment.voucher))
    throw await correctionFor(deps, record)
  }
  const lost = known.undelivered.get(fingerprint.toString('hex'))
  const lostSale = lost === undefined ? undefined : await lostAnswer(deps, payment, lost)
  if (lostSale) return handlers.replay(lostSale)
  return handlers.sell(heldVoucher(await admitted(deps, await coverVoucher(deps, sale, record), terms.amountMicro)))
}

/** The voucher of the newest sale for the very request of that sale, while nobody else can know it. */
async function newestSale(
  { database }: SellDeps,
  { payment: { voucher }, fingerprint }: VoucherCall,
  record: ChannelRecord,
): Promise<StoredSale | undefined> {
  if (voucher.maxClaimable !== record.signedMicro || voucher.signature !== record.signature) return undefined
  if (voucher.maxClaimable <= record.publicMicro) return undefined
  const sale = await readSale(database, record, record.sequence)
  return sale && equalBytes(sale.fingerprint, fingerprint) ? requireAnswer(sale) : undefined
}

/** It was paid for and did not arrive: a voucher that nobody else can know proves the payer, and is not charged. */
async function lostAnswer(
  deps: SellDeps,
  { network, voucher }: ChannelPayment,
  sequence: bigint,
): Promise<ReplayedSale | undefined> {
  const record = await readChannel(deps.database, { network, id: voucher.channelId })
  if (!record || voucher.maxClaimable <= record.publicMicro) return undefined
  const sale = await readSale(deps.database, record, sequence)
  if (!sale || sale.body === null) return undefined
  deps.metrics.count('channels_lost_answer')
  return replaySale(deps, record, sale, voucher)
}

async function coverVoucher(deps: SellDeps, sale: VoucherCall, record: ChannelRecord): Promise<VoucherHold> {
  const { payment, terms, fingerprint, identifierHash } = sale
  const { network, voucher, config } = payment
  const hold = (found: ChannelRecord): VoucherHold => ({
    ...{ callId: deps.ids.next('call'), record: found, fingerprint, identifierHash, amountMicro: terms.amountMicro },
    ...{ signedMicro: voucher.maxClaimable, signature: voucher.signature, chargeMicro: terms.amountMicro },
    paymentResponse: '',
  })
  if (record.balanceMicro >= voucher.maxClaimable) return hold(record)
  // Somebody may have paid in past us.
  const on = chainOf(deps, network)
  const state = await on.chain.channels.state(record.id, await headOf(on, record.atBlock))
  const seen = { ...record, ...state }
  if (state.balanceMicro !== record.balanceMicro) {
    await saveState(deps.database, record, state)
    deps.cache.evict(record)
  }
  if (seen.balanceMicro >= voucher.maxClaimable) return hold(seen)
  if (payment.type !== 'deposit') throw await correctionFor(deps, seen)
  const { deposit } = payment
  if (seen.balanceMicro + deposit.amount < voucher.maxClaimable)
    throw new VoucherRefused(
      channelReason('cumulative_exceeds_balance'),
      `The deposit must be at least ${voucher.maxClaimable - seen.balanceMicro}.`,
    )
  const planned = { network, id: record.id, config, deposit, nonce: nonceOf(record.id, deposit), state }
  await checkDeposit(deps, planned, terms)
  return { ...hold(seen), deposit: planned }
}

const nonceOf = (id: Hex, { salt }: Deposit): Hex => depositNonce(id, salt, keccak256)

/** What can be known before the answer is made; the token itself checks the signature in the simulation. */
async function checkDeposit(
  deps: SellDeps,
  { network, config, deposit }: { network: string; config: ChannelRecord['config']; deposit: Deposit },
  terms: Terms,
): Promise<void> {
  const now = BigInt(nowSeconds(deps.clock))
  const latest = now + BigInt(terms.maxTimeoutSeconds + windowSlackSeconds)
  if (deposit.amount < deps.policy.depositMicroMin)
    throw new VoucherRefused(
      channelReason('deposit_below_min_deposit'),
      `A deposit must be at least ${deps.policy.depositMicroMin}.`,
    )
  if (deposit.validAfter > now)
    throw new VoucherRefused(channelReason('payload_authorization_valid_after'), 'The deposit is not valid yet.')
  if (deposit.validBefore < now + BigInt(settleMarginSeconds) || deposit.validBefore > latest)
    throw new VoucherRefused(
      channelReason('payload_authorization_valid_before'),
      `The deposit must be valid for ${settleMarginSeconds} to ${terms.maxTimeoutSeconds} s more.`,
    )
  const from = chainOf(deps, network).wallets.addresses[0] ?? config.receiverAuthorizer
  const simulated = await simulate(deps, network, from, depositCall(config, deposit))
  if (simulated.status === 'could_not_read')
    throw new Problem('settlement_unavailable', { detail: 'The chain could not be read.', retryAfterSeconds: 3 })
  if (simulated.status === 'fails')
    throw new VoucherRefused(
      channelReason('deposit_simulation_failed'),
      `The deposit would fail: ${simulated.message}`.slice(0, 300),
    )
}

/** The copy of the channel may be old: its row decides whether nothing is sold. */
async function admitted(deps: SellDeps, held: VoucherHold, amountMicro: Micro): Promise<VoucherHold> {
  const { record } = held
  if (!refusalOf(deps, record, amountMicro) && (await deps.unclaimed.admits(amountMicro))) return held
  deps.cache.evict(record)
  const read = (await deps.cache.get(record))?.record
  const again = read?.sequence === record.sequence ? read : record
  const problem = refusalOf(deps, again, amountMicro)
  if (problem) throw problem
  if (!(await deps.unclaimed.admits(amountMicro))) throw tooMuch()
  return { ...held, record: again }
}

const tooMuch = () =>
  new Problem('exposure_limit', { detail: 'The limit of unclaimed vouchers is reached.', retryAfterSeconds: 30 })

/** Vouchers are worth what can be claimed: none are taken while that is in doubt. */
function refusalOf({ clock, policy }: SellDeps, record: ChannelRecord, amountMicro: Micro): Problem | undefined {
  if (record.state === 'refunding') return refundPending()
  if (record.withdrawStartedAt > 0)
    return new VoucherRefused(
      channelReason('withdrawal_pending'),
      'The payer has begun to withdraw from this channel; no vouchers of it are taken.',
    )
  const since = record.claimFailingSinceMs
  if (since !== undefined && clock.nowMs() - since > (record.config.withdrawDelay * 1_000) / 3)
    return new Problem('not_available', {
      detail: 'Vouchers of this channel could not be claimed for a long time.',
      retryAfterSeconds: 60,
      extra: { why: 'claims_failing' },
    })
  const unclaimed = record.chargedMicro - record.claimedMicro + amountMicro
  return unclaimed > policy.unclaimedPerChannelMicro ? tooMuch() : undefined
}
