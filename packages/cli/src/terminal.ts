import { createInterface } from 'node:readline/promises'
import { printable } from './printable.ts'

/** Input and output of a command. Results go to standard output, everything else to standard error. */
export type Terminal = {
  env: NodeJS.ProcessEnv
  /** A person can answer questions. */
  interactive: boolean
  /** Width of a line of text; that of a terminal, where there is one. */
  columns: number
  out(text: string): void
  outBytes(bytes: Uint8Array): void
  say(text: string): void
  /** Replaces the previous status line. Nothing is written where standard error is not a terminal. */
  status(text: string): void
  confirm(question: string): Promise<boolean>
  readInput(): Promise<Buffer>
  /** Aborted by Ctrl-C while the work goes on, so that it can end in order. */
  untilInterrupted<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T>
}

export function processTerminal(): Terminal {
  const { stdin, stdout, stderr } = process
  let statusShown = false
  const clear = () => {
    if (statusShown) stderr.write('\r\u001b[2K')
    statusShown = false
  }
  return {
    env: process.env,
    interactive: stdin.isTTY === true && stderr.isTTY === true,
    columns: stdout.isTTY === true && stdout.columns > 0 ? stdout.columns : 80,
    out: (text) => {
      clear()
      stdout.write(`${printable(text)}\n`)
    },
    outBytes: (bytes) => {
      clear()
      if (stdout.isTTY !== true) return void stdout.write(bytes)
      stdout.write(printable(Buffer.from(bytes).toString('utf8')))
      // A prompt after the last byte would look like a part of it.
      if (bytes.at(-1) !== 10) stdout.write('\n')
    },
    say: (text) => {
      clear()
      stderr.write(`${printable(text)}\n`)
    },
    status: (text) => {
      if (stderr.isTTY !== true) return
      clear()
      // One line that fits: what wraps could not be replaced.
      stderr.write(printable(text.split('\n')[0] ?? '').slice(0, (stderr.columns || 80) - 1))
      statusShown = true
    },
    confirm: async (question) => {
      clear()
      const reader = createInterface({ input: stdin, output: stderr })
      try {
        return /^y(es)?$/i.test((await reader.question(`${printable(question)} [y/N] `)).trim())
      } finally {
        reader.close()
      }
    },
    readInput: async () => {
      const chunks: Buffer[] = []
      for await (const chunk of stdin) chunks.push(chunk as Buffer)
      return Buffer.concat(chunks)
    },
    untilInterrupted: async (work) => {
      const controller = new AbortController()
      const stop = () => controller.abort(new Error('interrupted'))
      process.once('SIGINT', stop)
      try {
        return await work(controller.signal)
      } finally {
        process.off('SIGINT', stop)
      }
    },
  }
}
