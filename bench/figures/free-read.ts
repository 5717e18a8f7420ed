import type { RequestPlan } from '../load/requests.ts'
import type { Measured, Side } from '../rounds.ts'
import { notePath } from '../sides/notes-shop.ts'
import { assertSameShape } from './compare.ts'
import type { Comparison } from './figure.ts'
import { copyToBare, loadInTurn, type Server, type Setup } from './setup.ts'

const firstNote = `${notePath}/${'0'.repeat(40)}`
/** Its own note for every request, so no two of these share a signature. */
const newNote = `${notePath}/{n}`

/** A free answer: given again while it was just signed, and signed again for every request. */
export async function measureFreeRead(setup: Setup): Promise<Comparison[]> {
  await copyToBare(setup, firstNote)
  const again = await against(setup, (host) => ({ kind: 'same', host, target: firstNote }))
  const fresh = await against(setup, (host) => ({ kind: 'distinct', host, target: newNote }))
  const peer = 'bare node:http'
  return [
    { figure: { name: 'free read, just signed', peer, required: 0.6, basis: 'cpu' }, ...again },
    { figure: { name: 'free read, newly signed', peer, required: 0.36, basis: 'cpu' }, ...fresh },
  ]
}

async function against(setup: Setup, planFor: (host: string) => RequestPlan): Promise<Omit<Comparison, 'figure'>> {
  const side = (name: string, { child, port, host }: Server): Side => ({
    name,
    server: child,
    port,
    plan: planFor(host),
    status: 200,
  })
  const [ours, bare] = (await loadInTurn(setup, [side('assay', setup.assay), side('bare', setup.bare)])) as [
    Measured[],
    Measured[],
  ]
  for (const [round, { sample }] of ours.entries()) assertSameShape(sample, bare[round]?.sample ?? '')
  return { ours, theirs: bare }
}
