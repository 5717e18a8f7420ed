import { rm } from 'node:fs/promises'
import { decodeHeader, readAnswer } from '../load/exchange.ts'
import { temporaryHome } from '../process/temporary-home.ts'
import type { Measured, Side } from '../rounds.ts'
import { assertEqual, assertSameShape } from './compare.ts'
import type { Comparison } from './figure.ts'
import { giveToBare, loadInTurn, type PaymentRequired, paidTarget, type Server, type Setting } from './setting.ts'

/** A request without payment: what everybody sees first, and what a flood is made of. */
export async function measureUnpaid(setting: Setting): Promise<Comparison[]> {
  const { assay, bare, hono } = setting
  await giveToBare(setting, paidTarget)
  const sides = [side('assay', assay), side('bare node:http', bare), side('@x402/hono', hono)]
  const [ours, floor, peer] = (await loadInTurn(setting, sides)) as [Measured[], Measured[], Measured[]]
  for (const [round, { sample }] of ours.entries()) {
    assertSameShape(sample, floor[round]?.sample ?? '')
    assertEqual('the terms of payment', termsOf(sample), termsOf(peer[round]?.sample ?? ''))
  }
  return [
    { figure: { name: 'unpaid 402', peer: 'bare node:http', required: 0.7, basis: 'cpu' }, ours, theirs: floor },
    { figure: { name: 'unpaid 402', peer: '@x402/hono', required: 2.5, basis: 'cpu' }, ours, theirs: peer },
    await measureWithoutMpp(setting),
  ]
}

const side = (name: string, { child, port, host }: Server): Side => ({
  name,
  server: child,
  port,
  plan: { kind: 'same', host, target: paidTarget },
  status: 402,
})

/** Without challenges of its own for each caller, the whole answer is shared. */
async function measureWithoutMpp(setting: Setting): Promise<Comparison> {
  const home = await temporaryHome()
  const assay = await setting.startAssay({ ASSAY_HOME: home, MPP: 'false' })
  try {
    await giveToBare({ ...setting, assay }, paidTarget)
    const sides = [side('assay, MPP off', assay), side('bare node:http', setting.bare)]
    const [ours, theirs] = (await loadInTurn(setting, sides)) as [Measured[], Measured[]]
    for (const [round, { sample }] of ours.entries()) assertSameShape(sample, theirs[round]?.sample ?? '')
    return {
      figure: { name: 'unpaid 402, MPP off', peer: 'bare node:http', required: 0.78, basis: 'cpu' },
      ours,
      theirs,
    }
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
