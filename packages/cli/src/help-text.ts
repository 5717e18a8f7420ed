import { type Command, Help, type HelpConfiguration } from 'commander'

/** The first sentence of what a command says about itself. */
export const purposeOf = (command: Command) => (command.summary() || command.description()).split(/\.(?:\s|$)/)[0] ?? ''

/** Beyond this, lines of prose are hard to read. */
export const helpWidth = (columns: number) => Math.min(columns, 100)

type Described = { description: string; defaultValue?: unknown; defaultValueDescription?: string | undefined }

/** A default is shown as it is typed; one that says nothing, such as an empty list, is left out. */
function describe({ description, defaultValue, defaultValueDescription }: Described): string {
  const isPlain = typeof defaultValue === 'string' || typeof defaultValue === 'number'
  const shown = defaultValueDescription ?? (isPlain ? String(defaultValue) : undefined)
  return shown === undefined ? description : `${description} (default: ${shown})`
}

/** How every command lays out its help: within the terminal, one sentence for each command of a group. */
export const helpLayout: HelpConfiguration = {
  minWidthToWrap: 20,
  // Where a text is broken in its source is no place to break it on a screen.
  commandDescription: (command) => (command.description() || command.summary()).replaceAll('\n', ' '),
  subcommandTerm: (command) => Help.prototype.subcommandTerm(command).replace(' [options]', ''),
  subcommandDescription: purposeOf,
  // `assay help buy` works too, but one way is enough to show.
  visibleCommands: (command) =>
    Help.prototype.visibleCommands.call(new Help(), command).filter((child) => child.name() !== 'help'),
  optionDescription: describe,
  argumentDescription: describe,
  padWidth: (command, helper) =>
    Math.min(Help.prototype.padWidth.call(helper, command, helper), Math.floor((helper.helpWidth ?? 80) * 0.4)),
  formatItem: (term, termWidth, description, helper) => {
    const indent = ' '.repeat(termWidth + 4)
    const [first, ...rest] = wrap(description, (helper.helpWidth ?? 80) - indent.length)
    const others = rest.map((line) => indent + line)
    // A name too long for its column gets a separate line.
    const head =
      term.length > termWidth ? [`  ${term}`, `${indent}${first}`] : [`  ${term.padEnd(termWidth)}  ${first}`]
    return [...head, ...others].join('\n')
  },
}

/** Examples and notes below the options, broken where they do not fit; a command so that it can still be pasted. */
export function fitLines(text: string, width: number): string {
  return text
    .split('\n')
    .flatMap((line) => (line.length <= width ? [line] : fitLine(line, width)))
    .join('\n')
}

function fitLine(line: string, width: number): string[] {
  const [, indent = '', rest = ''] = /^( *)(.*)$/.exec(line) ?? []
  if (/^(?:[A-Z_]+=\S+ )*assay /.test(rest)) {
    const lines = wrap(rest, width - indent.length - 4, /(?:'[^']*'|"[^"]*"|\S)+/g)
    return lines.map((part, n) => `${indent}${n === 0 ? '' : '  '}${part}${n === lines.length - 1 ? '' : ' \\'}`)
  }
  // A column of names, and what each means.
  const [, name = '', meaning = ''] = /^(.*? {3,})(\S.*)$/.exec(rest) ?? []
  const below = ' '.repeat(indent.length + name.length)
  return wrap(meaning || rest, width - below.length).map((part, n) => (n === 0 ? indent + name : below) + part)
}

function wrap(text: string, width: number, words = /\S+/g): string[] {
  const lines: string[] = []
  for (const word of text.match(words) ?? []) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
