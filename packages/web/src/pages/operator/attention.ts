import { usdOfMicro, words } from '../../ui/format.ts'
import type { Overview } from './types.ts'

export type Want = { tone: 'bad' | 'warn'; text: string; toDo?: string }

/** What a person should look at, most serious first. */
export function attentionOf(overview: Overview): Want[] {
  const { books, alarms, payments, payouts, review_open, pauses, notifications, disputes } = overview
  const wants: Want[] = []
  const say = (tone: Want['tone'], text: string, toDo?: string | null) =>
    wants.push({ tone, text, ...(toDo ? { toDo } : {}) })
  if (!books.balanced) say('bad', 'The books do not balance. Stop sales and payouts, then run assay ledger verify.')
  if (books.differences > 0) say('bad', `${books.differences} kept balances differ from their entries.`)
  for (const { alarm, rung, to_do } of alarms)
    say('bad', `${words(alarm)}, rung ${rung} ${rung === 1 ? 'time' : 'times'} since this process started.`, to_do)
  const unknown = payments.find(({ state }) => state === 'unknown')
  if (unknown !== undefined)
    say('warn', `${unknown.payments} payments over ${usdOfMicro(unknown.amount_micro)} have an unknown outcome.`)
  if (review_open > 0) say('warn', `${review_open} transfers came in that no payment explains: assay ledger review.`)
  const held = payouts.filter(({ state }) => state === 'parked' || state === 'waiting')
  if (held.length > 0) say('warn', `${held.length} payouts wait: assay payouts list.`)
  if (disputes.length > 0) say('warn', `${disputes.length} disputes wait for a decision.`)
  const givenUp = (notifications?.deliveries ?? []).reduce((sum, { given_up_day: day }) => sum + day, 0)
  if (givenUp > 0) say('warn', `${givenUp} notifications were given up within a day: assay notifications status.`)
  for (const { name, paused, reason } of pauses) if (paused) say('warn', `${name} is paused: ${reason}`)
  return wants
}
