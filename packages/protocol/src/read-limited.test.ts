import { expect, test } from 'vitest'
import { readLimited } from './read-limited.ts'

/** A body in pieces, and how many of them were taken. */
function bodyOf(...pieces: string[]) {
  const seen = { taken: 0, cancelled: false }
  const left = [...pieces]
  const stream = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        const piece = left.shift()
        if (piece === undefined) return controller.close()
        seen.taken += 1
        controller.enqueue(new TextEncoder().encode(piece))
      },
      cancel: () => {
        seen.cancelled = true
      },
    },
    { highWaterMark: 0 },
  )
  return { seen, stream }
}

const text = (read: Uint8Array | 'too_large') => (read === 'too_large' ? read : new TextDecoder().decode(read))

async function* iterated(...pieces: string[]) {
  for (const piece of pieces) yield new TextEncoder().encode(piece)
}

test('a body up to its limit is read whole, whatever its pieces', async () => {
  expect(text(await readLimited(bodyOf('ab', '', 'cde').stream, 5))).toBe('abcde')
  expect(text(await readLimited(iterated('ab', 'cde'), 5))).toBe('abcde')
  expect(await readLimited(null, 5)).toEqual(new Uint8Array(0))
  expect(await readLimited(undefined, 0)).toEqual(new Uint8Array(0))
})

test('one byte more is too large, and the rest is never taken', async () => {
  const { seen, stream } = bodyOf('abc', 'def', 'ghi', 'jkl')
  expect(await readLimited(stream, 5)).toBe('too_large')
  expect(seen).toEqual({ taken: 2, cancelled: true })
  expect(await readLimited(iterated('abc', 'def'), 5)).toBe('too_large')
})
