/** Undefined unless the bytes are exactly `count` entries, each after its length in two bytes. */
export function parseEntryBundle(bytes: Buffer, count: number): Buffer[] | undefined {
  const entries: Buffer[] = []
  let at = 0
  while (entries.length < count) {
    if (at + 2 > bytes.length) return undefined
    const end = at + 2 + bytes.readUInt16BE(at)
    if (end > bytes.length) return undefined
    entries.push(bytes.subarray(at + 2, end))
    at = end
  }
  return at === bytes.length ? entries : undefined
}

/** The bytes of the first `count` entries, or undefined when there are fewer. */
export function cutEntryBundle(bytes: Buffer, count: number): Buffer | undefined {
  let at = 0
  for (let entry = 0; entry < count; entry += 1) {
    if (at + 2 > bytes.length) return undefined
    at += 2 + bytes.readUInt16BE(at)
  }
  return at <= bytes.length ? bytes.subarray(0, at) : undefined
}
