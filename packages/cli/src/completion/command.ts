import type { Command } from 'commander'
import type { AddCommand } from '../command-context.ts'
import { usageError } from '../exit-codes.ts'
import { type CommandWords, shells, writeCompletion } from './write-completion.ts'

export const addCompletion: AddCommand = (program, { terminal }) => {
  program
    .command('completion')
    .summary('Print a shell completion script')
    .argument('<shell>', Object.keys(shells).join(', '))
    .addHelpText('after', `\nExamples:\n${Object.values(shells).join('\n')}`)
    .action((shell: string) => {
      if (!(shell in shells)) throw usageError(`unknown shell: ${shell}`, `One of ${Object.keys(shells).join(', ')}.`)
      terminal.out(writeCompletion(shell as keyof typeof shells, wordsOf(program)))
    })
}

/** Every command by its path, with what may follow it. */
export function wordsOf(command: Command, path: readonly string[] = []): CommandWords[] {
  const options = command.options.flatMap(({ short, long }) => [short, long].filter((flag) => flag !== undefined))
  const commands = command.commands.map((child) => child.name())
  return [
    { path, words: [...commands, ...options, '--help'] },
    ...command.commands.flatMap((child) => wordsOf(child as Command, [...path, child.name()])),
  ]
}
