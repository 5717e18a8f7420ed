import type { LocalAccount } from 'viem'
import { toHex } from '../../packages/protocol/src/bytes.ts'
import { baseNetwork } from '../../packages/sdk/src/networks.ts'
import {
  type ChannelState,
  channelScheme,
  chargedInChannel,
  correctedState,
  signVoucher,
} from '../../packages/sdk/src/payment-methods/channel.ts'
import type { Offer } from '../../packages/sdk/src/payment-required.ts'
import type { ChosenOffer } from '../../packages/sdk/src/spending-policy.ts'
import { decodeHeader, encodePayload, type PaymentRequired } from '../harness/till-fixture.ts'
import { Violation } from '../harness/violation.ts'
import type { Scene } from './buyers.ts'
import { countedRoutes } from './shops.ts'
import type { Step } from './steps.ts'
import { buyerCount } from './world.ts'

/** A call that its buyer pays by the voucher of a channel, once. Who names it may hang up. */
export type ChannelCall = {
  id: string
  buyer: number
  path: string
  identifier: string | undefined
  body: string | undefined
  refusal: string
}

/** Enough for some calls, so that a run comes to a second deposit. */
const depositMicro = 22_000n
/** Asks what the channel was charged, deposits, is corrected once more. */
const triesMax = 4
const [{ path: cheapPath }] = countedRoutes

/** A new call, or one that is still without an answer. */
export async function callByChannel(scene: Scene, step: Step): Promise<boolean | undefined> {
  const { calls } = scene.history.channels
  const open = step.c % 2 === 0 ? calls.find(({ body }) => body === undefined) : undefined
  const call = open ?? newCall(scene, step)
  return payByVoucher(scene, call, call.identifier !== undefined && step.b % 3 === 0 ? step.b % 400 : undefined)
}

function newCall({ history, rng }: Scene, { a, c }: Step): ChannelCall {
  const { calls } = history.channels
  const id = `c-${calls.length}`
  const identifier = c % 3 === 0 ? `sim-${toHex(rng.bytes(16)).slice(2)}` : undefined
  const call = { id, buyer: a % buyerCount, path: `${cheapPath}?order=${id}`, identifier, body: undefined, refusal: '' }
  calls.push(call)
  return call
}

export async function payByVoucher(scene: Scene, call: ChannelCall, patienceMs?: number): Promise<boolean> {
  const { world, history, rng } = scene
  const account = world.buyers[call.buyer] as LocalAccount
  const { states } = history.channels
  const named =
    call.identifier === undefined
      ? {}
      : { extensions: { 'payment-identifier': { info: { required: false, id: call.identifier } } } }
  let required = await ask(scene, call.path)
  for (let tries = 0; tries < triesMax && required !== undefined; tries += 1) {
    const chosen = channelIn(required)
    if (!chosen) return false
    const state = states.get(call.buyer)
    const validBefore = Math.floor(world.time.nowMs() / 1_000) + 55
    const payload = await signVoucher(account, chosen, state, { depositMicro, salt: toHex(rng.bytes(32)), validBefore })
    const { offer: accepted } = chosen
    const signed = { x402Version: 2, resource: required.resource, accepted, payload, ...named }
    const headers = { 'payment-signature': encodePayload(signed) }
    const answer = await received(scene, call.path, { headers }, patienceMs)
    if (answer === undefined) return false
    const { response, body } = answer
    if (response.status === 200) {
      recordAnswer(call, body)
      const settled = decodeHeader<Record<string, unknown>>(response.headers.get('payment-response'))
      setState(scene, call.buyer, chargedInChannel(settled, state?.chargedMicro ?? 0n, chosen.amountMicro))
      return true
    }
    call.refusal = `${response.status} ${body.slice(0, 300)}`
    if (response.status !== 402) return false
    required = decodeHeader<PaymentRequired>(response.headers.get('payment-required'))
    const corrected = channelIn(required)
    setState(scene, call.buyer, corrected && (await correctedState(account, corrected, reasonIn(body))))
  }
  return false
}

const reasonIn = (body: string) => String((JSON.parse(body) as { reason?: string }).reason)

function setState({ history }: Scene, buyer: number, state: ChannelState | undefined): void {
  if (state === undefined) history.channels.states.delete(buyer)
  else history.channels.states.set(buyer, state)
}

function recordAnswer(call: ChannelCall, body: string): void {
  const { order } = JSON.parse(body) as { order: string }
  if (order !== call.id) throw new Violation('promise 2', `${call.id} was answered with what ${order} bought`)
  call.body = body
}

function channelIn({ accepts }: PaymentRequired): ChosenOffer | undefined {
  const offer = accepts.find(({ scheme }) => scheme === channelScheme) as (Offer & { asset: `0x${string}` }) | undefined
  if (!offer) return undefined
  const network = { ...baseNetwork, usdc: offer.asset }
  return { offer, network, amountMicro: BigInt(offer.amount), paymentMethod: channelScheme } as ChosenOffer
}

async function ask(scene: Scene, path: string): Promise<PaymentRequired | undefined> {
  const answer = await received(scene, path, {})
  return answer?.response.status === 402
    ? decodeHeader<PaymentRequired>(answer.response.headers.get('payment-required'))
    : undefined
}

/** Undefined where the connection broke, or the caller hung up. */
async function received({ world }: Scene, path: string, init: RequestInit, patienceMs?: number) {
  const [hangUp, over] = [new AbortController(), new AbortController()]
  if (patienceMs !== undefined)
    void world.time
      .clockFor({ alive: true, skewMs: 0 })
      .sleep(patienceMs, over.signal)
      .then(
        () => hangUp.abort(new Error('hung up')),
        () => {},
      )
  try {
    const response = await world.fetch(path, { ...init, signal: hangUp.signal })
    return { response, body: await world.time.until(response.text()) }
  } catch {
    return undefined
  } finally {
    over.abort(new Error('answered'))
  }
}
