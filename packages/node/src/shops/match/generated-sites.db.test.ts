import { silentLog } from '@assay/till/kernel/log'
import { expect, test } from 'vitest'
import { openSourceWorld } from '../sources/sources.fixture.ts'
import { askGenerated } from './ask-generated.fixture.ts'
import { openThreadEngine } from './thread-engine-adapter.ts'

// The same at full size: npx tsx bench/corpus/main.ts
test('a corpus of sites with all difficulties answers questions about its pages, refuses the others, and offers nothing that is forbidden', async () => {
  const world = await openSourceWorld()
  const engine = openThreadEngine({ log: silentLog, onLost: () => {} })
  try {
    const { answered, refused, ...rest } = await askGenerated(world, engine, {
      pages: 60,
      perSite: 6,
      questionsMax: 48,
    })
    expect(rest).toMatchObject({ forbiddenOffered: [], copiesOffered: [] })
    expect(answered.size).toBe(8)
    for (const [difficulty, { asked, first }] of answered) expect(first, difficulty).toBe(asked)
    for (const [why, { asked, refused: count }] of refused) expect(count, why).toBe(asked)
  } finally {
    await engine.stop()
    await world.close()
  }
})
