import { fillText, parsers, worstPieces } from '../../packages/node/src/shops/sources/worst-inputs.fixture.ts'

const bytes = 100_000
const rounds = 8

/** How long the slowest parser of outside text takes for its worst input. That none is worse than linear is a test. */
export function measureParsers() {
  let slowest = { parser: '', piece: '', ms: 0 }
  for (const [parser, parse] of Object.entries(parsers))
    for (const piece of worstPieces) {
      const text = fillText(piece, bytes)
      let ms = Number.POSITIVE_INFINITY
      for (let round = 0; round < rounds; round += 1) {
        const startedMs = performance.now()
        parse(text)
        ms = Math.min(ms, performance.now() - startedMs)
      }
      if (ms > slowest.ms) slowest = { parser, piece: JSON.stringify(piece), ms }
    }
  return { ...slowest, parsers: Object.keys(parsers).length, kilobytes: bytes / 1_000 }
}
