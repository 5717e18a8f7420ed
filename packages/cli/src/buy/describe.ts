import type { AssayResult, Progress, Quote } from '@assay/sdk'
import { formatUsd } from '@assay/sdk'
import { shortAddress } from '../output.ts'
import type { Wallet } from './choose-wallet.ts'
import { networkNames } from './network-names.ts'

export function networkTitle(network: string): string {
  const name = Object.entries(networkNames).find(([, caip2]) => caip2 === network)?.[0]
  return name === undefined ? network : `${name} (${network})`
}

export function quoteText(quote: Quote, method: string, wallet: Wallet): string {
  const line = (label: string, text: string) => `  ${label.padEnd(16)}${text}`
  return [
    `${quote.priceUsd} USDC on ${networkTitle(quote.network)}`,
    line('for', `${method} ${quote.resource}`),
    ...(quote.description === '' ? [] : [line('', oneLine(quote.description))]),
    line('to', quote.payTo),
    line('from', `${wallet.account.address} (${wallet.label})`),
    line('payment method', quote.why),
    ...(quote.advice === undefined ? [] : [line('', quote.advice)]),
    `  ${quote.bound ? 'the payment is bound to this request' : 'the seller does not bind payments to requests'}`,
  ].join('\n')
}

/** Text of a stranger: it must not move the cursor or colour the screen. */
export function oneLine(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes
  return text.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ').slice(0, 300)
}

export function progressText(progress: Progress): string | undefined {
  if (progress.kind === 'paying') return 'paying …'
  if (progress.kind !== 'waiting') return undefined
  const why = progress.code ?? (progress.status === undefined ? 'no answer' : `status ${progress.status}`)
  return `${why}: the same payment is sent again in ${(progress.delayMs / 1000).toFixed(1)} s (try ${progress.attempt + 1}) …`
}

/** The seller's public name of the payment, where the answer carries it. */
export function paymentIdOf(body: unknown): string | undefined {
  const id = (body as { payment_id?: unknown } | null | undefined)?.payment_id
  return typeof id === 'string' && /^pay_[0-9a-z]{26}$/.test(id) ? id : undefined
}

export function receiptText(result: AssayResult, payTo: string | undefined, body: unknown): string {
  const { payment, verified, receipt, purchase } = result
  const id = paymentIdOf(body)
  const parts = [
    ...(payment.status === 'settled'
      ? [
          `paid ${formatUsd(BigInt(payment.amountMicro))} USDC on ${networkTitle(payment.network)}` +
            (payTo === undefined ? '' : ` to ${shortAddress(payTo)}`),
          ...(id === undefined ? [] : [`payment ${id}`]),
          `transaction ${payment.transaction}`,
        ]
      : []),
    ...(payment.status === 'drawn'
      ? [
          `drew ${formatUsd(BigInt(payment.amountMicro))} USD from ${purchase?.channel ? 'the payment channel' : 'credit'}`,
          ...(payment.leftMicro === undefined ? [] : [`${formatUsd(BigInt(payment.leftMicro))} USD left`]),
        ]
      : []),
    ...(payment.status === 'unconfirmed' ? [`the settlement is not confirmed: ${payment.reason}`] : []),
    ...(payment.status === 'none' ? ['this cost nothing'] : []),
    verified.status === 'verified'
      ? `signature verified (key ${verified.keyId.slice(0, 8)}…)`
      : `not verified: ${whyNot(verified)}`,
    ...(receipt === undefined
      ? []
      : [receipt.status === 'verified' ? 'receipt verified' : `receipt: ${receipt.reason}`]),
  ]
  return parts.join(' · ')
}

function whyNot(verified: Exclude<AssayResult['verified'], { status: 'verified' }>): string {
  if (verified.status === 'unsigned') return 'the seller does not sign'
  return verified.status === 'unknown_key' ? 'the key is not published' : verified.reason
}
