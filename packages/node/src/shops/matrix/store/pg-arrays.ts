/**
 * PostgreSQL's binary form of one-dimensional arrays. A buffer goes over the wire as it is, so neither side formats or
 * parses 12,000 numbers as text.
 */
const oids = { int4: 23, float4: 700, float8: 701, text: 25, date: 1082 } as const
const headBytes = 20
/** PostgreSQL counts its dates from the year 2000. */
const dateEpoch = 10_957

function head(count: number, oid: number, bytes: number): { buffer: Buffer; view: DataView } {
  const buffer = Buffer.allocUnsafe(headBytes + bytes)
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength)
  view.setInt32(0, 1)
  view.setInt32(4, 1)
  view.setInt32(8, oid)
  view.setInt32(12, count)
  view.setInt32(16, 1)
  return { buffer, view }
}

export const int4Array = (values: ArrayLike<number>) => wholeArray(values, oids.int4, 0)

/** From days since 1970. */
export const dateArray = (days: ArrayLike<number>) => wholeArray(days, oids.date, dateEpoch)

function wholeArray(values: ArrayLike<number>, oid: number, minus: number): Buffer {
  const { buffer, view } = head(values.length, oid, values.length * 8)
  for (let i = 0, at = headBytes; i < values.length; i += 1, at += 8) {
    view.setInt32(at, 4)
    view.setInt32(at + 4, (values[i] as number) - minus)
  }
  return buffer
}

/** NaN stays what it is. */
export function float4Array(values: Float32Array): Buffer {
  const { buffer, view } = head(values.length, oids.float4, values.length * 8)
  for (let i = 0, at = headBytes; i < values.length; i += 1, at += 8) {
    view.setInt32(at, 4)
    view.setFloat32(at + 4, values[i] as number)
  }
  return buffer
}

/** NaN becomes null. */
export function float8Array(values: ArrayLike<number>): Buffer {
  const { buffer, view } = head(values.length, oids.float8, values.length * 12)
  let at = headBytes
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i] as number
    if (Number.isNaN(value)) {
      view.setInt32(at, -1)
      at += 4
    } else {
      view.setInt32(at, 8)
      view.setFloat64(at + 4, value)
      at += 12
    }
  }
  return buffer.subarray(0, at)
}

export function textArray(values: readonly (string | null)[]): Buffer {
  let bytes = 0
  for (const value of values) bytes += 4 + (value === null ? 0 : Buffer.byteLength(value))
  const { buffer, view } = head(values.length, oids.text, bytes)
  let at = headBytes
  for (const value of values) {
    if (value === null) {
      view.setInt32(at, -1)
      at += 4
    } else {
      const length = buffer.write(value, at + 4)
      view.setInt32(at, length)
      at += 4 + length
    }
  }
  return buffer
}

/** The other way: several arrays, one behind the other, as `string_agg(array_send(…))` gives them. */
function readArrays(bytes: Buffer, element: (index: number, at: number, length: number) => void): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let index = 0
  for (let at = 0; at < bytes.length; ) {
    const dimensions = view.getInt32(at)
    const count = dimensions === 0 ? 0 : view.getInt32(at + 12)
    at += dimensions === 0 ? 12 : headBytes
    for (let i = 0; i < count; i += 1, index += 1) {
      const length = view.getInt32(at)
      element(index, at + 4, length)
      at += 4 + Math.max(0, length)
    }
  }
}

export function int4Values(bytes: Buffer, values: Int32Array): Int32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  readArrays(bytes, (index, at) => {
    values[index] = view.getInt32(at)
  })
  return values
}

export function dayValues(bytes: Buffer, values: Int32Array): Int32Array {
  int4Values(bytes, values)
  for (let i = 0; i < values.length; i += 1) values[i] = (values[i] as number) + dateEpoch
  return values
}

export function float8Values(bytes: Buffer, values: Float64Array): Float64Array {
  values.fill(Number.NaN)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  readArrays(bytes, (index, at, length) => {
    if (length === 8) values[index] = view.getFloat64(at)
  })
  return values
}

export function textValues(bytes: Buffer, count: number): (string | null)[] {
  const values = new Array<string | null>(count).fill(null)
  readArrays(bytes, (index, at, length) => {
    if (length >= 0) values[index] = bytes.toString('utf8', at, at + length)
  })
  return values
}
