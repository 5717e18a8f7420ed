import { scanTransfers } from '../harness/chain-transfers.ts'
import type { Books } from '../harness/check-transfers.ts'
import { Violation } from '../harness/violation.ts'
import type { Scene } from './buyers.ts'
import { describeOrder, recordSeen } from './describe-order.ts'
import type { Order } from './history.ts'
import { has } from './shops.ts'

export type PaymentRow = {
  id: string
  state: string
  reason: string | null
  network: string
  payer: string
  pay_to: string
  amount_micro: bigint
  resource: string
  transaction: string | null
  reorgs: number
  nonce: string
  delivered: boolean
  client_gone: boolean
}

export async function readPayments(scene: Scene): Promise<PaymentRow[]> {
  const { rows } = await scene.world.db.owner.query<PaymentRow>(
    `select id, state, reason, network, payer, pay_to, amount_micro, resource, '0x' || encode(transaction, 'hex') as transaction, reorgs,
       encode(payment_key, 'hex') as nonce, delivered_at is not null as delivered, client_gone
     from payment order by claimed_at, id`,
  )
  recordSeen(scene, rows)
  return rows
}

/** Tables and chains of a scene, for the rules that hold for every adversary. */
export const booksOf = ({ world, history }: Scene): Books => ({
  sql: world.db.owner,
  chains: world.shown,
  record: history.chain,
})

/** Some things are sold at one address to everybody: there an order cannot be distinguished from another of the same wallet. */
export const hasOwnAddress = ({ path }: Order): boolean => !/^\/(matrix|v1\/options|v1\/cite|v1\/market)\//.test(path)

/** The address of an order as payments carry it: attribution is no part of it. */
export const resourceOf = ({ world }: Scene, order: Order): string =>
  `${world.origin}${order.path.replace(/[?&]aff=[^&]*/, '')}`

/** Nothing is served unpaid, and nobody is charged twice for one thing: answers against payments against transfers. */
export async function checkAnswers(scene: Scene): Promise<void> {
  await scanTransfers(scene.world.shown, scene.history.chain)
  const payments = await readPayments(scene)
  checkEvidence(scene, payments)
  await checkClaims(scene, payments)
  await checkEffects(scene)
  await checkStamps(scene)
  const byResource = groupBy(payments, (payment) => payment.resource)
  for (const order of scene.history.orders) {
    if (!hasOwnAddress(order)) continue
    const own = byResource.get(resourceOf(scene, order)) ?? []
    const sold = own.filter(({ state }) => state === 'served' || state === 'settled')
    if (order.honest && sold.length > 1 + order.boughtAgain.size)
      throw new Violation('promise 4', `${order.id} was sold twice: ${describeOrder(scene, order, own)}`)
    if (order.body === undefined) continue
    const paid = own.some(({ state, reorgs }) => ['served', 'refunded'].includes(state) || reorgs > 0)
    if (!paid)
      throw new Violation('promise 4', `${order.id} was answered and nobody paid: ${describeOrder(scene, order, own)}`)
  }
}

/** Promise 1: an order takes effect once, unless its money went back or it was bought again. */
async function checkEffects({ world, history }: Scene): Promise<void> {
  const { rows } = await world.db.owner.query<{ order_id: string; n: bigint }>(
    `select e.order_id, count(*) as n from simulated_effect e left join payment p on p.id = e.payment_id
     where not e.revoked and coalesce(p.state, '') <> 'refunded' group by e.order_id having count(*) > 1`,
  )
  for (const { order_id, n } of rows) {
    const again = history.orders.find(({ id }) => id === order_id)?.boughtAgain.size ?? 0
    if (Number(n) > 1 + again) throw new Violation('promise 1', `an order has ${n} effects (${order_id})`)
  }
}

/** The page tells whose citation it is: an order is stamped once, and what was answered is stamped. */
async function checkStamps({ world, history }: Scene): Promise<void> {
  if (!has(world.seed, 'citations')) return
  const { rows } = await world.db.owner.query<{ id: string; source_url: string; counts: boolean }>(
    `select a.id, a.source_url, coalesce(p.state in ('served', 'settled'), true) as counts
     from attestation a left join payment p on p.id = a.payment_id`,
  )
  const byPage = groupBy(rows, ({ source_url }) => source_url.slice(source_url.lastIndexOf('/') + 1))
  for (const order of history.orders) {
    if (!order.path.startsWith('/v1/cite/')) continue
    const stamps = byPage.get(order.id) ?? []
    if (stamps.filter(({ counts }) => counts).length > 1 + order.boughtAgain.size)
      throw new Violation('promise 4', `${order.id} was stamped twice: ${stamps.map(({ id }) => id).join(', ')}`)
    if (order.body !== undefined && stamps.length === 0)
      throw new Violation('promise 4', `${order.id} was answered and not stamped`)
  }
}

/** Promise 1: whatever our wallets took to a chain was claimed before. */
async function checkClaims({ world, history }: Scene, payments: readonly PaymentRow[]): Promise<void> {
  const { rows: deposits } = await world.db.owner.query<{ payer: string; nonce: string }>(
    `select payer, encode(nonce, 'hex') as nonce from channel_deposit`,
  )
  const claimed = new Set([...payments, ...deposits].map(({ payer, nonce }) => `${payer} ${nonce}`))
  const outsiders = new Set(world.buyers.map(({ address }) => address.toLowerCase()))
  for (const { authorizer, nonce, sender, transaction } of history.chain.carried.values())
    if (!outsiders.has(sender) && authorizer !== world.custody && !claimed.has(`${authorizer} ${nonce}`))
      throw new Violation('promise 1', `${transaction} settled what nobody had claimed`)
}

/** I6: what was served or credited was seen on chain, in that amount, to that address. */
function checkEvidence({ history }: Scene, payments: readonly PaymentRow[]): void {
  const seen = groupBy([...history.chain.transfers.values()], ({ transaction }) => transaction)
  for (const payment of payments) {
    if (!['settled', 'served', 'credited', 'refunded'].includes(payment.state)) continue
    const evidence = (seen.get(payment.transaction ?? '') ?? []).some(
      ({ chainId, from, to, micro }) =>
        `eip155:${chainId}` === payment.network &&
        from === payment.payer &&
        to === payment.pay_to &&
        micro === payment.amount_micro,
    )
    if (!evidence) throw new Violation('I6', `${payment.id} is ${payment.state} without a transfer that ever was`)
  }
}

function groupBy<T>(list: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of list) {
    const group = groups.get(keyOf(item))
    if (group) group.push(item)
    else groups.set(keyOf(item), [item])
  }
  return groups
}
