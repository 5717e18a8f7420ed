import { type Clock, systemClock } from '@assay/till/kernel/clock'

type Screen = { isTTY?: boolean; write(text: string): unknown }

const clearLine = '\r\u001b[2K'

/** What a start does, a line each. On a terminal a step that takes longer than a second also shows that it goes on. */
export function showStart(
  screen: Screen = process.stderr,
  clock: Pick<Clock, 'sleep'> = systemClock,
): { say(text: string): void; end(): void } {
  const ended = new AbortController()
  let counting = false
  const clear = () => {
    if (counting) screen.write(clearLine)
    counting = false
  }
  const count = async () => {
    for (let seconds = 1; ; seconds += 1) {
      await clock.sleep(1_000, ended.signal)
      screen.write(`${clearLine}  starting … ${seconds} s`)
      counting = true
    }
  }
  if (screen.isTTY) count().catch(() => {})
  return {
    say: (text) => {
      clear()
      screen.write(`  ${text}\n`)
    },
    end: () => {
      ended.abort()
      clear()
    },
  }
}
