import type { Segment } from './segment.ts'
import { keptTokensMax, readTokens } from './token-stream.ts'
import type { Hit } from './top-hits.ts'

/** Terms of the candidates, each page decoded once: those of candidate `at` are `tokens` from `starts[at]` to `starts[at + 1]`. */
export type CandidateTokens = { tokens: Int32Array; starts: Int32Array }

// One search after the other works in it, so that none of them leaves garbage behind.
let room = new Int32Array(2 ** 16)

export function readCandidates(parts: readonly { segment: Segment }[], hits: readonly Hit[]): CandidateTokens {
  const starts = new Int32Array(hits.length + 1)
  let end = 0
  for (let at = 0; at < hits.length; at += 1) {
    const { segment, doc } = hits[at] as Hit
    if (end + keptTokensMax >= room.length) {
      const wider = new Int32Array(room.length * 2)
      wider.set(room)
      room = wider
    }
    end += readTokens((parts[segment] as { segment: Segment }).segment, doc, room, end)
    starts[at + 1] = end
  }
  return { tokens: room, starts }
}
