/**
 * PostgreSQL's binary form of one-dimensional arrays. A buffer goes over the wire as it is, so neither side formats or
 * parses 12,000 numbers as text.
 */
const oids = { int4: 23, float8: 701, text: 25 } as const

function head(count: number, oid: number, bytes: number): Buffer {
  const buffer = Buffer.allocUnsafe(20 + bytes)
  buffer.writeInt32BE(1, 0)
  buffer.writeInt32BE(1, 4)
  buffer.writeInt32BE(oid, 8)
  buffer.writeInt32BE(count, 12)
  buffer.writeInt32BE(1, 16)
  return buffer
}

export function int4Array(values: ArrayLike<number>): Buffer {
  const buffer = head(values.length, oids.int4, values.length * 8)
  for (let i = 0, at = 20; i < values.length; i += 1, at += 8) {
    buffer.writeInt32BE(4, at)
    buffer.writeInt32BE(values[i] as number, at + 4)
  }
  return buffer
}

/** NaN becomes null. */
export function float8Array(values: ArrayLike<number>): Buffer {
  const buffer = head(values.length, oids.float8, values.length * 12)
  let at = 20
  for (let i = 0; i < values.length; i += 1) {
    const value = values[i] as number
    if (Number.isNaN(value)) at = buffer.writeInt32BE(-1, at)
    else {
      buffer.writeInt32BE(8, at)
      buffer.writeDoubleBE(value, at + 4)
      at += 12
    }
  }
  return buffer.subarray(0, at)
}

export function textArray(values: readonly (string | null)[]): Buffer {
  let bytes = 0
  for (const value of values) bytes += 4 + (value === null ? 0 : Buffer.byteLength(value))
  const buffer = head(values.length, oids.text, bytes)
  let at = 20
  for (const value of values) {
    if (value === null) at = buffer.writeInt32BE(-1, at)
    else {
      const length = buffer.write(value, at + 4)
      buffer.writeInt32BE(length, at)
      at += 4 + length
    }
  }
  return buffer
}

/** The other way: what `string_agg(int4send(…))` and `string_agg(float8send(…))` give. */
export function int4Values(bytes: Buffer): Int32Array {
  const values = new Int32Array(bytes.length / 4)
  for (let i = 0; i < values.length; i += 1) values[i] = bytes.readInt32BE(i * 4)
  return values
}

export function float8Values(bytes: Buffer): Float64Array {
  const values = new Float64Array(bytes.length / 8)
  for (let i = 0; i < values.length; i += 1) values[i] = bytes.readDoubleBE(i * 8)
  return values
}
