import { execFileSync } from 'node:child_process'
import { startChild } from '../../bench/process/child.ts'
import { testServerVariable } from '../../packages/till/src/store/testing.ts'
import type { Played, SeedWanted } from './play-seed.ts'
import { isPlayed, readResults, withPlayed, writeResults } from './results.ts'

export type ManyWanted = {
  first: number
  seeds: number
  workers: number
  wanted: Omit<SeedWanted, 'seed'>
  /** Seeds that this file has are left out, and each is added as soon as it is done. */
  file: string | undefined
  databaseUrl: string
  onPlayed(played: Played, left: number): Promise<void>
  /** A run that ended by itself, such as by a database that could not be reached: nothing is known of its seed. */
  onLost(seed: string, error: unknown): void
}

/** Options of the engine that this process was started with, such as its memory for young objects. */
const isOfEngine = (option: string) => option.startsWith('--max-')

/** Seeds in several processes at once. It may be stopped at any time and goes on where it was. */
export async function runMany({
  first,
  seeds,
  workers,
  wanted,
  file,
  databaseUrl,
  onPlayed,
  onLost,
}: ManyWanted): Promise<void> {
  const commit = execFileSync('git', ['rev-parse', '--short=12', 'HEAD'], { encoding: 'utf8' }).trim()
  let batches = file === undefined ? [] : await readResults(file)
  const waiting = Array.from({ length: seeds }, (_, place) => first + place).filter(
    (seed) => !isPlayed(batches, wanted.steps, seed),
  )
  let left = waiting.length
  // One after the other, in the order in which they end.
  let ended = Promise.resolve()
  const end = (played: Played) => {
    ended = ended.then(async () => {
      left -= 1
      batches = withPlayed(batches, commit, wanted.steps, played)
      if (file !== undefined) await writeResults(file, batches)
      await onPlayed(played, left)
    })
    return ended
  }
  const startPlayer = () =>
    startChild(
      '../test/simulation/seed-child-main.ts',
      { [testServerVariable]: databaseUrl },
      process.execArgv.filter(isOfEngine),
    )
  const work = async () => {
    let child = await startPlayer()
    try {
      for (let seed = waiting.shift(); seed !== undefined; seed = waiting.shift())
        try {
          await end(await child.ask<Played>('play', { ...wanted, seed: String(seed) }))
        } catch (error) {
          left -= 1
          onLost(String(seed), error)
          await child.stop()
          child = await startPlayer()
        }
    } finally {
      await child.stop()
    }
  }
  await Promise.all(Array.from({ length: Math.min(workers, waiting.length) }, work))
}
