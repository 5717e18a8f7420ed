import { expect, test } from 'vitest'
import { createMatchIndex } from './match-index.ts'
import { readQuery } from './read-query.ts'
import { defaultRescoring } from './rescore.ts'

const page = { domain: 'a.test', title: '', language: '', licence: '', type: 'html', day: 0 }
const feedbackAlone = { ...defaultRescoring, latent: 0, proximity: 0, neighbours: 0, feedback: 0.2, feedbackPages: 3 }

/** The share of feedback of each page, by its place in `texts`, among pages about other things. */
function feedbackOf(texts: readonly string[], query: string): number[] {
  const index = createMatchIndex({ rescoring: feedbackAlone })
  const others = Array.from({ length: 50 }, (_, at) => `other${at} things${at} entirely${at} here${at}`)
  index.add([...texts, ...others].map((text, at) => ({ ...page, pageId: at + 1, text })))
  const { candidates } = index.search(readQuery(query), {}, 200)
  return texts.map((_, at) => candidates.find(({ pageId }) => pageId === at + 1)?.parts['feedback'] ?? 0)
}

test('pages gain by what several of the best share, not by what only one of them says', () => {
  const [, , , shared = 0, peculiar = 0, neither = 0] = feedbackOf(
    [
      'sourdough sourdough sourdough starter oven',
      'sourdough sourdough sourdough starter flour',
      'sourdough sourdough sourdough starter water',
      'sourdough starter morning evening noon',
      'sourdough oven morning evening noon',
      'sourdough birthday morning evening noon',
    ],
    'sourdough',
  )
  expect(shared).toBeGreaterThan(neither)
  expect(peculiar).toBe(neither)
})

test('what the first pages say counts more than what the last of the best say', () => {
  const [, , , first = 0, last = 0] = feedbackOf(
    [
      'sourdough sourdough sourdough sourdough starter oven',
      'sourdough sourdough sourdough starter oven flour flour',
      'sourdough sourdough oven flour morning evening noon',
      'sourdough starter morning evening noon night dawn',
      'sourdough flour morning evening noon night dawn',
    ],
    'sourdough',
  )
  expect(first).toBeGreaterThan(last)
})
