import { expect, test } from 'vitest'
import { bestAttack, type Market } from './attack-search.fixture.ts'
import { interestPerSide, pointsPerAgent } from './open-interest.ts'

const crowd = { agents: 100, share: 0.1, indexE4: 1_000_000n }

test('what comes back is no cost: an attack of 0.72 USD of searches moves the index by a half, and nothing is open for it', () => {
  // Sixty agents with bonds in a topic of a hundred, for twelve buckets at 0.001 USD: the bonds come back.
  const spentMicro = 60 * 12 * 1_000
  const movedPoints = 100 * (160 / 1_060 / 0.1 - 1)
  expect(movedPoints).toBeGreaterThan(50)
  const limit = interestPerSide(crowd, 12_000n, 20)
  expect(2 * Number(limit) * movedPoints).toBeLessThan(spentMicro)
  expect(limit < 1_000_000n).toBe(true)
})

test('open interest follows the crowd, the price of an agent and the number of topics that fall together', () => {
  expect(pointsPerAgent(crowd)).toEqual({ up: 0.9, down: 0.2 })
  expect(interestPerSide(crowd, 5_001_000n, 1)).toBe(694_583n)
  expect(interestPerSide(crowd, 5_001_000n, 20)).toBe(312_562n)
  expect(interestPerSide({ ...crowd, agents: 10_000 }, 5_001_000n, 20)).toBe(31_256_250n)
  expect(interestPerSide({ ...crowd, share: 1 }, 5_001_000n, 20) > 0n).toBe(true)
})

test('no attack of the search earns within the bounds, for one trader who holds all that may be open', () => {
  const market: Market = { crowds: [400, 250, 120, 60, 30, 30, 20], agentMicro: 5_001_000n }
  const best = bestAttack(market, 1)
  expect(best.profitMicro).toBeLessThanOrEqual(0)
  expect(best.movedPoints).toBeGreaterThan(0)
  // Sold back to the vault, also after a sale to itself, nothing is earned however much is open.
  expect(bestAttack(market, 1_000, ['vault', 'vault after own sale', 'void']).profitMicro).toBeLessThanOrEqual(0)
  // The search is no straw man: with four times the open interest the best attack earns.
  expect(bestAttack(market, 4).profitMicro).toBeGreaterThan(0)
})
