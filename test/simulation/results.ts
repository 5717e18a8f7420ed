import { readFile, rename, writeFile } from 'node:fs/promises'
import type { Played } from './play-seed.ts'

/** What was played with one version of the code, in seeds of one length. */
export type Batch = {
  commit: string
  steps: number
  /** First and last seed of each row of them that held. */
  held: [first: number, last: number][]
  broken: { seed: number; found: string }[]
  /** Of one core. */
  seconds: number
  /** What came about, over all seeds that held. */
  seen: Record<string, number>
}

export const readResults = async (file: string): Promise<Batch[]> => {
  try {
    return JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

/** Whole or not at all: a run may be stopped at any moment. */
export async function writeResults(file: string, batches: readonly Batch[]): Promise<void> {
  const lines = batches.map((batch) => `  ${JSON.stringify(batch)}`)
  await writeFile(`${file}.new`, `[\n${lines.join(',\n')}\n]\n`)
  await rename(`${file}.new`, file)
}

/** A seed that held with an earlier version has been played; one that broke is played again until it holds. */
export const isPlayed = (batches: readonly Batch[], steps: number, seed: number): boolean =>
  batches.some((batch) => batch.steps === steps && batch.held.some(([first, last]) => first <= seed && seed <= last))

export function withPlayed(batches: readonly Batch[], commit: string, steps: number, played: Played): Batch[] {
  const isOurs = (batch: Batch) => batch.commit === commit && batch.steps === steps
  const ours = batches.find(isOurs) ?? { commit, steps, held: [], broken: [], seconds: 0, seen: {} }
  const seed = Number(played.seed)
  const next: Batch = {
    ...ours,
    seconds: Math.round(ours.seconds + played.seconds),
    broken: ours.broken.filter((one) => one.seed !== seed),
  }
  if (played.held) {
    next.held = joined([...ours.held, [seed, seed]])
    next.seen = { ...ours.seen }
    for (const [what, number] of Object.entries(played.seen)) next.seen[what] = (next.seen[what] ?? 0) + number
  } else next.broken.push({ seed, found: played.regression.found })
  return [...batches.filter((batch) => !isOurs(batch)), next]
}

/** Neighbours become one row. */
function joined(rows: [number, number][]): [number, number][] {
  const result: [number, number][] = []
  for (const [first, last] of rows.sort(([a], [b]) => a - b)) {
    const before = result.at(-1)
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last)
    else result.push([first, last])
  }
  return result
}
