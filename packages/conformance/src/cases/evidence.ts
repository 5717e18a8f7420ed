import { createHash } from 'node:crypto'
import { verifyResponse } from '@assay/protocol/signatures/verify-response'
import type { Address, Hex } from 'viem'
import { type Case, failed, isServed, listOf, passed, skipped, unclear, unsold } from '../case.ts'
import type { Seller } from '../seller/seller.ts'
import type { Answer } from '../seller/send.ts'
import { decodePayment } from '../seller/sign-payment.ts'
import { inSeconds } from '../time.ts'
import { identified } from './buy-through.ts'
import { elsewhere } from './quoted.ts'

const level = 'L5' as const

type Receipt = { success?: unknown; transaction?: unknown; network?: unknown; payer?: unknown; amount?: unknown }

export function receiptOf({ headers }: Answer): Receipt | undefined {
  try {
    const text = Buffer.from(String(headers['payment-response'] ?? ''), 'base64').toString('utf8')
    return JSON.parse(text) as Receipt
  } catch {
    return undefined
  }
}

const receipt: Case = {
  ...{ id: 'receipt', level, needs: ['payment'] },
  title: 'PAYMENT-RESPONSE names the transfer that paid for the answer',
  why: 'Without it a buyer cannot prove what was paid, nor find a payment that went wrong.',
  fix: 'Send PAYMENT-RESPONSE with success, transaction, network and payer on every paid answer.',
  run: async ({ buy, pay, offer, account, chain, price }) => {
    const answer = await buy(await pay())
    if (!isServed(answer.status)) return unsold(answer)
    const given = receiptOf(answer)
    if (given === undefined) return failed('no PAYMENT-RESPONSE')
    if (given.success !== true) return failed(`success is ${String(given.success)}`)
    if (given.network !== offer.network) return failed(`network is ${String(given.network)}`)
    if (String(given.payer).toLowerCase() !== account.address.toLowerCase()) return failed('payer is somebody else')
    if (!/^0x[0-9a-f]{64}$/i.test(String(given.transaction))) return failed('transaction is not a hash')
    if (chain === undefined) return passed('well formed; the chain was not read')
    const moved = await chain.movedBy(given.transaction as Hex, account.address, offer.payTo as Address)
    return moved === price
      ? passed('the transaction moved the price')
      : failed(`the transaction moved ${moved ?? 'nothing'}`)
  },
}

const digest: Case = {
  ...{ id: 'digest', level, needs: [] },
  title: 'Content-Digest, where it is sent, is that of the body',
  why: 'A digest that does not fit makes every signature over it worthless.',
  fix: 'Make the digest of the bytes that leave, after every middleware that changes them.',
  run: async ({ send }) => {
    const { headers, body } = await send({ headers: { 'accept-encoding': 'identity' } })
    const sent = /sha-256=:([^:]+):/.exec(String(headers['content-digest'] ?? ''))?.[1]
    if (sent === undefined) return skipped('no Content-Digest')
    return createHash('sha256').update(body).digest('base64') === sent ? passed('fits') : failed('is of another body')
  },
}

const identifier: Case = {
  ...{ id: 'identifier-replay', level, needs: ['payment'] },
  title: 'The same payment-identifier brings the same bytes, and nothing for another request',
  why: 'A lost answer is paid for twice, or one identifier opens answers of others.',
  fix: 'Store the answer under the secret identifier, bound to its request; 409 for any other request.',
  run: async (seller) => {
    if (seller.required.extensions['payment-identifier'] === undefined) return skipped('the extension is not offered')
    const payment = await seller.pay(identified(seller))
    const first = await seller.buy(payment)
    if (!isServed(first.status)) return unsold(first)
    seller.bought.push({ payment, body: first.body })
    let again = first
    const charged = await seller.charged(async () => {
      again = await seller.buy(payment)
    })
    if (charged !== undefined && charged > 0n) return failed('charged again for a stored answer')
    if (!isServed(again.status)) return failed(`the stored answer was refused with ${again.status}`)
    if (again.body !== first.body) return failed('other bytes the second time')
    const other = await seller.buy(payment, elsewhere(seller))
    return isServed(other.status)
      ? failed('the identifier opened another request')
      : passed(`same bytes; another request is refused with ${listOf([other.status])}`)
  },
}

const directoryPath = '/.well-known/http-message-signatures-directory'

const signature: Case = {
  ...{ id: 'answer-signature', level, needs: [] },
  title: 'The signature of an answer (RFC 9421), where there is one, fits the answer and a published key',
  why: 'A signature that nobody can check proves nothing in a dispute.',
  fix: `Sign the bytes that leave, and publish the key at ${directoryPath}.`,
  run: async (seller) => {
    const { status, headers, body } = await seller.send({ headers: { 'accept-encoding': 'identity' } })
    if (headers['signature-input'] === undefined) return skipped('answers are not signed')
    const published = await seller.send({ path: directoryPath, method: 'GET', body: undefined })
    if (published.status !== 200) return skipped(`${directoryPath} answered ${published.status}`)
    const received = new Headers()
    for (const [name, value] of Object.entries(headers)) if (value !== undefined) received.set(name, String(value))
    const { method, url } = seller
    const verification = await verifyResponse(
      { method, url: url.href },
      { status, headers: received, body: new TextEncoder().encode(body) },
      { directory: JSON.parse(published.body), nowMs: seller.time.nowMs() },
    )
    if (verification.status === 'verified') return passed(`by the key ${verification.keyId}`)
    if (verification.status === 'unknown_key') return failed(`the key ${verification.keyId} is not published`)
    const reason = verification.status === 'invalid' ? verification.reason : 'unsigned'
    return /form nodes write/.test(reason) ? skipped('signed in another form') : failed(reason)
  },
}

const shortSeconds = 20

const retention: Case = {
  ...{ id: 'retention', level, needs: ['payment'] },
  title: 'The answer of an identified payment is still given after its authorization has expired',
  why: 'A buyer who comes back after a minute has paid for nothing.',
  fix: 'Keep answers under their identifier for days, whatever the authorization says about its own time.',
  run: async (seller) => {
    if (seller.required.extensions['payment-identifier'] === undefined) return skipped('the extension is not offered')
    const { payment, body } = seller.bought[0] ?? (await buyShort(seller))
    if (payment === undefined) return unclear('an honest purchase was not served')
    const ends = Number(decodePayment(payment).payload.authorization['validBefore'])
    await seller.time.waitUntil((ends + 1) * 1_000)
    const again = await seller.buy(payment)
    if (!isServed(again.status)) return failed(`the stored answer was refused with ${again.status}`)
    return again.body === body ? passed('same bytes') : failed('other bytes')
  },
}

async function buyShort(seller: Seller): Promise<{ payment: string | undefined; body: string }> {
  const authorization = { validBefore: inSeconds(seller.time, shortSeconds) }
  const payment = await seller.pay({ ...identified(seller), authorization })
  const { status, body } = await seller.buy(payment)
  return { payment: isServed(status) ? payment : undefined, body }
}

export const evidenceCases: readonly Case[] = [receipt, digest, signature, identifier]
/** Last: by then what was bought before has expired. */
export const retentionCase: Case = retention
