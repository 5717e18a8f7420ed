import { rm } from 'node:fs/promises'
import { decodeHeader, readAnswer } from '../load/exchange.ts'
import { temporaryHome } from '../process/temporary-home.ts'
import type { Measured, Side } from '../rounds.ts'
import { assertEqual, assertSameShape } from './compare.ts'
import type { Comparison } from './figure.ts'
import { copyToBare, loadInTurn, type PaymentRequired, paidTarget, type Server, type Setup } from './setup.ts'

/** A request without payment: what everybody sees first, and what a flood is made of. */
export async function measureUnpaid(setup: Setup): Promise<Comparison[]> {
  const { assay, bare, hono } = setup
  await copyToBare(setup, paidTarget)
  const sides = [side('assay', assay), side('bare node:http', bare), side('@x402/hono', hono)]
  const [ours, floor, peer] = (await loadInTurn(setup, sides)) as [Measured[], Measured[], Measured[]]
  for (const [round, { sample }] of ours.entries()) {
    assertSameShape(sample, floor[round]?.sample ?? '')
    assertEqual('the terms of payment', termsOf(sample), termsOf(peer[round]?.sample ?? ''))
  }
  return [
    { figure: { name: 'unpaid 402', peer: 'bare node:http', required: 0.7, basis: 'cpu' }, ours, theirs: floor },
    { figure: { name: 'unpaid 402', peer: '@x402/hono', required: 2.5, basis: 'cpu' }, ours, theirs: peer },
    ...(await measureWithoutMpp(setup)),
  ]
}

const side = (name: string, { child, port, host }: Server): Side => ({
  name,
  server: child,
  port,
  plan: { kind: 'same', host, target: paidTarget },
  status: 402,
})

/** Without a separate challenge for each caller, the whole answer is shared. */
async function measureWithoutMpp(setup: Setup): Promise<Comparison[]> {
  const home = await temporaryHome()
  const assay = await setup.startAssay({ ASSAY_HOME: home, MPP: 'false' })
  try {
    await copyToBare({ ...setup, assay }, paidTarget)
    const { bare, hono } = setup
    const sides = [side('assay, MPP off', assay), side('bare node:http', bare), side('@x402/hono', hono)]
    const [ours, floor, peer] = (await loadInTurn(setup, sides)) as [Measured[], Measured[], Measured[]]
    for (const [round, { sample }] of ours.entries()) assertSameShape(sample, floor[round]?.sample ?? '')
    const name = 'unpaid 402, MPP off'
    return [
      { figure: { name, peer: 'bare node:http', required: 0.78, basis: 'cpu' }, ours, theirs: floor },
      { figure: { name, peer: '@x402/hono', required: 3, basis: 'cpu' }, ours, theirs: peer },
    ]
  } finally {
    await assay.child.stop()
    await rm(home, { recursive: true, force: true })
  }
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
