import type { Terminal } from './terminal.ts'

/** `up` prints its own progress; `mcp` talks to a program, not to a person. */
const silent = /^(?:up|mcp)\b/
/** These serve or follow until they are stopped: once they have spoken, silence means that nothing happens. */
const lasting = /^(?:witness|stream|signer serve|log monitor)\b/

/**
 * A command that says nothing for a second shows that it works, with what it last said of its work. Only where a person
 * looks at a terminal: `status` leaves pipes and files alone.
 */
export function showProgress(
  terminal: Terminal,
  command: string,
  every: (tick: () => void) => () => void = eachHalfSecond,
): { terminal: Terminal; stop(): void } {
  if (silent.test(command)) return { terminal, stop: () => {} }
  let ticks = 0
  let quietTicks = 0
  let asking = false
  let doing = 'working …'
  const stop = every(() => {
    ticks += 1
    quietTicks += 1
    if (quietTicks >= 2 && !asking) terminal.status(`${doing} ${Math.floor(ticks / 2)} s`)
  })
  const heard = <A extends unknown[], R>(speak: (...args: A) => R) => {
    return (...args: A): R => {
      quietTicks = 0
      if (lasting.test(command)) stop()
      return speak(...args)
    }
  }
  return {
    stop,
    terminal: {
      ...terminal,
      out: heard(terminal.out),
      outBytes: heard(terminal.outBytes),
      say: heard(terminal.say),
      status: heard((text) => {
        doing = text
        terminal.status(text)
      }),
      confirm: async (question) => {
        asking = true
        return terminal.confirm(question).finally(() => {
          asking = false
        })
      },
    },
  }
}

function eachHalfSecond(tick: () => void): () => void {
  const timer = setInterval(tick, 500)
  timer.unref()
  return () => clearInterval(timer)
}
