/** Rows of one file, column by column: 12,000 small objects would cost more than the parsing itself. */
export type RowSet = {
  count: number
  /** Canonical symbols; `CIK:…` and `CUSIP:…` where the file names issuers or papers by number. */
  symbols: string[]
  /** The date each row describes, in days since 1970. */
  days: Int32Array
  /** NaN where the publisher gave no value. */
  numbers: Record<string, Float64Array>
  texts: Record<string, (string | null)[]>
}

export type RowWriter = {
  add(symbol: string, day: number): number
  set(column: string, row: number, value: number | null): void
  setText(column: string, row: number, value: string | null): void
  done(): RowSet
}

export function writeRows(
  capacity: number,
  columns: { numbers: readonly string[]; texts?: readonly string[] },
): RowWriter {
  const symbols: string[] = []
  const days = new Int32Array(capacity)
  const numbers = Object.fromEntries(columns.numbers.map((name) => [name, new Float64Array(capacity).fill(Number.NaN)]))
  const texts: Record<string, (string | null)[]> = Object.fromEntries((columns.texts ?? []).map((name) => [name, []]))
  return {
    add: (symbol, day) => {
      days[symbols.length] = day
      for (const name in texts) texts[name]?.push(null)
      return symbols.push(symbol) - 1
    },
    set: (column, row, value) => {
      if (value !== null) (numbers[column] as Float64Array)[row] = value
    },
    setText: (column, row, value) => {
      ;(texts[column] as (string | null)[])[row] = value
    },
    done: () => ({
      count: symbols.length,
      symbols,
      days: days.subarray(0, symbols.length),
      numbers: Object.fromEntries(
        Object.entries(numbers).map(([name, values]) => [name, values.subarray(0, symbols.length)]),
      ),
      texts,
    }),
  }
}
