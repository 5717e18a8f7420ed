import { open } from 'node:fs/promises'
import type { Clock } from '../kernel/clock.ts'
import { readTextIfThere, writeDurably } from '../kernel/durable-file.ts'

/** What each key signed within a day, on disk: a signer that is started again has spent what it spent. */
export type SpendingJournal = {
  /** False: the day has no room for it. The same digest is counted once, however often it is asked for. */
  spend(key: string, digest: string, amount: bigint, perDayMax: bigint): Promise<boolean>
  close(): Promise<void>
}

type Line = { at: number; key: string; digest: string; amount: string }

const dayMs = 86_400_000

export async function openJournal(path: string, clock: Clock): Promise<SpendingJournal> {
  const kept = (await readLines(path)).filter(({ at }) => at > clock.nowMs() - dayMs)
  await writeDurably(path, kept.map((line) => `${JSON.stringify(line)}\n`).join(''), 0o600)
  const file = await open(path, 'a', 0o600)
  let lines = kept
  let last: Promise<unknown> = Promise.resolve()
  const spend = async (key: string, digest: string, amount: bigint, perDayMax: bigint) => {
    const nowMs = clock.nowMs()
    lines = lines.filter(({ at }) => at > nowMs - dayMs)
    const own = lines.filter((line) => line.key === key)
    if (own.some((line) => line.digest === digest)) return true
    if (own.reduce((sum, line) => sum + BigInt(line.amount), amount) > perDayMax) return false
    const line: Line = { at: nowMs, key, digest, amount: amount.toString() }
    await file.appendFile(`${JSON.stringify(line)}\n`)
    await file.datasync()
    lines.push(line)
    return true
  }
  return {
    // One after the other: two requests must not share the room that one of them has.
    spend: (...request) => {
      const turn = last.then(() => spend(...request))
      last = turn.catch(() => {})
      return turn
    },
    close: async () => {
      await last
      await file.close()
    },
  }
}

/** A line that broke off was never answered for. */
async function readLines(path: string): Promise<Line[]> {
  const text = (await readTextIfThere(path)) ?? ''
  return text.split('\n').flatMap((line) => {
    try {
      return line === '' ? [] : [JSON.parse(line) as Line]
    } catch {
      return []
    }
  })
}
