/** Text put together as UTF-8 bytes, so that each piece is turned into bytes once and its length known at once. */
export type TextBuffer = { add(text: string): void; length(): number; bytes(head?: Buffer): Buffer }

const pieceBytes = 256 * 1024
/** A UTF-16 unit takes at most three bytes. */
const bytesPerUnitMax = 3

/** In pieces: a buffer that doubles would leave twice its last size behind for every snapshot. */
export function createTextBuffer(): TextBuffer {
  const full: Buffer[] = []
  let piece = Buffer.alloc(0)
  let used = 0
  let before = 0
  return {
    add: (text) => {
      const most = text.length * bytesPerUnitMax
      if (used + most > piece.length) {
        full.push(piece.subarray(0, used))
        before += used
        piece = Buffer.allocUnsafe(Math.max(most, pieceBytes))
        used = 0
      }
      used += piece.write(text, used)
    },
    length: () => before + used,
    bytes: (head = Buffer.alloc(0)) => Buffer.concat([head, ...full, piece.subarray(0, used)]),
  }
}
