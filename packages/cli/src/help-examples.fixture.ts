import type { Command } from 'commander'

/** The lines below `Example:` in the help of every command, without the word `assay`; tests only. */
export function helpExamples(command: Command): string[] {
  const text: string[] = []
  command.configureOutput({ writeOut: (part) => text.push(part) })
  command.outputHelp()
  const own = [...text.join('').matchAll(/^ {2}(?:[A-Z_]+=\S+ )*assay ([a-z].*)$/gm)].map(
    ([, line = '']) => line.split(/ {3,}/)[0] ?? '',
  )
  return [...own, ...command.commands.flatMap((child) => helpExamples(child as Command))]
}
