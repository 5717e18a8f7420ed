import { type Address, checksumAddress, parseAddress } from '@assay/protocol/address'
import { formatUsd } from '@assay/protocol/money'
import { type Clock, toRfc3339 } from '@assay/till/kernel/clock'
import type { Database } from '@assay/till/store/database'
import type { Notifications } from '../../../notifications/index.ts'
import type { Topic } from '../../topic.ts'

const hourMs = 3_600_000
/** A node that was away for longer than this publishes no more of what it missed. */
const hoursBack = 48

export const earningsTopic: Topic = {
  name: 'creator.earnings',
  title: 'What a creator earned in an hour',
  subjects: 'the wallet of a creator',
  example: '0x1111111111111111111111111111111111111111',
  // The same figures are open to everybody at /v1/creators/{wallet}/earnings.
  isPublic: true,
  subjectOf: parseAddress,
}

/** One event for each wallet that is watched and each hour, over by now, in which it earned something. */
export async function publishEarnings(deps: {
  database: Database
  clock: Clock
  events: Notifications
}): Promise<number> {
  const { database, clock, events } = deps
  const wallets = await events.watched(earningsTopic.name)
  if (wallets.length === 0) return 0
  const until = Math.floor(clock.nowMs() / hourMs) * hourMs
  const { rows } = await database.query<{ wallet: Address; hour: Date; citations: bigint; micro: bigint }>(
    `select wallet, date_trunc('hour', created_at, 'UTC') as hour, count(*) filter (where micro > 0) as citations, sum(micro)::bigint as micro
     from creator_accrual where wallet = any($1) and created_at >= $2 and created_at < $3
       and state in ('accrued', 'committing', 'committed')
     group by 1, 2 order by 2, 1`,
    [wallets, new Date(until - hoursBack * hourMs), new Date(until)],
  )
  const found = rows.map(({ wallet, hour, citations, micro }) => ({
    subject: wallet,
    key: toRfc3339(hour.getTime()),
    payload: {
      text: `${checksumAddress(wallet)} earned ${formatUsd(micro)} USD from ${citations} shares`,
      from: toRfc3339(hour.getTime()),
      until: toRfc3339(hour.getTime() + hourMs),
      shares: Number(citations),
      earned_micro: micro.toString(),
      earned_usd: formatUsd(micro),
    },
  }))
  // An hour that was published before keeps its first event.
  await database.transaction((tx) => events.publish(tx, earningsTopic.name, found))
  return found.length
}
