/** Number of the first migration that the rule holds for: before it there was one process and nobody to leave behind. */
const firstBound = 100

/** What the process of the version before would stumble over while it goes on selling. */
const breaking: readonly [RegExp, string][] = [
  [/\bdrop\s+(table|view|function|type|schema)\b/i, 'drops something'],
  [/\bdrop\s+column\b/i, 'drops a column'],
  [/\brename\s+(to|column|constraint)\b/i, 'renames something'],
  [/\balter\s+column\s+\S+\s+(set\s+data\s+)?type\b/i, 'changes the type of a column'],
  [/\balter\s+column\s+\S+\s+set\s+not\s+null\b/i, 'forbids nulls that the version before may write'],
  [
    /\badd\s+column\s+(?:if\s+not\s+exists\s+)?\S+\s+(?![^,;]*\b(default|generated)\b)[^,;]*\bnot\s+null\b/i,
    'adds a column that the version before does not fill',
  ],
]

const contractMark = /^-- contract: .{10,}$/m

/**
 * Expand and contract: a migration adds, and takes nothing away that the version before uses, since that version goes on
 * running until its last process is replaced. What takes something away comes a version later and says so in a line
 * `-- contract: <since when nothing uses it>`.
 */
export function breaksRunningVersion({ name, text }: { name: string; text: string }): string[] {
  if (Number(name.slice(0, 4)) < firstBound || contractMark.test(text)) return []
  // Functions and triggers are replaced as a whole, and may drop what they made themselves.
  const plain = text.replace(/\$(\w*)\$[\s\S]*?\$\1\$/g, '').replace(/--.*$/gm, '')
  const own = new Set(
    [...plain.matchAll(/\bcreate\s+table\s+(?:if\s+not\s+exists\s+)?(\w+)/gi)].map(([, table]) => table),
  )
  return plain
    .split(';')
    .filter((statement) => !own.has(/\balter\s+table\s+(?:only\s+)?(\w+)/i.exec(statement)?.[1]))
    .flatMap((statement) => breaking.filter(([pattern]) => pattern.test(statement)).map(([, what]) => what))
}
