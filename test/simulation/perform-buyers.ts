import { toHex } from '../../packages/node/src/kernel/bytes.ts'
import { formatUsd } from '../../packages/node/src/kernel/money.ts'
import { askPrice, draw, pay, type Scene, sign } from './buyers.ts'
import type { Order, Sent } from './history.ts'
import { countedRoutes } from './shops.ts'
import type { Step } from './steps.ts'
import { buyerCount } from './world.ts'

/** An order that nobody made before. One in three has a secret name, one in three comes through an affiliate. */
export function newOrder(
  { history, rng }: Scene,
  step: Step,
  path: string,
  priceMicro: bigint,
  init: RequestInit = {},
): Order {
  const id = `o-${history.orders.length}`
  const named = step.c % 3 === 0 ? `sim-${toHex(rng.bytes(16)).slice(2)}` : undefined
  const order: Order = {
    id,
    buyer: step.a % buyerCount,
    path: path.replace('{id}', id),
    init,
    priceMicro,
    honest: true,
    bent: false,
    identifier: named,
    body: undefined,
  }
  history.orders.push(order)
  return order
}

const affiliateOf = (scene: Scene, step: Step) =>
  step.c % 3 === 1 ? `&aff=${scene.world.buyers[(step.a + 1) % buyerCount]?.address}` : ''

export async function buyOnce(scene: Scene, order: Order, patienceMs?: number): Promise<Sent['status'] | undefined> {
  const offer = await askPrice(scene, order)
  if (!offer) return undefined
  return pay(scene, order, await sign(scene, order, offer), patienceMs)
}

/** Orders somebody still waits for, the newest first. */
const openOrders = ({ history }: Scene) =>
  history.orders.filter((order) => order.honest && order.body === undefined).reverse()

export async function buy(scene: Scene, step: Step, patienceMs?: number): Promise<void> {
  const route = countedRoutes[step.b % countedRoutes.length]
  if (!route) return
  const path = `${route.path}?order={id}${affiliateOf(scene, step)}`
  await buyOnce(scene, newOrder(scene, step, path, route.micro), patienceMs)
}

export const impatientBuy = (scene: Scene, step: Step) => buy(scene, step, step.c % 4_000)

/** As a stock client does after an error: the same request with a new authorization. */
export async function retryFresh(scene: Scene, step: Step): Promise<void> {
  const waiting = openOrders(scene)
  const order = waiting[step.a % Math.max(1, Math.min(5, waiting.length))]
  if (order) await buyOnce(scene, order)
}

/** The very same payment again, whatever became of it. */
export async function resend(scene: Scene, step: Step): Promise<void> {
  const sent = recent(scene, step)
  if (sent) await pay(scene, sent.order, sent.payload)
}

export const recent = ({ history }: Scene, step: Step): Sent | undefined =>
  history.sent.at(-1 - (step.a % Math.max(1, Math.min(12, history.sent.length))))

export async function topUp(scene: Scene, step: Step): Promise<void> {
  const micro = BigInt(1 + (step.b % 3)) * 1_000_000n
  // The amount and the wallet are all that a top-up says; the cents make each of them an order of its own.
  const exact = micro + BigInt(scene.history.orders.length)
  const order = newOrder(scene, step, `/v1/credit/topup?usd=${formatUsd(exact)}`, exact)
  await buyOnce(scene, order)
}

/** Mostly by somebody who has paid something in. */
export async function drawCredit(scene: Scene, step: Step): Promise<void> {
  const paidIn = scene.history.orders.filter(({ path, body }) => path.startsWith('/v1/credit/') && body !== undefined)
  const buyer = paidIn[step.a % Math.max(1, paidIn.length)]?.buyer ?? step.a % buyerCount
  await draw(scene, buyer, `k-${step.b % 40}`, `/v1/sandbox/echo?message=d${step.b % 40}`)
}

export async function subscribe(scene: Scene, step: Step): Promise<void> {
  await buyOnce(
    scene,
    newOrder(scene, step, `/matrix/subscribe/standard?${affiliateOf(scene, step).slice(1)}`, 250_000_000n),
  )
}
