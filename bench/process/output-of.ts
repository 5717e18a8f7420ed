import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '..', '..')

/** What a program prints; undefined where it is missing or fails. */
export function outputOf(program: string | undefined, args: readonly string[]): string | undefined {
  if (program === undefined) return undefined
  const { status, stdout } = spawnSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  return status === 0 ? stdout : undefined
}
