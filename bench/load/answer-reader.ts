const headEnd = Buffer.from('\r\n\r\n')
const lengthNames = [Buffer.from('\r\nContent-Length: '), Buffer.from('\r\ncontent-length: ')]
const chunkedEnd = Buffer.from('\r\n0\r\n\r\n')

/** Finds the end of one HTTP/1.1 answer at a time. Just enough HTTP to be quick: the other side is known. */
export function createAnswerReader(onAnswer: (status: number, bytes: Buffer) => void): (chunk: Buffer) => void {
  let pending: Buffer | undefined
  return (chunk) => {
    const bytes = pending === undefined ? chunk : Buffer.concat([pending, chunk])
    const end = endOf(bytes)
    if (end === undefined) {
      pending = bytes
      return
    }
    // One request is open per connection, so nothing can follow the answer to it.
    if (end !== bytes.length) throw new Error(`${bytes.length - end} bytes behind an answer`)
    pending = undefined
    onAnswer(statusOf(bytes), bytes)
  }
}

function statusOf(bytes: Buffer): number {
  return ((bytes[9] as number) - 48) * 100 + ((bytes[10] as number) - 48) * 10 + (bytes[11] as number) - 48
}

/** Undefined while bytes are missing. */
function endOf(bytes: Buffer): number | undefined {
  const head = bytes.indexOf(headEnd)
  if (head < 0) return undefined
  const body = head + headEnd.length
  for (const name of lengthNames) {
    const at = bytes.indexOf(name)
    if (at < 0 || at > head) continue
    let length = 0
    for (let i = at + name.length; bytes[i] !== 13; i += 1) length = length * 10 + (bytes[i] as number) - 48
    return bytes.length >= body + length ? body + length : undefined
  }
  return bytes.subarray(-chunkedEnd.length).equals(chunkedEnd) ? bytes.length : undefined
}
