import type { Address } from '@assay/protocol/address'
import { startTestChain } from '@assay/till/devnet/test-chain.fixture'
import { nowSeconds, systemClock } from '@assay/till/kernel/clock'
import { expect, test } from 'vitest'
import { createChecker } from '../checker.ts'
import { endpointOf, readerOver, rpcOf } from '../reader.fixture.ts'
import { extendWithB20 } from './b20-chain.ts'
import { seedDemoTokens } from './seed-tokens.ts'

test('the demo shows every verdict as it promises, each read in at most three round trips of views', async () => {
  const chain = await startTestChain({ extensions: [extendWithB20] })
  const tokens = await seedDemoTokens(rpcOf(chain), 8453, nowSeconds(systemClock))
  const checker = createChecker(readerOver([endpointOf(chain)]))
  for (const token of tokens) {
    const { evaluation, meter } = await checker.check(token.address.toLowerCase() as Address)
    expect(token.what.split(':')[0]).toBe(evaluation.verdict)
    expect(evaluation.complete).toBe(token.key !== 'later-variant')
    expect(meter.views).toBeLessThanOrEqual(3)
  }
})

test('seeding again makes nothing new', async () => {
  const chain = await startTestChain({ extensions: [extendWithB20] })
  const first = await seedDemoTokens(rpcOf(chain), 8453, nowSeconds(systemClock))
  const { number } = chain.control.head()
  expect(await seedDemoTokens(rpcOf(chain), 8453, nowSeconds(systemClock))).toEqual(first)
  expect(chain.control.head().number - number).toBeLessThanOrEqual(1)
})
