import { toHex } from '../../packages/protocol/src/bytes.ts'
import {
  authorizationOf,
  cancelAuthorization,
  signAgain,
  signAuthorization,
  submitAuthorization,
  transferPlainly,
} from '../harness/wallets.ts'
import { askPrice, chainOf, pay, type Scene, sign } from './buyers.ts'
import { attackOrder, buyerOf, carry, strangerAddress, unlessRefused } from './perform-attackers.ts'
import { buy } from './perform-buyers.ts'
import { performWorld } from './perform-world.ts'
import { countedRoutes } from './shops.ts'
import type { Step } from './steps.ts'
import { buyerCount } from './world.ts'

/** A payment for something, signed and not shown to anybody yet. */
async function newPayment(scene: Scene, step: Step, altered = false) {
  const route = countedRoutes[step.b % countedRoutes.length]
  if (!route) return undefined
  const order = attackOrder(scene, step, `${route.path}?order={id}`, route.micro, altered)
  const offer = await askPrice(scene, order)
  if (!offer) return undefined
  const payload = await sign(scene, order, offer)
  return { order, payload, chain: chainOf(scene.world, String(payload.accepted['network'])) }
}

/** One nonce, signed twice: for less, for more, to another address of ours, to a stranger, for longer. */
export async function doubleSign(scene: Scene, step: Step): Promise<boolean | undefined> {
  const { world } = scene
  const toStranger = step.c % 5 === 3
  // Money that reaches nobody here may be answered with 402.
  const payment = await newPayment(scene, step, toStranger)
  if (!payment) return undefined
  const { order, payload, chain } = payment
  const { to, value, validBefore } = authorizationOf(payload).authorization
  const changes = [
    { value: 1n },
    { value: value + 1n },
    { to: to.toLowerCase() === world.payTo ? world.custody : world.payTo },
    { to: strangerAddress },
    { validBefore: validBefore + 3_600n },
  ]
  const other = await signAgain(chain, buyerOf(scene, order.buyer), payload, changes[step.c % changes.length] ?? {})
  const submitOther = () => unlessRefused(submitAuthorization(chain, other, buyerOf(scene, step.b)))
  // Before the claim, instead of its settlement, or as soon as it was refused.
  if (step.a % 3 === 0) await submitOther()
  if (step.a % 3 === 1) world.plan.facilitator.push('refuses')
  await pay(scene, order, payload)
  await submitOther()
  await pay(scene, order, payload)
  return true
}

/** Amounts that cost more to look at than they are worth. */
export async function sendDust(scene: Scene, step: Step): Promise<boolean | undefined> {
  const { world } = scene
  const chain = world.chains[step.b % 2]
  if (!chain) return undefined
  for (let sent = 0; sent < 3 + (step.c % 4); sent += 1)
    await unlessRefused(
      transferPlainly(
        chain,
        buyerOf(scene, step.a),
        (step.b + sent) % 2 === 0 ? world.payTo : world.custody,
        BigInt(1 + ((step.c + sent * 97) % 900)),
      ),
    )
  return true
}

/** Cancelled in a block that is replaced; then anyone can carry it after all. */
export async function cancelReorged(scene: Scene, step: Step): Promise<boolean | undefined> {
  const payment = await newPayment(scene, step)
  if (!payment) return undefined
  const { order, payload, chain } = payment
  const buyer = buyerOf(scene, order.buyer)
  scene.world.plan.facilitator.push('fails_before')
  await pay(scene, order, payload)
  await unlessRefused(cancelAuthorization(chain, buyer, authorizationOf(payload).authorization.nonce, buyer))
  // The newest block alone, on the chain where it was paid, without its transactions.
  await performWorld.reorg(scene, { ...step, a: chain === scene.world.chains[0] ? 1 : 0, b: 0, c: 2 })
  if (step.c % 3 !== 0) await carry(scene, step.c, payload)
  await pay(scene, order, payload)
  return true
}

/** An authorization that no request ever showed: what it moves is the credit of the party that signed it. */
export async function payForAnother(scene: Scene, step: Step): Promise<boolean | undefined> {
  const { world, rng } = scene
  const chain = world.chains[step.b % 2]
  if (!chain) return undefined
  const signer = buyerOf(scene, step.a)
  const signed = await signAuthorization(chain, signer, {
    from: signer.address.toLowerCase() as `0x${string}`,
    to: step.c % 2 === 0 ? world.payTo : world.custody,
    value: BigInt(1 + (step.c % 5_000)),
    validAfter: 0n,
    validBefore: BigInt(Math.floor(world.time.nowMs() / 1_000) + 600),
    nonce: toHex(rng.bytes(32)),
  })
  await unlessRefused(submitAuthorization(chain, signed, buyerOf(scene, step.a + 1 + (step.b % (buyerCount - 1)))))
  return true
}

/** Bought through a facilitator that says it did not settle, and does so while the authorization is valid. */
export async function buyLate(scene: Scene, step: Step): Promise<boolean | undefined> {
  scene.world.plan.facilitator.push(step.c % 2 === 0 ? 'settles_late' : 'refuses_and_settles_late')
  return buy(scene, step)
}
