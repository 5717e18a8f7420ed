import { createHash } from 'node:crypto'
import type { Address, Hex } from 'viem'
import { type Case, failed, isServed, listOf, notJudged, passed, unclear } from '../case.ts'
import type { Answer } from '../seller/send.ts'
import { identified } from './buy-through.ts'

const level = 'L5' as const

type Receipt = { success?: unknown; transaction?: unknown; network?: unknown; payer?: unknown }

function receiptOf({ headers }: Answer): Receipt | undefined {
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
    if (!isServed(answer.status)) return unclear(`an honest purchase was answered with ${answer.status}`)
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
    if (sent === undefined) return notJudged('no Content-Digest')
    return createHash('sha256').update(body).digest('base64') === sent ? passed('fits') : failed('is of another body')
  },
}

const identifier: Case = {
  ...{ id: 'identifier-replay', level, needs: ['payment'] },
  title: 'The same payment-identifier brings the same bytes, and nothing for another request',
  why: 'A lost answer is paid for twice, or one identifier opens answers of others.',
  fix: 'Store the answer under the secret identifier, bound to its request; 409 for any other request.',
  run: async (seller) => {
    if (seller.required.extensions['payment-identifier'] === undefined) return notJudged('the extension is not offered')
    const payment = await seller.pay(identified(seller))
    const first = await seller.buy(payment)
    if (!isServed(first.status)) return unclear(`an honest purchase was answered with ${first.status}`)
    let again = first
    const charged = await seller.charged(async () => {
      again = await seller.buy(payment)
    })
    if (charged !== undefined && charged > 0n) return failed('charged again for a stored answer')
    if (!isServed(again.status)) return failed(`the stored answer was refused with ${again.status}`)
    if (again.body !== first.body) return failed('other bytes the second time')
    const { pathname, search } = seller.url
    const other = await seller.buy(payment, { path: `${pathname}${search === '' ? '?other=1' : `${search}x`}` })
    return isServed(other.status)
      ? failed('the identifier opened another request')
      : passed(`same bytes; another request is refused with ${listOf([other.status])}`)
  },
}

export const evidenceCases: readonly Case[] = [receipt, digest, identifier]
