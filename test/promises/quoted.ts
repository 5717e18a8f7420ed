import { createHash, randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { toHex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { bindingNonce, bindingTag } from '../../packages/sdk/src/index.ts'
import { encodePayload, type PaymentRequired, quote, send, signPayment } from '../harness/till-fixture.ts'
import { createFaults, createProgress, type Faults, type Proof, type ProofOptions, plain } from './proof.ts'
import { openProofNode, type ProofNode, paymentStates, proofPath } from './proof-node.ts'

/** One thing that can be bought: everything that tells it from the others. */
type Good = { name: string; url: string; init: RequestInit; ours: boolean }

/** Only what was quoted: a payment for one thing is sent for every other; `count` is ordered pairs. */
export const proveOnlyQuoted: Proof = async (options) => {
  const proofNode = await openProofNode({ env: { MATRIX: '{"demo":"small"}' } })
  try {
    return await tryPairs(proofNode, options)
  } finally {
    await proofNode.till.close()
  }
}

export async function tryPairs(proofNode: ProofNode, { count, say }: ProofOptions) {
  const products = await onSale(productsOf(proofNode, Math.ceil(Math.sqrt(count / 2)) + 1), say)
  const faults = createFaults()
  const tally = { pairs: 0, statuses: new Map<number, number>(), bought: 0 }
  const whole = 2 * products.length * (products.length - 1)
  say(
    `${products.length} products of ${new Set(products.map(({ name }) => name.split(' ')[0])).size} methods, ${plain(whole)} ordered pairs ...`,
  )
  const progress = createProgress(say, whole, 'pairs')
  const buyer = await proofNode.till.newBuyer(100_000_000_000n)
  for (const [index, good] of products.entries()) {
    const offer = await quote(good.url, good.init)
    // One in three is of a client that knows nothing of request binding: it names an address and no more, so where one
    // address sells several things the first use decides.
    const bound = index % 3 !== 0
    const header = bound ? await payFor(buyer, good, offer) : encodePayload(await signPayment(buyer, offer))
    const others = products.filter((other) => other !== good)
    // Unused, it is refused everywhere else; then it buys its own thing, and is refused everywhere once more.
    const elsewhere = bound ? others : others.filter(({ url }) => url !== good.url)
    await tryOtherProducts(proofNode, { own: good, header }, elsewhere, tally, faults)
    const used = await useAtHome(proofNode, good, header, faults)
    if (used) tally.bought += 1
    // One in two does not say what it is for: then the first use decides for good.
    const open = used && index % 2 === 0 ? await unnamed(proofNode, buyer, good, faults) : header
    await tryOtherProducts(proofNode, { own: good, header: open }, others, tally, faults)
    progress(tally.pairs)
  }
  const states = await paymentStates(proofNode.till)
  if (tally.bought < 12) faults.note(`only ${tally.bought} products could be bought: this run shows little`)
  const details = [...tally.statuses].sort(([a], [b]) => a - b).map(([status, n]) => `${plain(n)} x ${status}`)
  return {
    seen: `${faults.count()} wrong in ${plain(tally.pairs)} ordered pairs of ${products.length} products (${details.join(', ')}); ${tally.bought} payments then bought what they were for; payments ${JSON.stringify(states)}`,
    faults: faults.all(),
  }
}

/** As our own client signs: the nonce covers the whole request. */
async function payFor(buyer: PrivateKeyAccount, { init }: Good, offer: PaymentRequired): Promise<string> {
  const salt = toHex(randomBytes(32))
  const { 'content-type': contentType = '' } = (init.headers ?? {}) as Record<string, string>
  const bodyDigest = createHash('sha256')
    .update(String(init.body ?? ''))
    .digest()
  const nonce = bindingNonce({
    method: init.method ?? 'GET',
    resource: offer.resource.url,
    contentType,
    bodyDigest,
    salt,
  })
  const info = { version: 1, tag: bindingTag, salt }
  return encodePayload(await signPayment(buyer, offer, { nonce, extensions: { 'request-binding': { info } } }))
}

type Tally = { pairs: number; statuses: Map<number, number>; bought: number }

async function tryOtherProducts(
  { callCounts }: ProofNode,
  { own, header }: { own: Good; header: string },
  others: readonly Good[],
  tally: Tally,
  faults: Faults,
): Promise<void> {
  const before = { ...callCounts }
  for (let start = 0; start < others.length; start += 8)
    await Promise.all(
      others.slice(start, start + 8).map(async (other) => {
        const response = await send(other.url, header, other.init)
        const body = await response.text()
        tally.pairs += 1
        tally.statuses.set(response.status, (tally.statuses.get(response.status) ?? 0) + 1)
        if (response.status < 400 || response.status >= 500)
          faults.note(`${own.name} paid, ${other.name} answered ${response.status}: ${body.slice(0, 120)}`)
      }),
    )
  if (callCounts.prepared !== before.prepared || callCounts.settled !== before.settled)
    faults.note(
      `${own.name} paid: ${callCounts.prepared - before.prepared} handlers, ${callCounts.settled - before.settled} settlements elsewhere`,
    )
}

/** True when it was bought; the products of our own shop must be, for their nonces were not spent otherwise. */
async function useAtHome(_node: ProofNode, good: Good, header: string, faults: Faults): Promise<boolean> {
  if (!good.ours) return false
  const response = await send(good.url, header, good.init)
  await response.text()
  if (response.status !== 200) faults.note(`${good.name}: its own payment was answered with ${response.status}`)
  return response.status === 200
}

async function unnamed(proofNode: ProofNode, buyer: PrivateKeyAccount, good: Good, faults: Faults): Promise<string> {
  const offer = await quote(good.url, good.init)
  const header = encodePayload(await signPayment(buyer, offer, { resource: undefined }))
  await useAtHome(proofNode, good, header, faults)
  return header
}

/** Demo data take a moment to come in; what has none by then is left out, and named. */
async function onSale(products: readonly Good[], say: (text: string) => void): Promise<Good[]> {
  const sold: Good[] = []
  const giveUpAtMs = performance.now() + 30_000
  for (const good of products)
    for (;;) {
      const response = await fetch(good.url, good.init)
      const body = await response.text()
      if (response.status === 402) sold.push(good)
      else if (response.status === 503 && performance.now() < giveUpAtMs) {
        await sleep(500)
        continue
      } else say(`  left out: ${good.name} answers ${response.status} ${body.slice(0, 100)}`)
      break
    }
  return sold
}

const json = { 'content-type': 'application/json' }

/** Every paid route of the node as its example has it, and many of one price that differ in method, query or body only. */
function productsOf({ till, paidRoutes }: ProofNode, atLeast: number): Good[] {
  const origin = till.node.url
  const products = paidRoutes
    .filter(({ id }) => !id.startsWith('proof.') && !id.startsWith('sandbox.'))
    .map(({ method, path, example }): Good => {
      const filled = path.replaceAll(/:(\w+)/g, (_all, name: string) => example.params?.[name] ?? 'x')
      const query = new URLSearchParams(example.query).toString()
      const url = `${origin}${filled}${query === '' ? '' : `?${query}`}`
      const init =
        example.body === undefined ? { method } : { method, headers: json, body: JSON.stringify(example.body) }
      return { name: `${method} ${filled}`, url, init, ours: false }
    })
  for (let number = 0; products.length < atLeast || number < 2; number += 1) {
    const of = `n${number}`
    for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
      const hasBody = method === 'POST' || method === 'PUT'
      const init = hasBody ? { method, headers: json, body: JSON.stringify({ of }) } : { method }
      const query = hasBody && number % 2 === 0 ? '' : `?of=${of}`
      products.push({
        name: `${method} ${proofPath}${query} ${of}`,
        url: `${origin}${proofPath}${query}`,
        init,
        ours: true,
      })
    }
    for (const method of ['GET', 'POST']) {
      const url = `${origin}/v1/sandbox/echo${method === 'GET' ? `?message=${of}` : ''}`
      const init = method === 'GET' ? { method } : { method, headers: json, body: JSON.stringify({ message: of }) }
      products.push({ name: `${method} echo ${of}`, url, init, ours: true })
    }
  }
  return products
}
