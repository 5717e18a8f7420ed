import type { Regression } from './regressions.ts'
import { runSeed } from './run-seed.ts'

/** Plays them again, with timers that strike on time and late; says what broke. */
export async function playKept(kept: readonly Regression[], say: (text: string) => void = () => {}): Promise<string[]> {
  const broken: string[] = []
  for (const { found, seed, steps } of kept)
    for (const late of [false, true]) {
      const result = await runSeed({ seed, steps, late })
      const said = `${found}${late ? ', with late timers' : ''}`
      if (result.status === 'violated') broken.push(`${said}: ${result.message}`)
      say(`${result.status === 'held' ? 'held  ' : 'BROKEN'} ${said}`)
    }
  return broken
}
