import type { IncomingMessage } from 'node:http'
import type { FacilitatorFault } from '../facilitator/faults.ts'
import { type CredentialDocument, decodeCredential } from '../seller/mpp.ts'
import { decodePayment, type PaymentDocument } from '../seller/sign-payment.ts'
import { decodePermit, type PermitDocument } from '../seller/sign-permit.ts'
import { decodeVoucher, type VoucherDocument } from '../seller/sign-voucher.ts'
import type { PaymentFacts } from './payment-facts.ts'

/** A request as a mistake sees it. */
export type Asked = {
  method: string
  target: string
  headers: Record<string, string>
  body: string
  /** Tells connections apart. */
  connection: string
  payment: PaymentDocument | undefined
  /** A payment by MPP. */
  credential: CredentialDocument | undefined
  /** A payment by Permit2. */
  permit: PermitDocument['payload'] | undefined
  /** A payment through a channel. */
  channel: VoucherDocument | undefined
  /** What the correct seller takes. */
  asset: string
  lastFault(): Promise<FacilitatorFault | null>
  /** What the chain and the facilitator know of a payment. */
  facts(payment: PaymentDocument): Promise<PaymentFacts>
  /** Whether the settlement with this nonce was held. */
  wasHeld(nonce: string): Promise<boolean>
  /** Unix seconds. */
  now(): number
  /** How often the seller was started again. */
  restarts: number
  /** The caller hung up before it was answered. */
  isGone(): boolean
  correct: Sell
}

export type Given = { status: number; headers: Record<string, string>; body: string }
export type Sell = (asked: Asked) => Promise<Given>

/** One mistake of a seller, in front of a correct one. */
export type Mistake = (sell: Sell) => Sell

export const isServed = ({ status }: Given) => status >= 200 && status < 300

/** Changes what a correct seller would answer. */
export const answers =
  (change: (given: Given, asked: Asked) => Given | Promise<Given>): Mistake =>
  (sell) =>
  async (asked) =>
    change(await sell(asked), asked)

export const nonceOf = ({ payment }: Asked) => payment?.payload.authorization.nonce.toLowerCase()

export const freeAnswer: Given = {
  status: 200,
  headers: { 'content-type': 'application/json', 'cache-control': 'private, no-store' },
  body: JSON.stringify({ echo: 'an answer that nobody paid for' }),
}

/** Undefined for what is not a payment. */
const readable = <Document>(read: () => Document | undefined): Document | undefined => {
  try {
    return read()
  } catch {
    return undefined
  }
}

const paymentIn = (header: string): PaymentDocument | undefined => {
  const document = decodePayment(header)
  return typeof document.payload?.authorization === 'object' ? document : undefined
}

const credentialIn = (header: string): CredentialDocument | undefined => {
  const document = decodeCredential(header)
  return typeof document.challenge?.id === 'string' && document.payload ? document : undefined
}

const permitIn = (header: string): PermitDocument['payload'] | undefined => {
  const { payload } = decodePermit(header)
  return typeof payload?.permit2Authorization === 'object' ? payload : undefined
}

export async function readAsked(
  request: IncomingMessage,
  known: Pick<Asked, 'asset' | 'lastFault' | 'facts' | 'wasHeld' | 'now' | 'restarts' | 'isGone' | 'correct'>,
): Promise<Asked> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(', ') : (value ?? ''),
    ]),
  )
  return {
    ...known,
    ...{ method: request.method ?? 'GET', target: request.url ?? '/', headers },
    body: Buffer.concat(chunks).toString('utf8'),
    connection: `${request.socket.remotePort}`,
    payment: readable(() => paymentIn(headers['payment-signature'] ?? '')),
    credential: readable(() => credentialIn(headers['authorization'] ?? '')),
    permit: readable(() => permitIn(headers['payment-signature'] ?? '')),
    channel: readable(() => decodeVoucher(headers['payment-signature'] ?? '')),
  }
}

/** The payment as it was sent. */
export const textOf = ({ headers }: Asked) => headers['payment-signature'] ?? ''

export const hasIdentifier = ({ payment }: Asked) => payment?.['extensions'] !== undefined

export const unpaid = (given: Given): Given => ({ ...given, status: 402 })

export const without = (given: Given, name: string): Given => {
  const { [name]: _, ...headers } = given.headers
  return { ...given, headers }
}

export const withHeader = (given: Given, name: string, change: (value: string) => string): Given => {
  const value = given.headers[name]
  return value === undefined ? given : { ...given, headers: { ...given.headers, [name]: change(value) } }
}

const inBase64 = (change: (text: string) => string) => (value: string) =>
  Buffer.from(change(Buffer.from(value, 'base64').toString('utf8'))).toString('base64')

const inJson = <T>(change: (value: T) => T) => inBase64((text) => JSON.stringify(change(JSON.parse(text) as T)))

/** As our own correct seller writes them. */
type TermsOfSeller = {
  resource: { url: string }
  accepts: { amount: string; extra: Record<string, unknown> }[]
}

/** The terms of a 402, changed. */
export const withTerms = (given: Given, change: (terms: TermsOfSeller) => TermsOfSeller): Given =>
  withHeader(given, 'payment-required', inJson(change))

type Receipt = Record<string, unknown>

export const withReceipt = (given: Given, change: (receipt: Receipt) => Receipt): Given =>
  withHeader(given, 'payment-response', inJson(change))
