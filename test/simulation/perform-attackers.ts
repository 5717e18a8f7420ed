import type { Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { Address } from '../../packages/protocol/src/address.ts'
import type { Payload } from '../harness/till-fixture.ts'
import { Violation } from '../harness/violation.ts'
import { cancelAuthorization, submitAuthorization, transferPlainly } from '../harness/wallets.ts'
import { askPrice, authorizationSpent, chainOf, pay, type Scene, sign } from './buyers.ts'
import type { Order } from './history.ts'
import { recent } from './perform-buyers.ts'
import { countedRoutes } from './shops.ts'
import type { Step } from './steps.ts'
import { buyerCount } from './world.ts'

export const strangerAddress: Address = '0x00000000000000000000000000000000000000b0'

export const buyerOf = ({ world }: Scene, which: number) => world.buyers[which % buyerCount] as PrivateKeyAccount

/** What the chain refuses has not happened. */
export const unlessRefused = (sent: Promise<unknown>): Promise<void> =>
  sent.then(
    () => {},
    () => {},
  )

/** A buyer carries an authorization, its own or another's. */
export const carry = (scene: Scene, by: number, payload: Payload): Promise<void> =>
  unlessRefused(
    submitAuthorization(chainOf(scene.world, String(payload.accepted['network'])), payload, buyerOf(scene, by)),
  )

export function attackOrder({ history }: Scene, step: Step, path: string, priceMicro: bigint, altered = false): Order {
  const id = `x-${history.orders.length}`
  const order: Order = {
    id,
    buyer: step.a % buyerCount,
    path: path.replace('{id}', id),
    init: {},
    priceMicro,
    honest: false,
    altered,
    identifier: undefined,
    body: undefined,
    answeredBy: undefined,
    boughtAgain: new Set(),
  }
  history.orders.push(order)
  return order
}

/** A payment made for one thing, shown for another of the same price. */
export async function replayForOther(scene: Scene, step: Step): Promise<boolean | undefined> {
  const sent = recent(scene, step)
  const route = countedRoutes[step.b % countedRoutes.length]
  if (!sent || !route) return undefined
  await pay(scene, attackOrder(scene, step, `${route.path}?order={id}`, route.micro), sent.payload)
  return true
}

/** Too little, too much, to somebody else, out of time, or with a signature of nothing: never an answer. */
export async function alterPayment(scene: Scene, step: Step): Promise<boolean | undefined> {
  const route = countedRoutes[step.b % countedRoutes.length]
  if (!route) return undefined
  const order = attackOrder(scene, step, `${route.path}?order={id}`, route.micro, true)
  const offer = await askPrice(scene, order)
  if (!offer) return undefined
  const second = BigInt(Math.floor(scene.world.time.nowMs() / 1000))
  const alters = [
    { value: route.micro - 1n },
    { value: route.micro + 1n },
    { to: strangerAddress },
    { validBefore: second - 1n },
    { validAfter: second + 40n },
    { chainId: 1 },
    {
      signature: (signature: Hex): Hex =>
        `${signature.slice(0, -4)}${signature.endsWith('1c') ? '1b1b' : '1c1c'}` as Hex,
    },
  ]
  const payload = await sign(scene, order, offer, alters[step.c % alters.length])
  const status = await pay(scene, order, payload)
  if (status === 200) throw new Violation('promise 2', `a altered payment bought ${order.id}`)
  if (await authorizationSpent(scene, payload))
    throw new Violation('promise 2', `a altered payment of ${order.id} was taken`)
  return true
}

/** Somebody else submits an authorization to the chain, before the node sees it or while it works on it. */
export async function submitFirst(scene: Scene, step: Step): Promise<boolean | undefined> {
  if (step.c % 2 === 0) {
    const sent = recent(scene, step)
    // Money that goes elsewhere is none of the node's business.
    if (!sent || sent.payload.payload.authorization['to']?.toLowerCase() === strangerAddress) return undefined
    await carry(scene, step.b, sent.payload)
    return true
  }
  const route = countedRoutes[step.b % countedRoutes.length]
  if (!route) return undefined
  const order = attackOrder(scene, step, `${route.path}?order={id}`, route.micro)
  const offer = await askPrice(scene, order)
  if (!offer) return undefined
  const payload = await sign(scene, order, offer)
  await carry(scene, step.b, payload)
  await pay(scene, order, payload)
  return true
}

/** The payer takes an authorization back on chain, after having shown it. */
export async function cancel(scene: Scene, step: Step): Promise<boolean | undefined> {
  const sent = recent(scene, step)
  const account = sent && scene.world.buyers[sent.order.buyer]
  if (!sent || !account) return undefined
  const chain = chainOf(scene.world, String(sent.payload.accepted['network']))
  await unlessRefused(cancelAuthorization(chain, account, sent.nonce as Hex, account))
  return true
}

/** Money that comes without a word. */
export async function plainTransfer(scene: Scene, step: Step): Promise<boolean | undefined> {
  const chain = scene.world.chains[step.b % 2]
  if (!chain) return undefined
  const to = step.c % 2 === 0 ? scene.world.payTo : scene.world.custody
  await unlessRefused(transferPlainly(chain, buyerOf(scene, step.a), to, BigInt(1 + step.c)))
  return true
}
