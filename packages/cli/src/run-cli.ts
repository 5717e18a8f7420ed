import { CommanderError } from 'commander'
import { keepPurchase } from './buy/keep-purchase.ts'
import { type ExitCode, exitCodes, usageError } from './exit-codes.ts'
import { withKeyIdLast } from './operator/keys.ts'
import { createProgram } from './program.ts'
import { errorDocument, reportError, toCliError } from './report-error.ts'
import { showProgress } from './show-progress.ts'
import type { Terminal } from './terminal.ts'

/** Runs one command line to its end and gives the exit code. */
export async function runCli(args: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let ended: ExitCode = exitCodes.ok
  const shown = showProgress(terminal, args.filter((arg) => !arg.startsWith('-')).join(' '))
  const program = createProgram({
    terminal: shown.terminal,
    endWith: (code) => {
      ended = code
    },
  })
  try {
    await program.parseAsync(withKeyIdLast(args), { from: 'user' })
    return ended
  } catch (error) {
    const json = args.includes('--json')
    if (error instanceof CommanderError) {
      // It has already said what is wrong, or shown the help that was asked for.
      if (error.exitCode === 0) return exitCodes.ok
      if (json) terminal.out(errorDocument(usageError(error.message.replace(/^error: /, ''))))
      return exitCodes.usage
    }
    const known = toCliError(await keepPurchase(error))
    reportError(terminal, json, known)
    return known.exitCode
  } finally {
    shown.stop()
    terminal.status('')
  }
}
