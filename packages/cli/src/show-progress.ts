import type { Terminal } from './terminal.ts'

/** These serve or follow until they are stopped, and say themselves what they do. */
const lasting = /^(?:up|mcp|witness|stream|signer serve|log monitor)\b/

/**
 * A command that says nothing for a second shows that it works. Only where a person looks at a terminal: `status`
 * leaves pipes and files alone.
 */
export function showProgress(
  terminal: Terminal,
  command: string,
  every: (tick: () => void) => () => void = eachSecond,
): { terminal: Terminal; stop(): void } {
  if (lasting.test(command)) return { terminal, stop: () => {} }
  let seconds = 0
  let quiet = true
  let asking = false
  const heard = <A extends unknown[], R>(speak: (...args: A) => R) => {
    return (...args: A): R => {
      quiet = false
      return speak(...args)
    }
  }
  const stop = every(() => {
    seconds += 1
    if (quiet && !asking) terminal.status(`working … ${seconds} s`)
    quiet = true
  })
  return {
    stop,
    terminal: {
      ...terminal,
      out: heard(terminal.out),
      outBytes: heard(terminal.outBytes),
      say: heard(terminal.say),
      status: heard(terminal.status),
      confirm: async (question) => {
        asking = true
        return terminal.confirm(question).finally(() => {
          asking = false
        })
      },
    },
  }
}

function eachSecond(tick: () => void): () => void {
  const timer = setInterval(tick, 1_000)
  timer.unref()
  return () => clearInterval(timer)
}
