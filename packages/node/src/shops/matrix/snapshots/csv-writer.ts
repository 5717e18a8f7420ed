import { csvText } from './csv-text.ts'

const keptMax = 50_000
const [comma, newLine, point, zero, minus] = [44, 10, 46, 48, 45]
/** Figures with up to so many decimals are written digit by digit; others as the language writes them. */
const decimals = 4
const scale = 10 ** decimals
const exactMax = 1e15
const numberBytesMax = 32

export type CsvColumn = { name: string; values: ArrayLike<string | number | null> }

export type CsvWriter = {
  /** Rows from one to another, in this order. */
  add(from: number, to: number): void
  bytes(): Uint8Array
}

/**
 * CSV straight into bytes. Text that is put together first and encoded then takes several times as long, and neighbours in a
 * row that are as in the row before, such as dates and sources, are copied at once.
 */
export function createCsvWriter(columns: readonly CsvColumn[]): CsvWriter {
  let bytes = Buffer.allocUnsafe(1 << 20)
  let at = 0
  const kept = new Map<string, Buffer>()
  /** Where the cells of the row before begin, and where its line ends. */
  let before = new Int32Array(columns.length + 1)
  let current = new Int32Array(columns.length + 1)

  /** The bytes, with room for so many more. */
  const roomFor = (length: number, from: number) => {
    if (from + length <= bytes.length) return bytes
    const larger = Buffer.allocUnsafe(Math.max(bytes.length * 2, from + length))
    bytes.copy(larger, 0, 0, from)
    bytes = larger
    return larger
  }
  const cellOf = (value: string): Buffer => {
    const found = kept.get(value)
    if (found) return found
    if (kept.size >= keptMax) kept.clear()
    const made = Buffer.from(csvText(value))
    kept.set(value, made)
    return made
  }
  /** What changes with every byte is local here: shared with other functions, each would be read again for each byte. */
  const row = (index: number, start: number): number => {
    let to = start
    let out = bytes
    for (let place = 0; place < columns.length; place += 1) {
      current[place] = to
      const { values } = columns[place] as CsvColumn
      const value = values[index] as string | number | null
      if (index > 0 && before[columns.length] !== 0 && values[index - 1] === value) {
        let last = place
        while (last + 1 < columns.length && sameAsBefore(columns[last + 1] as CsvColumn, index)) last += 1
        const from = before[place] as number
        const length = (before[last + 1] as number) - from
        out = roomFor(length, to)
        out.copyWithin(to, from, from + length)
        for (let skipped = place + 1; skipped <= last; skipped += 1)
          current[skipped] = to + (before[skipped] as number) - from
        to += length
        // The cell behind the last column ends its line.
        place = last
        continue
      }
      if (typeof value === 'number') {
        out = roomFor(numberBytesMax, to)
        to = writeNumber(out, to, value)
      } else if (value !== null && value !== undefined) {
        const cell = cellOf(value)
        out = roomFor(cell.length + 1, to)
        for (let i = 0; i < cell.length; i += 1) out[to + i] = cell[i] as number
        to += cell.length
      } else out = roomFor(1, to)
      out[to++] = place === columns.length - 1 ? newLine : comma
    }
    current[columns.length] = to
    ;[before, current] = [current, before]
    return to
  }
  const header = Buffer.from(`${columns.map(({ name }) => name).join(',')}\n`)
  bytes.set(header)
  at = header.length
  return {
    add: (from, to) => {
      before.fill(0)
      for (let index = from; index < to; index += 1) at = row(index, at)
    },
    bytes: () => bytes.subarray(0, at),
  }
}

const sameAsBefore = ({ values }: CsvColumn, index: number) => values[index] === values[index - 1]

/** As `String` writes it, and nothing for an unknown figure. Where the next byte goes. */
function writeNumber(bytes: Buffer, start: number, value: number): number {
  if (value === (value | 0) && value > 0) return writeWhole(bytes, start, value, 1)
  if (Number.isNaN(value)) return start
  const size = Math.abs(value)
  const scaled = Math.round(size * scale)
  if (!(scaled < exactMax) || scaled / scale !== size) return start + bytes.write(String(value), start, 'latin1')
  let at = start
  if (value < 0) bytes[at++] = minus
  const whole = Math.floor(size)
  at = writeWhole(bytes, at, whole, 1)
  let rest = scaled - whole * scale
  if (rest === 0) return at
  bytes[at++] = point
  let places = decimals
  for (; rest % 10 === 0; rest /= 10) places -= 1
  return writeWhole(bytes, at, rest, places)
}

function writeWhole(bytes: Buffer, at: number, value: number, least: number): number {
  let length = 1
  for (let bound = 10; bound <= value; bound *= 10) length += 1
  if (length < least) length = least
  let place = at + length - 1
  let rest = value
  while (rest > 0x7fffffff) {
    const next = Math.floor(rest / 10)
    bytes[place--] = zero + (rest - next * 10)
    rest = next
  }
  for (let small = rest | 0; place >= at; place -= 1) {
    const next = (small / 10) | 0
    bytes[place] = zero + (small - next * 10)
    small = next
  }
  return at + length
}
