import { decodeHeader, readAnswer } from '../load/exchange.ts'
import type { Measured, Side } from '../rounds.ts'
import { assertEqual, assertSameShape } from './compare.ts'
import type { Comparison } from './figure.ts'
import { giveToBare, loadInTurn, type PaymentRequired, paidTarget, type Server, type Setting } from './setting.ts'

/** A request without payment: what everybody sees first, and what a flood is made of. */
export async function measureUnpaid(setting: Setting): Promise<Comparison[]> {
  await giveToBare(setting, paidTarget)
  const side = (name: string, { child, port, host }: Server): Side => ({
    name,
    server: child,
    port,
    plan: { kind: 'same', host, target: paidTarget },
    status: 402,
  })
  const [ours, bare, hono] = (await loadInTurn(setting, [
    side('assay', setting.assay),
    side('bare node:http', setting.bare),
    side('@x402/hono', setting.hono),
  ])) as [Measured[], Measured[], Measured[]]
  for (const [round, { sample }] of ours.entries()) {
    assertSameShape(sample, bare[round]?.sample ?? '')
    assertEqual('the terms of payment', termsOf(sample), termsOf(hono[round]?.sample ?? ''))
  }
  return [
    { figure: { name: 'unpaid 402', peer: 'bare node:http', required: 0.65, basis: 'cpu' }, ours, theirs: bare },
    { figure: { name: 'unpaid 402', peer: '@x402/hono', required: 2.5, basis: 'cpu' }, ours, theirs: hono },
  ]
}

/** What a buyer would sign: it must be the same on both sides. */
export function termsOf(sample: string) {
  const { accepts } = decodeHeader<PaymentRequired>(readAnswer(sample), 'payment-required')
  return accepts.map(({ network, amount, asset, payTo, maxTimeoutSeconds, extra }) => ({
    network,
    amount,
    asset: asset.toLowerCase(),
    payTo: payTo.toLowerCase(),
    maxTimeoutSeconds,
    name: extra.name,
    version: extra.version,
  }))
}
