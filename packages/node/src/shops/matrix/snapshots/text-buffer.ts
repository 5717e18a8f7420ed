/** Text put together as UTF-8 bytes, so that each piece is turned into bytes once and its length known at once. */
export type TextBuffer = { add(text: string): void; length(): number; bytes(): Buffer }

const firstBytes = 1024 * 1024
/** A UTF-16 unit takes at most three bytes. */
const bytesPerUnitMax = 3

export function createTextBuffer(): TextBuffer {
  let buffer = Buffer.allocUnsafe(firstBytes)
  let length = 0
  return {
    add: (text) => {
      const most = length + text.length * bytesPerUnitMax
      if (most > buffer.length) {
        const larger = Buffer.allocUnsafe(Math.max(most, buffer.length * 2))
        buffer.copy(larger, 0, 0, length)
        buffer = larger
      }
      length += buffer.write(text, length)
    },
    length: () => length,
    bytes: () => buffer.subarray(0, length),
  }
}
