import { toHex } from '../../packages/protocol/src/bytes.ts'
import { baseNetwork } from '../../packages/sdk/src/networks.ts'
import {
  challengeFor,
  challengeNonce,
  credentialHeader,
} from '../../packages/sdk/src/payment-methods/payment-challenge.ts'
import type { Rng } from '../../packages/till/src/kernel/random.ts'
import { blockNumber, readTransfers } from '../harness/chain-transfers.ts'
import {
  decodeHeader,
  encodePayload,
  type Payload,
  type PaymentRequired,
  type Requirements,
  type SignOptions,
  signPayment,
} from '../harness/till-fixture.ts'
import { isCharged } from '../harness/token-balance.ts'
import { Violation } from '../harness/violation.ts'
import { placeOf } from './describe-order.ts'
import type { History, Order, Sent } from './history.ts'
import type { World } from './world.ts'

export type Scene = { world: World; history: History; rng: Rng }

/** What the token itself says of an authorization, without asking any view. */
export function authorizationSpent({ world }: Scene, payload: Payload): Promise<boolean> {
  const { from, nonce } = payload.payload.authorization as { from: string; nonce: string }
  return isCharged(chainOf(world, String(payload.accepted['network'])), from, nonce)
}

/** Whether any transfer with this nonce is at an address of ours; a cancelled one is spent and moved nothing. */
async function reachedUs({ world }: Scene, payload: Payload): Promise<boolean> {
  const { from, nonce } = payload.payload.authorization as { from: string; nonce: string }
  const chain = chainOf(world, String(payload.accepted['network']))
  const transfers = await readTransfers(chain, await blockNumber(chain, 'latest'))
  return transfers.some(
    (one) =>
      one.nonce === nonce && one.from === from.toLowerCase() && (one.to === world.payTo || one.to === world.custody),
  )
}

export function chainOf(world: World, caip2: string) {
  const chain = world.chains.find(({ chainId }) => caip2 === `eip155:${chainId}`)
  if (!chain) throw new Error(`no chain ${caip2}`)
  return chain
}

/** A 402: what x402 asks for, and the challenges of MPP beside it. */
type Priced = PaymentRequired & { challenges: string | null }

/** The offer for an order, or undefined when there is none to be had now. */
export async function askPrice({ world }: Scene, order: Order): Promise<Priced | undefined> {
  try {
    const response = await world.fetch(order.path, order.init)
    await world.time.until(response.arrayBuffer())
    if (response.status !== 402) return undefined
    const required = decodeHeader<PaymentRequired>(response.headers.get('payment-required'))
    return { ...required, challenges: response.headers.get('www-authenticate') }
  } catch {
    return undefined
  }
}

/** Every third of those that name no purchase: the challenge is its name. */
const paysByMpp = ({ identifier, id }: Order) => identifier === undefined && Number(id.slice(2)) % 3 === 1

const challengeOf = ({ challenges }: Priced, accepted: Requirements) =>
  challengeFor(challenges, {
    offer: accepted as never,
    network: { ...baseNetwork, usdc: accepted.asset },
    amountMicro: BigInt(accepted.amount),
  })

/** Signs with everything the seed decides: the nonce, the time. */
export async function sign(
  { world, rng }: Scene,
  order: Order,
  offer: Priced,
  altered?: SignOptions,
): Promise<Payload & { credential?: string }> {
  const account = world.buyers[order.buyer]
  if (!account) throw new Error('no such buyer')
  const [accepted] = offer.accepts
  const challenge = altered === undefined && paysByMpp(order) && accepted ? challengeOf(offer, accepted) : undefined
  if (challenge) {
    const validBefore = BigInt(Date.parse(challenge.expires) / 1_000)
    const payload = await signPayment(account, offer, { nonce: challengeNonce(challenge), validBefore })
    return { ...payload, credential: credentialHeader(challenge, account.address, 8453, payload.payload) }
  }
  return signPayment(account, offer, {
    nonce: toHex(rng.bytes(32)),
    validBefore: BigInt(Math.floor(world.time.nowMs() / 1000) + 55),
    ...(order.identifier === undefined ? {} : { identifier: order.identifier }),
    ...altered,
  })
}

/** Sends a payment and writes down what came back. A buyer may hang up before the answer is there. */
export async function pay(
  scene: Scene,
  order: Order,
  { credential, ...payload }: Sent['payload'],
  patienceMs?: number,
): Promise<Sent['status']> {
  const { world, history } = scene
  const nonce = String(payload.payload.authorization['nonce'])
  // Anyone who has the answer and sends another authorization for it buys it once more.
  if (order.body !== undefined && order.answeredBy !== nonce) order.boughtAgain.add(nonce)
  const headers = {
    ...(order.init.headers as Record<string, string> | undefined),
    ...(credential === undefined ? { 'payment-signature': encodePayload(payload) } : { authorization: credential }),
  }
  const from = placeOf(scene)
  const { status, body } = await answerOf(world, order, headers, patienceMs)
  const sent = credential === undefined ? payload : { ...payload, credential }
  history.sent.push({ order, payload: sent, nonce, status, from, to: placeOf(scene) })
  if (
    status === 402 &&
    !order.altered &&
    (await authorizationSpent(scene, payload)) &&
    (await reachedUs(scene, payload))
  )
    throw new Violation('promise 3', `402 for ${order.id}, whose authorization moved money: ${body.slice(0, 300)}`)
  if (status === 200) recordAnswer(order, body, nonce)
  else order.refusal = body.slice(0, 300)
  // The name stands for a purchase whose money went back: anyone who still wants it needs another.
  if (status === 409 && body.includes('It was refunded.')) order.identifier = undefined
  return status
}

async function answerOf(world: World, order: Order, headers: Record<string, string>, patienceMs?: number) {
  const hangUp = new AbortController()
  const clock = world.time.clockFor({ alive: true, skewMs: 0 })
  const over = new AbortController()
  if (patienceMs !== undefined)
    void clock.sleep(patienceMs, over.signal).then(
      () => hangUp.abort(new Error('hung up')),
      () => {},
    )
  try {
    const response = await world.fetch(order.path, { ...order.init, headers, signal: hangUp.signal })
    const taken = response.status === 200 && order.read ? order.read(response) : world.time.until(response.text())
    return { status: response.status, body: await taken }
  } catch (error) {
    if (error instanceof Violation) throw error
    return { status: 'broken' as const, body: '' }
  } finally {
    over.abort(new Error('answered'))
  }
}

export function recordAnswer(order: Order, body: string, nonce: string): void {
  if (order.body !== undefined && order.identifier !== undefined && order.body !== body)
    throw new Violation('I12', `${order.id} was answered twice with different bytes`)
  order.body ??= body
  order.answeredBy ??= nonce
}
