import { join } from 'node:path'
import { median } from '../percentiles.ts'
import { startChild } from '../process/child.ts'
import { alternate, ratioOf } from '../rounds.ts'
import type { Figure } from './figure.ts'

const payers = 200

type Settled = { seconds: number; reported: number; onChain: number }

/** Many payments at once, settled on its own embedded chain by each side. */
export async function measureSettling(home: string, rounds: number): Promise<Figure[]> {
  const env = { PAYERS: String(payers) }
  const ours = await startChild('sides/settle-assay.ts', { ...env, ASSAY_HOME: join(home, 'settling') })
  try {
    const peer = await startChild('sides/settle-peer.ts', env)
    try {
      const settle = (name: string, child: typeof ours) => async () => allOf(name, await child.ask<Settled>('settle'))
      const sides = [settle('assay', ours), settle('@x402/core', peer)]
      await alternate(1, sides)
      return [figureFrom(await alternate(rounds, sides))]
    } finally {
      await peer.stop()
    }
  } finally {
    await ours.stop()
  }
}

/** Believed from the token's own events, not from what the facilitator says. */
function allOf(name: string, { seconds, reported, onChain }: Settled): number {
  if (reported !== payers || onChain !== payers)
    throw new Error(`${name} reports ${reported} and the chain ${onChain} of ${payers} payments settled`)
  return seconds
}

function figureFrom([ours = [], theirs = []]: number[][]): Figure {
  const ratio = ratioOf(theirs, ours)
  const words = (seconds: readonly number[]) => `${payers} in ${median(seconds).toFixed(2)} s`
  return {
    name: `local settling, ${payers} at once`,
    peer: '@x402/core facilitator',
    required: 3,
    ratio: ratio.median,
    spread: ratio.spread,
    basis: 'time',
    ours: words(ours),
    theirs: words(theirs),
  }
}
