import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { fromHex } from '../../kernel/bytes.ts'
import { claimable, claimCall, settleCall, together } from './channel-calls.ts'
import { type ChannelDeps, chainOf, headOf } from './channel-deps.ts'
import { type ChannelRecord, channelColumns, toChannelRecord } from './channel-record.ts'
import { recordPublic, saveState } from './channel-store.ts'
import { firstPassing, sendCall } from './send-call.ts'

const perBatch = 100
const batchesMax = 10
/** Less is claimed only when its channel closes or the claim is due, not beside the claims of others. */
const claimMicroMin = 10_000n
const gasOf = (count: number) => 150_000n + 70_000n * BigInt(count)

/** Claims what is due on a chain; one transaction carries many channels, and sends what was claimed to us. */
export async function claimVouchers(deps: ChannelDeps, network: string): Promise<void> {
  for (const batch of await dueBatches(deps, network)) await claimBatch(deps, network, batch)
}

async function dueBatches({ database, clock, policy }: ChannelDeps, network: string): Promise<ChannelRecord[][]> {
  const nowMs = clock.nowMs()
  const dueSql = `(withdraw_started_at > 0 or charged_micro - claimed_micro >= $2
    or unclaimed_since < $3::timestamptz - least($4::bigint, withdraw_delay / 3) * interval '1 second')`
  const { rows } = await database.query<Record<string, unknown> & { due: boolean }>(
    `select ${channelColumns}, ${dueSql} as due from channel
     where network = $1 and charged_micro > claimed_micro and balance_micro > claimed_micro and state = 'open'
       -- What arrives before the books are first compared counts as the operator's own.
       and exists (select from reconcile_cursor r where r.network = channel.network and r.address = channel.receiver)
       and (${dueSql} or charged_micro - claimed_micro >= ${claimMicroMin})
     order by withdraw_started_at > 0 desc, ${dueSql} desc, charged_micro - claimed_micro desc limit ${perBatch * batchesMax}`,
    [network, policy.claimMicro, new Date(nowMs), policy.claimAfterSeconds],
  )
  const byAuthorizer = new Map<Address, { channels: ChannelRecord[]; due: boolean }>()
  for (const row of rows) {
    const record = toChannelRecord(row)
    const group = byAuthorizer.get(record.config.receiverAuthorizer) ?? { channels: [], due: false }
    group.channels.push(record)
    group.due ||= row.due
    byAuthorizer.set(record.config.receiverAuthorizer, group)
  }
  return [...byAuthorizer.values()]
    .filter(({ due }) => due)
    .flatMap(({ channels }) =>
      Array.from({ length: Math.ceil(channels.length / perBatch) }, (_, n) =>
        channels.slice(n * perBatch, (n + 1) * perBatch),
      ),
    )
}

/** One channel that cannot be claimed must not keep the others waiting: what fails is split. */
async function claimBatch(deps: ChannelDeps, network: string, channels: ChannelRecord[]): Promise<void> {
  const [first] = channels
  if (!first) return
  const from = first.config.receiverAuthorizer
  if (!chainOf(deps, network).wallets.addresses.includes(from))
    return claimFailed(deps, channels, 'the key of these channels is not configured')
  const found = await firstPassing(deps, network, from, waysToClaim(channels))
  if (found.status === 'could_not_read') return claimFailed(deps, channels, 'the chain could not be read', false)
  if (found.status === 'fails' && channels.length > 1) {
    const middle = channels.length >> 1
    await claimBatch(deps, network, channels.slice(0, middle))
    return claimBatch(deps, network, channels.slice(middle))
  }
  if (found.status === 'fails') return claimAlone(deps, first)
  await recordPublic(deps.database, channels)
  for (const channel of channels) deps.cache.evict(channel)
  const sent = await sendCall(deps, {
    ...{ network, from, data: found.data, gasLimit: gasOf(channels.length), purpose: 'channels.claim' },
    reference: `claim ${first.id} ${first.sequence}`,
  })
  if (sent.status !== 'done') return claimFailed(deps, channels, sent.status)
  await recordClaimed(deps, channels)
  deps.metrics.count('channels_claims')
}

/** With the transfer to us where that works too. */
function waysToClaim(channels: readonly ChannelRecord[]): Hex[] {
  const claim = claimCall(channels)
  const receivers = new Map(channels.map(({ config }) => [`${config.receiver} ${config.token}`, config]))
  return [
    together([claim, ...[...receivers.values()].map(({ receiver, token }) => settleCall(receiver, token))]),
    claim,
  ]
}

/** What was read of it may be old, as when its payer has withdrawn meanwhile. */
async function claimAlone(deps: ChannelDeps, channel: ChannelRecord): Promise<void> {
  const on = chainOf(deps, channel.network)
  const state = await on.chain.channels.state(channel.id, await headOf(on, channel.atBlock))
  await saveState(deps.database, channel, state)
  deps.cache.evict(channel)
  const again = { ...channel, ...state }
  const changed = claimable(again) !== claimable(channel) || state.claimedMicro !== channel.claimedMicro
  if (changed && claimable(again) > again.claimedMicro) return claimBatch(deps, channel.network, [again])
  if (claimable(again) > again.claimedMicro) await claimFailed(deps, [channel], 'the claim would fail')
}

async function claimFailed(
  { database, clock, log, metrics, cache }: ChannelDeps,
  channels: readonly ChannelRecord[],
  reason: string,
  alarm = true,
): Promise<void> {
  const [first] = channels
  await database.query(
    `update channel c set claim_failing_since = coalesce(c.claim_failing_since, $3)
     from unnest($1::text[], $2::bytea[]) i (network, id) where c.network = i.network and c.id = i.id`,
    [channels.map(({ network }) => network), channels.map(({ id }) => fromHex(id)), new Date(clock.nowMs())],
  )
  for (const channel of channels) cache.evict(channel)
  if (alarm) metrics.count('alarms', { alarm: 'channel_claim_failed' })
  log.error({ network: first?.network, channels: channels.length, reason }, 'vouchers could not be claimed')
}

async function recordClaimed({ database, clock, cache }: ChannelDeps, channels: readonly ChannelRecord[]) {
  await database.query(
    `update channel c set claimed_micro = greatest(c.claimed_micro, i.claimed), claim_failing_since = null,
       unclaimed_since = case when c.charged_micro > greatest(c.claimed_micro, i.claimed) then $4::timestamptz end
     from unnest($1::text[], $2::bytea[], $3::bigint[]) i (network, id, claimed) where c.network = i.network and c.id = i.id`,
    [
      channels.map(({ network }) => network),
      channels.map(({ id }) => fromHex(id)),
      channels.map(claimable),
      new Date(clock.nowMs()),
    ],
  )
  for (const channel of channels) cache.evict(channel)
}
