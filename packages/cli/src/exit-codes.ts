/** What the end of a command means; `assay --help` prints this table. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  refused: 3,
  outcomeUnknown: 4,
  notVerified: 5,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

export const exitCodeTexts: Record<ExitCode, string> = {
  0: 'done',
  1: 'failed; nothing was paid, or the text says what was',
  2: 'wrong use or configuration',
  3: 'refused by policy: price above the limit, terms changed, not confirmed',
  4: 'it is not known whether the payment settled: do not pay again, resume',
  5: 'a signature, a receipt or the books do not verify',
}

/** An end with a text for people: what happened, and what to do next. */
export class CliError extends Error {
  override readonly name = 'CliError'
  readonly exitCode: ExitCode
  readonly code: string
  readonly hint: string | undefined
  readonly details: Readonly<Record<string, unknown>>

  constructor(
    exitCode: ExitCode,
    code: string,
    message: string,
    options: { hint?: string; details?: Record<string, unknown>; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.exitCode = exitCode
    this.code = code
    this.hint = options.hint
    this.details = options.details ?? {}
  }
}

export function usageError(message: string, hint?: string): CliError {
  return new CliError(exitCodes.usage, 'usage', message, hint === undefined ? {} : { hint })
}
