import { decodeHeader, readAnswer } from '../load/exchange.ts'
import type { Measured, Side } from '../rounds.ts'
import { assertEqual } from './compare.ts'
import type { Comparison } from './figure.ts'
import { ask, loadInTurn, type PaymentRequired, paidTarget, type Server, type Setup } from './setup.ts'

export const loadSecondsMax = 60
export const paidConnections = 200

/** A purchase from request to answer, settlement answered in process on both sides. */
export async function measurePaid(setup: Setup): Promise<Comparison[]> {
  const { payments } = setup.effort
  // A fifth of the work is enough to see a peer's speed; it is the rate that is compared.
  const fewer = Math.ceil(payments / 5)
  const [ours, hono, honoOnce] = (await loadInTurn(
    setup,
    [
      await buyingSide('assay', setup.assay, payments),
      await buyingSide('@x402/hono', setup.hono, fewer),
      await buyingSide('@x402/hono, settle() stubbed', setup.honoOnce, fewer),
    ],
    { connections: paidConnections, secondsMax: loadSecondsMax },
  )) as [Measured[], Measured[], Measured[]]
  for (const [round, { sample }] of ours.entries())
    for (const peer of [hono, honoOnce]) assertEqual('what was sold', soldIn(sample), soldIn(peer[round]?.sample ?? ''))
  const basis = 'throughput'
  return [
    { figure: { name: 'paid', peer: '@x402/hono', required: 8, basis }, ours, theirs: hono },
    { figure: { name: 'paid', peer: '@x402/hono, settle() stubbed', required: 4.3, basis }, ours, theirs: honoOnce },
  ]
}

export async function buyingSide(name: string, server: Server, count: number): Promise<Side> {
  const { resource, accepts } = decodeHeader<PaymentRequired>(await ask(server, paidTarget), 'payment-required')
  const accepted = accepts[0]
  if (!accepted) throw new Error(`${name} offers nothing`)
  const terms = { resourceUrl: resource.url, accepted }
  return {
    name,
    server: server.child,
    port: server.port,
    plan: { kind: 'paid', host: server.host, target: paidTarget, count, terms },
    status: 200,
  }
}

/** The answer's own content and the receipt of it; payer and nonce are random, so only their presence is compared. */
export function soldIn(sample: string) {
  const answer = readAnswer(sample)
  const receipt = decodeHeader<Record<string, unknown>>(answer, 'payment-response')
  return {
    echo: (JSON.parse(answer.body) as { echo: string }).echo,
    success: receipt['success'],
    network: receipt['network'],
    transaction: /^0x[0-9a-f]{64}$/.test(String(receipt['transaction'])),
    payer: /^0x[0-9a-fA-F]{40}$/.test(String(receipt['payer'])),
  }
}
