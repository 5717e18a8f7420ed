import { count, sentence, usdOfMicro } from '../../ui/format.ts'
import type { Overview } from './types.ts'

export type Want = { tone: 'bad' | 'warn'; text: string; toDo?: string }

const many = (number: number, what: string) => `${count(number)} ${what}${number === 1 ? '' : 's'}`

/** What a person should look at, most serious first. */
export function attentionOf(overview: Overview): Want[] {
  const { books, alarms, payments, payouts, review_open, pauses, notifications, disputes } = overview
  const wants: Want[] = []
  const say = (tone: Want['tone'], text: string, toDo?: string | null) =>
    wants.push({ tone, text, ...(toDo ? { toDo } : {}) })
  if (!books.balanced) say('bad', 'The books do not balance. Stop sales and payouts, then run assay ledger verify.')
  if (books.differences > 0) say('bad', `${books.differences} kept balances differ from their entries.`)
  for (const { alarm, count, to_do } of alarms)
    say(
      'bad',
      `${sentence(alarm)}, raised ${count === 1 ? 'once' : `${count} times`} since this process started.`,
      to_do,
    )
  const unknown = payments.find(({ state }) => state === 'unknown')
  if (unknown !== undefined)
    say(
      'warn',
      `Of ${many(unknown.payments, 'payment')} over ${usdOfMicro(unknown.amount_micro)} the outcome is unknown.`,
    )
  if (review_open > 0)
    say(
      'warn',
      `${review_open >= 100 ? '100 or more transfers' : many(review_open, 'transfer')} came in that no payment explains.`,
      'assay review list',
    )
  const held = payouts.filter(({ state }) => state === 'parked' || state === 'waiting')
  if (held.length > 0)
    say('warn', `Held back: ${many(held.length, 'payout')}.`, 'assay payouts list, assay payouts approve')
  if (disputes.length > 0) say('warn', `Not decided: ${many(disputes.length, 'dispute')}.`)
  const givenUp = (notifications?.deliveries ?? []).reduce((sum, { given_up_day: day }) => sum + day, 0)
  if (givenUp > 0) say('warn', `Given up within a day: ${many(givenUp, 'notification')}.`, 'assay notifications status')
  for (const { name, paused, reason } of pauses) if (paused) say('warn', `Paused: ${name} (${reason}).`)
  return wants
}
