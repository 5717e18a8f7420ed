import { type BenchTerms, paymentPayload, type SignedPayment } from '../load/sign-payments.ts'
import type { Caller } from './call.ts'

export const paidPath = '/v1/sandbox/echo?message=scale'

/** What the 402 of the sandbox asks for on Base. */
export async function readTerms(caller: Caller, port: number): Promise<BenchTerms> {
  const answer = await caller.get(port, paidPath)
  if (answer.status !== 402) throw new Error(`expected 402, got ${answer.status}: ${answer.body.slice(0, 500)}`)
  const required = JSON.parse(Buffer.from(String(answer.headers['payment-required']), 'base64').toString()) as {
    resource: { url: string }
    accepts: BenchTerms['accepted'][]
  }
  const accepted = required.accepts.find(({ network }) => network === 'eip155:8453')
  if (!accepted) throw new Error('nothing is sold on Base')
  return { resourceUrl: required.resource.url, accepted }
}

/** The header of a payment; with an identifier its answer can be had again. */
export function paymentHeader(terms: BenchTerms, signed: SignedPayment, identifier?: string): string {
  const extensions =
    identifier === undefined
      ? {}
      : { extensions: { 'payment-identifier': { info: { required: false, id: identifier } } } }
  return Buffer.from(JSON.stringify({ ...paymentPayload(terms, signed), ...extensions })).toString('base64')
}
