import type { Terminal } from './terminal.ts'

/** The result of a command, as one JSON document or as text. */
export function printResult(terminal: Terminal, json: boolean | undefined, value: unknown, text: () => string): void {
  terminal.out(json ? toJson(value) : text())
}

/** bigints as decimal text, as everywhere in our JSON; times as RFC 3339. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? item.toString() : item), 2)
}

export type Column<Row> = { title: string; of(row: Row): string; right?: boolean }

export function table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
  const cells = rows.map((row) => columns.map((column) => column.of(row)))
  const widths = columns.map((column, index) =>
    Math.max(column.title.length, ...cells.map((line) => (line[index] ?? '').length)),
  )
  const format = (line: readonly string[]) =>
    line
      .map((cell, index) => {
        const width = widths[index] ?? 0
        return columns[index]?.right ? cell.padStart(width) : cell.padEnd(width)
      })
      .join('  ')
      .trimEnd()
  return [format(columns.map((column) => column.title)), ...cells.map(format)].join('\n')
}

/** "3 min", for people who want to know how long something has been stuck. */
export function ageText(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000))
  if (seconds < 120) return `${seconds} s`
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`
}

export const shortAddress = (address: string) => `${address.slice(0, 6)}…${address.slice(-4)}`
