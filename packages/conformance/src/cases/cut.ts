import { connect } from 'node:net'
import { type Case, type Finding, isServed, passed, skipped, unclear } from '../case.ts'
import { httpRequest } from '../seller/http-text.ts'
import type { Seller } from '../seller/seller.ts'
import { hostOf } from '../seller/send.ts'
import { buyThrough, checkPurchase, identified, type Through } from './buy-through.ts'

const level = 'L4' as const
const needs = ['payment', 'chain', 'loopback'] as const
const why = 'The buyer has paid and gets nothing, or pays twice.'
const fix = 'Store the answer before money moves, and give it to the buyer who proves the payment or its identifier.'

const lost = (about: Pick<Case, 'id' | 'title'>, how: Through): Case => ({
  ...{ level, needs, why, fix, ...about },
  run: async (seller) => checkPurchase(seller, await buyThrough(seller, how)),
})

const hangUp = (hangUpMs: number): Case =>
  lost(
    { id: `hang-up-${hangUpMs}ms`, title: `The buyer hangs up after ${hangUpMs} ms and asks again` },
    { faults: ['is_slow'], first: (seller, payment) => seller.buy(payment, { hangUpMs }) },
  )

const cutBody = (bytes: number): Case =>
  lost(
    {
      id: `cut-after-${bytes}-bytes`,
      title: `The answer is lost after ${bytes} ${bytes === 1 ? 'byte' : 'bytes'} of its body, and the buyer asks again`,
    },
    { identified: true, first: (seller, payment) => seller.buy(payment, { cutAfterBytes: bytes }) },
  )

/** Reads so many bytes of an answer, status line and headers included, then breaks the connection. Returns what was read. */
function readBytes({ url, method, body }: Seller, payment: string, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve) => {
    const socket = connect(Number(url.port || 80), hostOf(url))
    const chunks: Buffer[] = []
    let bytes = 0
    const done = () => {
      socket.destroy()
      resolve(Buffer.concat(chunks).subarray(0, bytesMax))
    }
    socket.setTimeout(30_000, done)
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      bytes += chunk.byteLength
      if (bytes >= bytesMax) done()
    })
    socket.on('error', done)
    socket.on('end', done)
    socket.write(httpRequest({ url, method, body, headers: { 'PAYMENT-SIGNATURE': payment, Connection: 'close' } }))
  })
}

const defaultPlaces = 8
const cutsAtOnce = 4

/** Bytes after which to cut: the edges of status line, headers and body, and places in between. */
export function cutPlaces(answer: Buffer, places: number): number[] {
  const headers = answer.indexOf('\r\n\r\n') + 4
  const edges = [1, 9, headers - 1, headers, headers + 1, answer.length - 1]
  const spread = Array.from({ length: places }, (_, index) => Math.floor(((index + 1) * answer.length) / (places + 1)))
  return [...new Set([...edges, ...spread])]
    .filter((bytes) => bytes > 0 && bytes < answer.length)
    .sort((one, other) => one - other)
}

/** A new buyer, who loses the connection after so many bytes. */
async function buyThroughCut(seller: Seller, bytes: number, length: number): Promise<Finding> {
  const outcome = await buyThrough(seller, {
    identified: true,
    first: async (one, payment) => {
      await readBytes(one, payment, bytes)
      return { status: 0, headers: {}, body: '' }
    },
  })
  const finding = checkPurchase(seller, outcome)
  const seen = `cut after ${bytes} of ${length} bytes: ${finding.seen}`
  // Nothing was taken either: the seller could not sell for a while.
  if (finding.verdict !== 'failed' && !outcome.statuses.some(isServed)) return unclear(seen)
  return { ...finding, seen }
}

const anywhere: Case = {
  ...{ level, needs, why, fix, id: 'cut-at-each-byte' },
  title: 'The connection breaks after any number of bytes of the answer, and the buyer asks again',
  run: async (seller) => {
    if (seller.url.protocol !== 'http:') return skipped('needs plain HTTP')
    const whole = await readBytes(seller, await seller.pay(identified(seller)), Number.MAX_SAFE_INTEGER)
    if (!/^HTTP\/1\.1 2/.test(whole.subarray(0, 12).toString('latin1')))
      return skipped('an honest purchase was not served')
    const places = cutPlaces(whole, seller.isThorough ? whole.length : defaultPlaces)
    // Without a facilitator that funds wallets all buyers are one, and what one is charged cannot be distinguished from the others.
    const atOnce = seller.facilitator ? cutsAtOnce : 1
    for (let from = 0; from < places.length; from += atOnce) {
      const findings = await Promise.all(
        places.slice(from, from + atOnce).map((bytes) => buyThroughCut(seller, bytes, whole.length)),
      )
      const wrong = findings.find(({ verdict }) => verdict !== 'passed')
      if (wrong) return wrong
    }
    return passed(`served once and charged once after each of ${places.length} cuts in ${whole.length} bytes`)
  },
}

export const cutCases: readonly Case[] = [hangUp(0), hangUp(60), hangUp(250), cutBody(0), cutBody(1), anywhere]
