import type { Terminal } from './terminal.ts'

/** A terminal that remembers what was said; tests only. */
export type TestTerminal = Terminal & {
  /** All of standard output and standard error so far. */
  stdout(): string
  stderr(): string
  statuses: string[]
  questions: string[]
}

export function createTestTerminal(
  options: {
    env?: NodeJS.ProcessEnv
    interactive?: boolean
    columns?: number
    answer?: boolean
    input?: string
    interrupted?: AbortSignal
  } = {},
): TestTerminal {
  const out: string[] = []
  const err: string[] = []
  const statuses: string[] = []
  const questions: string[] = []
  return {
    env: options.env ?? {},
    interactive: options.interactive ?? false,
    columns: options.columns ?? 80,
    statuses,
    questions,
    stdout: () => out.join(''),
    stderr: () => err.join(''),
    out: (text) => out.push(`${text}\n`),
    outBytes: (bytes) => out.push(Buffer.from(bytes).toString('utf8')),
    say: (text) => err.push(`${text}\n`),
    status: (text) => statuses.push(text),
    confirm: async (question) => {
      questions.push(question)
      return options.answer ?? false
    },
    readInput: async () => Buffer.from(options.input ?? ''),
    untilInterrupted: (work) => work(options.interrupted ?? new AbortController().signal),
  }
}
