import { refuse, shown } from './refused.ts'

/** The index of each named column. Columns are found by name, because publishers add and move them. */
export function findColumns<Name extends string, Optional extends string = never>(
  header: string,
  delimiter: string,
  required: readonly Name[],
  optional: readonly Optional[] = [],
): { at: Record<Name, number> & Record<Optional, number | undefined>; width: number } {
  const names = splitRow(header, delimiter).map(normalizeName)
  const at: Record<string, number | undefined> = {}
  for (const name of [...required, ...optional]) {
    const wanted = normalizeName(name)
    const found = names.indexOf(wanted)
    if (found >= 0 && names.indexOf(wanted, found + 1) >= 0) refuse('header', `the column ${name} occurs twice`)
    if (found < 0 && (required as readonly string[]).includes(name))
      refuse('header', `the column ${name} is missing; the header is ${shown(header)}`)
    at[name] = found < 0 ? undefined : found
  }
  return { at: at as Record<Name, number> & Record<Optional, number | undefined>, width: names.length }
}

const normalizeName = (name: string) => name.trim().toLowerCase().replace(/\s+/g, ' ')

/** Cells of a row; the empty cell behind a trailing delimiter is dropped. */
export function splitRow(line: string, delimiter: string): string[] {
  const cells = line.split(delimiter)
  if (cells.length > 1 && cells[cells.length - 1] === '') cells.pop()
  return cells
}

/** A row must have the width of its header, give or take the empty cell behind a trailing delimiter. */
export function cellsOf(line: string, delimiter: string, width: number, lineNumber: number): string[] {
  const cells = line.split(delimiter)
  if (cells.length === width) return cells
  if (cells.length === width + 1 && cells[width] === '') {
    cells.pop()
    return cells
  }
  return refuse('row', `line ${lineNumber} has ${cells.length} cells instead of ${width}`)
}
