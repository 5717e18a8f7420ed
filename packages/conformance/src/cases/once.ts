import { connect } from 'node:net'
import type { Hex } from 'viem'
import { type Case, type Finding, failed, isServed, listOf, passed, skipped, unclear, unsold } from '../case.ts'
import { httpRequest } from '../seller/http-text.ts'
import type { Seller } from '../seller/seller.ts'
import { hostOf } from '../seller/send.ts'
import { decodePayment } from '../seller/sign-payment.ts'

const level = 'L2' as const
const why = 'One payment is shared by everybody who sees it: the authorization is public once it is on chain.'
const claimFix =
  'Write a unique claim for network, payer and nonce to a database before any work, and look it up before every serve.'
const decodedFix = 'Key the claim by the decoded nonce and payer, never by the text of the header or the signature.'

export const copiesMax = 30

const chargeOf = (charged: bigint | undefined, price: bigint): string =>
  charged === undefined ? 'charge not seen' : `charged ${charged} of ${price}`

function checkCopies(seller: Seller, statuses: readonly number[], charged: bigint | undefined): Finding {
  const count = statuses.filter(isServed).length
  const seen = `served ${count} of ${statuses.length}, ${chargeOf(charged, seller.price)}`
  if (count > 1 || (charged !== undefined && charged > seller.price)) return failed(seen)
  // What is in doubt may be charged: its answer can be fetched later.
  if (count === 0 && charged === seller.price && !statuses.includes(503))
    return failed(`${seen}: charged, and nobody was served`)
  return count === 0 ? unclear(`${seen} (${listOf(statuses)})`) : passed(seen)
}

const atOnce: Case = {
  ...{ id: 'copies-at-once', level, why, fix: claimFix, needs: ['payment'] },
  title: `One payment, ${copiesMax} copies at once`,
  run: async (seller) => {
    const payment = await seller.pay()
    let statuses: number[] = []
    const charged = await seller.charged(async () => {
      const answers = await Promise.all(Array.from({ length: copiesMax }, () => seller.buy(payment)))
      statuses = answers.map(({ status }) => status)
    })
    return checkCopies(seller, statuses, charged)
  },
}

/** Buys, then sends what `others` makes of the payment: none of it may be served. */
const afterPurchase = (
  about: Pick<Case, 'id' | 'title'> & Partial<Pick<Case, 'fix' | 'why'>>,
  others: (seller: Seller, payment: string) => Promise<number[]>,
): Case => ({
  ...{ level, why, fix: claimFix, needs: ['payment'] as const },
  ...about,
  run: async (seller) => {
    const payment = await seller.pay()
    const first = await seller.buy(payment)
    if (!isServed(first.status)) return unsold(first)
    let statuses: number[] = []
    const charged = await seller.charged(async () => {
      statuses = await others(seller, payment)
    })
    if (statuses.some(isServed)) return failed(`served again (${listOf(statuses)})`)
    if (charged !== undefined && charged > 0n) return failed(`refused with ${listOf(statuses)}, and charged again`)
    return passed(`refused with ${listOf(statuses)}`)
  },
})

const inOrder = afterPurchase(
  { id: 'copies-in-order', title: 'A settled payment sent again' },
  async (seller, payment) => {
    const statuses: number[] = []
    for (let copy = 0; copy < 3; copy += 1) statuses.push((await seller.buy(payment)).status)
    return statuses
  },
)

const otherMethods = afterPurchase(
  { id: 'copies-other-methods', title: 'A settled payment sent with other methods and representations' },
  async (seller, payment) => [
    (await seller.buy(payment, { method: seller.method === 'GET' ? 'POST' : 'PUT' })).status,
    (await seller.buy(payment, { headers: { accept: 'text/plain, */*' } })).status,
  ],
)

const otherHosts = afterPurchase(
  { id: 'copies-other-hosts', title: 'A settled payment sent to other names of the host' },
  async (seller, payment) => [
    (await seller.buy(payment, { headers: { host: `${seller.url.hostname}.` } })).status,
    (await seller.buy(payment, { headers: { host: `other.${seller.url.host}` } })).status,
    (await seller.buy(payment, { headers: { 'x-forwarded-host': 'other.invalid' } })).status,
  ],
)

const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** The other signature of the same message: (r, n - s) with the parity turned. */
export function mirrored(signature: Hex): Hex {
  const s = BigInt(`0x${signature.slice(66, 130)}`)
  const v = Number.parseInt(signature.slice(130, 132), 16)
  return `0x${signature.slice(2, 66)}${(order - s).toString(16).padStart(64, '0')}${(v === 27 ? 28 : 27).toString(16)}`
}

/** The same payment in other letters. */
export function encodings(payment: string): string[] {
  const document = decodePayment(payment)
  const { signature, authorization } = document.payload
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')
  const upper = (hex: string) => `0x${hex.slice(2).toUpperCase()}`
  return [
    Buffer.from(JSON.stringify(document, null, 2)).toString('base64'),
    Buffer.from(JSON.stringify(document)).toString('base64url'),
    encode({
      ...document,
      payload: { ...document.payload, authorization: { ...authorization, nonce: upper(authorization.nonce) } },
    }),
    encode({
      ...document,
      payload: { signature, authorization: { ...authorization, from: authorization.from?.toLowerCase() } },
    }),
    encode({ ...document, payload: { authorization, signature: mirrored(signature) } }),
    encode({ ...document, extensions: { other: Math.random() } }),
  ].filter((text) => text !== payment)
}

const otherEncodings = afterPurchase(
  {
    id: 'copies-other-encodings',
    title: 'A settled payment in other letters: spacing, case, base64url, mirrored signature',
    fix: decodedFix,
  },
  async (seller, payment) => {
    const statuses: number[] = []
    for (const other of encodings(payment)) statuses.push((await seller.buy(other)).status)
    return statuses
  },
)

const encodingsAtOnce: Case = {
  ...{ id: 'encodings-at-once', level, why, needs: ['payment'] },
  fix: decodedFix,
  title: 'One payment in several encodings at once',
  run: async (seller) => {
    const payment = await seller.pay()
    let statuses: number[] = []
    const charged = await seller.charged(async () => {
      const answers = await Promise.all([payment, ...encodings(payment)].map((one) => seller.buy(one)))
      statuses = answers.map(({ status }) => status)
    })
    return checkCopies(seller, statuses, charged)
  },
}

const pipelinedCopies = 8

/** Several requests in one write on one connection. */
function pipeline(seller: Seller, payment: string): Promise<number[]> {
  const { url, method, body } = seller
  const request = httpRequest({ url, method, body, headers: { 'PAYMENT-SIGNATURE': payment } })
  return new Promise((resolve) => {
    const socket = connect(Number(url.port || 80), hostOf(url))
    let text = ''
    const done = () => {
      socket.destroy()
      resolve([...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status)))
    }
    socket.setTimeout(20_000, done)
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      if ([...text.matchAll(/HTTP\/1\.1 \d{3} /g)].length === pipelinedCopies) setTimeout(done, 200)
    })
    socket.on('error', done)
    socket.on('end', done)
    socket.write(request.repeat(pipelinedCopies))
  })
}

const pipelined: Case = {
  ...{ id: 'copies-on-one-connection', level, why, fix: claimFix, needs: ['payment', 'loopback'] },
  title: `One payment, ${pipelinedCopies} copies on one connection`,
  run: async (seller) => {
    if (seller.url.protocol !== 'http:') return skipped('needs plain HTTP')
    const payment = await seller.pay()
    let statuses: number[] = []
    const charged = await seller.charged(async () => {
      statuses = await pipeline(seller, payment)
    })
    return checkCopies(seller, statuses, charged)
  },
}

const leak: Case = {
  ...{ id: 'leak', level, needs: ['payment'] },
  title: 'The paid answer in what an unpaid caller gets afterwards',
  why: 'A cache in front of the price serves the answer to everybody after the first buyer.',
  fix: 'Send Cache-Control: private, no-store with paid answers, and keep them out of your own shared caches.',
  run: async (seller) => {
    const answer = await seller.buy(await seller.pay())
    if (!isServed(answer.status)) return unsold(answer)
    const control = String(answer.headers['cache-control'] ?? '')
    const after = await seller.send()
    if (isServed(after.status)) return failed('served to a caller who paid nothing')
    if (answer.body.length > 20 && after.body.includes(answer.body)) return failed('the 402 contains the paid answer')
    if (!/private|no-store/.test(control)) return failed(`the paid answer says Cache-Control: ${control || 'nothing'}`)
    return passed(`unpaid callers get ${after.status}`)
  },
}

export const onceCases: readonly Case[] = [
  ...[atOnce, inOrder, pipelined, otherMethods, otherHosts, otherEncodings, encodingsAtOnce, leak],
]
