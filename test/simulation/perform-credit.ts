import { formatUsd } from '../../packages/protocol/src/money.ts'
import { signRequest } from '../../packages/sdk/src/index.ts'
import { Violation } from '../harness/violation.ts'
import type { Scene } from './buyers.ts'
import type { Draw } from './history.ts'
import { buyOnce, newOrder } from './perform-buyers.ts'
import { countedRoutes, has } from './shops.ts'
import { sites } from './simulated-web.ts'
import type { Step } from './steps.ts'
import { buyerCount } from './world.ts'

export async function topUp(scene: Scene, step: Step): Promise<boolean> {
  const micro = BigInt(1 + (step.b % 3)) * 1_000_000n
  // The amount and the wallet are all that a top-up says; the cents make each of them its own order.
  const exact = micro + BigInt(scene.history.orders.length)
  const order = newOrder(scene, step, `/v1/credit/topup?usd=${formatUsd(exact)}`, exact)
  return (await buyOnce(scene, order)) === 200
}

type Wanted = { path: string; init: RequestInit; routeId: string; priceMicro: bigint }

/** What is drawn for: an answer without an effect, one with an effect, one that pays a creator. */
function wantedBy(scene: Scene, buyer: number, choice: number, name: string): Wanted {
  const [small] = countedRoutes
  if (choice % 5 === 0)
    return { path: `${small.path}?order=${name}`, init: {}, routeId: small.id, priceMicro: small.micro }
  if (choice % 5 === 1 && has(scene.world.seed, 'citations')) {
    const body = JSON.stringify({
      source_url: `http://${sites[choice % sites.length]?.host}/${name}`,
      agent_wallet: scene.world.buyers[buyer]?.address,
    })
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
    return { path: '/v1/cite/attest', init, routeId: 'cite.attest', priceMicro: 5_000n }
  }
  return { path: `/v1/sandbox/echo?message=${name}`, init: {}, routeId: 'sandbox.echo.get', priceMicro: 1_000n }
}

/** By somebody who has paid in, or does it now. One to seven calls; two in three have a name, and some names come again. */
export async function drawCredit(scene: Scene, step: Step): Promise<boolean> {
  const buyer = step.a % buyerCount
  const paidIn = scene.history.orders.some(
    (order) => order.buyer === buyer && order.path.startsWith('/v1/credit/') && order.body !== undefined,
  )
  if (!paidIn) await topUp(scene, step)
  const drawOne = (place: number) => {
    const number = (step.b + place) % 60
    const wanted = wantedBy(scene, buyer, number, `d-${buyer}-${number}`)
    const key = number % 3 === 0 ? undefined : `k-${number}`
    // Anyone who gives no name asks for something new each time.
    if (key === undefined) {
      scene.history.unnamedDraws += 1
      wanted.path = wanted.path.replace(/=d-/, `=u${scene.history.unnamedDraws}-`)
    }
    return draw(scene, buyer, key, wanted)
  }
  // Two in a row, so that the second finds a balance that was full recently; the others at once.
  const answered = [await drawOne(0)]
  if (step.c % 6 > 0) answered.push(await drawOne(1))
  answered.push(...(await Promise.all(Array.from({ length: step.c % 6 }, (_, place) => drawOne(2 + place)))))
  return answered.every((status) => status === 200)
}

/** A call paid from credit, signed by the wallet. */
async function draw(scene: Scene, buyer: number, key: string | undefined, wanted: Wanted): Promise<number | 'broken'> {
  const { world, history, rng } = scene
  const account = world.buyers[buyer]
  if (!account) throw new Error('no such buyer')
  const name = key === undefined ? `${buyer} unnamed ${history.draws.size}` : `${buyer} ${key}`
  const { routeId, priceMicro } = wanted
  const known = history.draws.get(name) ?? { buyer, key, routeId, priceMicro, tries: 0, lost: 0, answers: [] }
  history.draws.set(name, known)
  known.tries += 1
  const app = world.app()
  const headers = { ...(wanted.init.headers as Record<string, string>), ...(key ? { 'idempotency-key': key } : {}) }
  const request = await signRequest(
    `${app.address}${wanted.path}`,
    { ...wanted.init, headers },
    {
      account,
      ...(key === undefined ? {} : { cover: ['idempotency-key'] }),
      platform: { nowMs: world.time.nowMs, randomBytes: (n) => rng.bytes(n) },
    },
  )
  try {
    const response = await app.fetch(wanted.path, { ...wanted.init, headers: Object.fromEntries(request.headers) })
    const body = await world.time.until(response.text())
    if (response.status === 200) recordDrawn(name, known, body)
    else if (response.status >= 500) known.lost += 1
    return response.status
  } catch (error) {
    if (error instanceof Violation) throw error
    known.lost += 1
    return 'broken'
  }
}

export function recordDrawn(name: string, draw: Draw, body: string): void {
  const [before] = draw.answers
  if (draw.key !== undefined && before !== undefined && before.body !== body)
    throw new Violation('I12', `the draw ${name} was answered twice with different bytes`)
  if (draw.key !== undefined && before !== undefined) return
  const { payment_id, record } = JSON.parse(body) as { payment_id?: string; record?: { payment_id: string } }
  draw.answers.push({ body, callId: payment_id ?? record?.payment_id })
}
