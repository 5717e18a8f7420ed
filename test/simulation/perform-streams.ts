import { Violation } from '../harness/violation.ts'
import { askPrice, pay, type Scene, sign } from './buyers.ts'
import { newOrder } from './perform-buyers.ts'
import { has } from './shops.ts'
import type { Step } from './steps.ts'
import { buyerCount } from './world.ts'

export const streamPath = '/v1/market/intent-stream'
const streamType = { accept: 'text/event-stream' }

/** A period of the stream, paid and read on the same answer; after a while the reader hangs up. */
export async function buyStream(scene: Scene, step: Step): Promise<boolean | undefined> {
  if (!has(scene.world.seed, 'stream')) return undefined
  const order = newOrder(scene, step, streamPath, 5_000_000_000n, { headers: streamType })
  order.read = (response) => readEvents(scene, order.buyer, response, 1_000 + (step.b % 40_000))
  const offer = await askPrice(scene, order)
  return offer !== undefined && (await pay(scene, order, await sign(scene, order, offer))) === 200
}

/** Opened again with the token, where the reader left off; bought, where nobody has one. */
export async function openStream(scene: Scene, step: Step): Promise<boolean | undefined> {
  const { world, history } = scene
  const subscribers = [...history.streams.entries()].filter(([, { token }]) => token !== undefined)
  const [wallet, held] = subscribers[step.a % Math.max(1, subscribers.length)] ?? []
  if (wallet === undefined || held?.token === undefined) return buyStream(scene, step)
  const headers = {
    ...streamType,
    authorization: `Bearer ${held.token}`,
    ...(held.lastSeq > 0 ? { 'last-event-id': `0-${held.lastSeq}` } : {}),
  }
  const paidBefore = await hasPaid(scene, wallet)
  const buyer = world.buyers.findIndex(({ address }) => address.toLowerCase() === wallet)
  try {
    const response = await world.fetch(streamPath, { headers })
    if (response.status !== 200) {
      await world.time.until(response.text())
      return false
    }
    if (!paidBefore && !(await hasPaid(scene, wallet)))
      throw new Violation('promise 4', `the stream opened for ${wallet}, who has no period`)
    await readEvents(scene, buyer, response, 1_000 + (step.b % 60_000), held.lastSeq)
    return true
  } catch (error) {
    if (error instanceof Violation) throw error
    return false
  }
}

async function hasPaid({ world }: Scene, wallet: string): Promise<boolean> {
  const { rowCount } = await world.db.owner.query(
    `select from subscription_purchase where wallet = $1 and product = 'stream' and revoked_at is null`,
    [wallet],
  )
  return rowCount > 0
}

type Received = { seqs: number[]; token: string | undefined }

/** Reads for so long, then hangs up. What is received has no gap and nothing twice. */
async function readEvents(scene: Scene, buyer: number, response: Response, forMs: number, after = 0): Promise<string> {
  const { world, history } = scene
  const wallet = world.buyers[buyer % buyerCount]?.address.toLowerCase() ?? ''
  const held = history.streams.get(wallet) ?? { token: undefined, lastSeq: 0 }
  history.streams.set(wallet, held)
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  const clock = world.time.clockFor({ alive: true, skewMs: 0 })
  const over = clock.sleep(forMs).then(() => undefined)
  let text = ''
  for (;;) {
    const chunk = await world.time.until(Promise.race([reader.read().catch(() => undefined), over]))
    if (chunk?.value === undefined) break
    text += Buffer.from(chunk.value).toString('utf8')
  }
  void reader.cancel().catch(() => {})
  const received = readReceived(text)
  held.token = received.token ?? held.token
  checkReceived(after > 0 ? [after, ...received.seqs] : received.seqs, wallet)
  held.lastSeq = Math.max(held.lastSeq, received.seqs.at(-1) ?? 0)
  history.eventsRead += received.seqs.length
  return 'a stream'
}

function readReceived(text: string): Received {
  // A hang-up may cut an event in two: what has no end is not an event.
  const events = text.slice(0, text.lastIndexOf('\n\n') + 2).split('\n\n')
  const seqs = events.flatMap((event) => {
    const id = /^id: ?\d+-(\d+)$/m.exec(event)?.[1]
    return id === undefined ? [] : [Number(id)]
  })
  const token = /"token":"(asub_[^"]+)"/.exec(text)?.[1]
  return { seqs, token }
}

export function checkReceived(seqs: readonly number[], wallet: string): void {
  for (const [place, seq] of seqs.entries())
    if (place > 0 && seq !== (seqs[place - 1] as number) + 1)
      throw new Violation('stream', `${wallet} received ${seq} after ${seqs[place - 1]}`)
}
