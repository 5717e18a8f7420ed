import { decodeHeader, readAnswer } from '../load/exchange.ts'
import type { Measured, Side } from '../rounds.ts'
import { assertEqual } from './compare.ts'
import { type Figure, figureOf } from './figure.ts'
import { ask, loadInTurn, type PaymentRequired, paidTarget, type Server, type Setting } from './setting.ts'

const loadSecondsMax = 60
const paidConnections = 64

/** A purchase from request to answer, settlement answered in process on both sides. */
export async function measurePaid(setting: Setting): Promise<Figure[]> {
  const { payments } = setting.effort
  const [ours, hono] = (await loadInTurn(
    setting,
    [
      await buyingSide('assay', setting.assay, payments),
      // A fifth of the work is enough to see its speed; it is the rate that is compared.
      await buyingSide('@x402/hono', setting.hono, Math.ceil(payments / 5)),
    ],
    { connections: paidConnections, secondsMax: loadSecondsMax },
  )) as [Measured[], Measured[]]
  for (const [round, { sample }] of ours.entries())
    assertEqual('what was sold', soldIn(sample), soldIn(hono[round]?.sample ?? ''))
  return [figureOf({ name: 'paid', peer: '@x402/hono', required: 5, basis: 'throughput' }, ours, hono)]
}

async function buyingSide(name: string, server: Server, count: number): Promise<Side> {
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
function soldIn(sample: string) {
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
