import type { Scene } from './buyers.ts'
import type { PaymentRow } from './check-answers.ts'
import type { Order } from './history.ts'

/** The step of the run, and how many seconds it has lasted. */
export const placeOf = ({ world, history }: Scene): string =>
  `[${history.step} +${((world.time.nowMs() - world.time.startMs) / 1_000).toFixed(1)} s]`

/** Writes down what has changed about each payment since it was last checked. */
export function recordSeen(scene: Scene, payments: readonly PaymentRow[]): void {
  const { seen } = scene.history
  for (const { id, state, reason, reorgs, delivered, client_gone } of payments) {
    const now = [
      state,
      ...(reason === null ? [] : [`(${reason})`]),
      ...(delivered ? ['delivered'] : []),
      ...(client_gone ? ['client gone'] : []),
      ...(reorgs > 0 ? [`reorgs ${reorgs}`] : []),
    ].join(' ')
    const before = seen.get(id) ?? []
    if (before.at(-1)?.endsWith(`] ${now}`)) continue
    seen.set(id, [...before, `${placeOf(scene)} ${now}`])
  }
}

/** All that is known of an order: what was sent when, what was answered, and what became of each payment. */
export function describeOrder({ history }: Scene, order: Order, payments: readonly PaymentRow[]): string {
  const short = (nonce: string) => nonce.replace(/^0x/, '').slice(0, 8)
  const sent = history.sent
    .filter((one) => one.order === order)
    .map(({ nonce, status, from, to }) => `sent ${short(nonce)} ${from}, ${status} ${to}`)
  const became = payments.map(
    ({ id, nonce, network }) => `${id} ${short(nonce)} ${network}: ${(history.seen.get(id) ?? []).join(', ')}`,
  )
  const again = [...order.boughtAgain].map(short).join(' ')
  const named = order.identifier === undefined ? 'unnamed' : 'named'
  return [
    `${named}, answered by ${short(order.answeredBy ?? '-')}, bought again by ${again || '-'}`,
    ...sent,
    ...became,
  ].join('\n    ')
}
