import { toHex } from '../../packages/protocol/src/bytes.ts'
import { askPrice, pay, type Scene, sign } from './buyers.ts'
import type { Order, Sent } from './history.ts'
import { countedRoutes } from './shops.ts'
import type { Step } from './steps.ts'
import { buyerCount } from './world.ts'

/** An order that nobody made before. Every other one has a secret name, one in three comes through an affiliate. */
export function newOrder(
  { history, rng }: Scene,
  step: Step,
  path: string,
  priceMicro: bigint,
  init: RequestInit = {},
): Order {
  const id = `o-${history.orders.length}`
  const named = step.c % 2 === 0 ? `sim-${toHex(rng.bytes(16)).slice(2)}` : undefined
  const order: Order = {
    id,
    buyer: step.a % buyerCount,
    path: path.replace('{id}', id),
    init,
    priceMicro,
    honest: true,
    altered: false,
    identifier: named,
    body: undefined,
    answeredBy: undefined,
    boughtAgain: new Set(),
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

export async function buy(scene: Scene, step: Step, patienceMs?: number): Promise<boolean | undefined> {
  const route = countedRoutes[step.b % countedRoutes.length]
  if (!route) return undefined
  const path = `${route.path}?order={id}${affiliateOf(scene, step)}`
  return (await buyOnce(scene, newOrder(scene, step, path, route.micro), patienceMs)) === 200
}

export const buyAndHangUp = (scene: Scene, step: Step) => buy(scene, step, step.c % 4_000)

/** As a stock client does after an error: the same request with a new authorization. */
export async function retryFresh(scene: Scene, step: Step): Promise<boolean | undefined> {
  const waiting = openOrders(scene)
  const order = waiting[step.a % Math.max(1, Math.min(5, waiting.length))]
  return order && (await buyOnce(scene, order)) === 200
}

/** The very same payment again, whatever became of it. */
export async function resend(scene: Scene, step: Step): Promise<boolean | undefined> {
  const sent = recent(scene, step)
  return sent && (await pay(scene, sent.order, sent.payload)) === 200
}

export const recent = ({ history }: Scene, step: Step): Sent | undefined =>
  history.sent.at(-1 - (step.a % Math.max(1, Math.min(12, history.sent.length))))

export async function subscribe(scene: Scene, step: Step): Promise<boolean> {
  const path = `/matrix/subscribe/standard?${affiliateOf(scene, step).slice(1)}`
  return (await buyOnce(scene, newOrder(scene, step, path, 250_000_000n))) === 200
}
