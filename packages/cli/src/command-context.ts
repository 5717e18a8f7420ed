import type { Command } from 'commander'
import type { ExitCode } from './exit-codes.ts'
import type { Terminal } from './terminal.ts'

export type CommandContext = {
  terminal: Terminal
  /** For commands that say their result and still did not succeed, such as a failed verification. */
  endWith(code: ExitCode): void
}

/** A group of commands, one file each. */
export type AddCommand = (program: Command, context: CommandContext) => void

export const rawOption = ['--raw', 'print the bytes of the answer as they are, without a newline at the end'] as const

export const jsonOption = ['--json', 'print one JSON document on standard output'] as const
