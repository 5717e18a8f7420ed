import { expect, test } from 'vitest'
import { startTestChain } from '../../devnet/test-chain.ts'
import type { Address } from '../../kernel/address.ts'
import { createChecker } from '../checker.ts'
import { endpointOf, readerOver, rpcOf } from '../reader.fixture.ts'
import { seedDemoTokens } from './seed-tokens.ts'

test('the demo shows every verdict, each read completely', async () => {
  const chain = await startTestChain()
  const started = performance.now()
  const tokens = await seedDemoTokens(rpcOf(chain), 8453, Math.floor(Date.now() / 1000))
  console.log('seed ms', performance.now() - started)
  const checker = createChecker(readerOver([endpointOf(chain)]))
  for (const token of tokens) {
    const s = performance.now()
    const { judgement, meter } = await checker.check(token.address.toLowerCase() as Address)
    console.log(
      token.key,
      token.address,
      judgement.verdict,
      judgement.complete,
      JSON.stringify(judgement.missing),
      judgement.flags.map((f) => f.code).join(','),
      JSON.stringify(meter),
      Math.round(performance.now() - s),
    )
    console.log(
      '   ',
      Object.entries(judgement.powers)
        .map(([n, p]) => `${n}=${p.state}`)
        .join(' '),
    )
    expect(token.what.split(':')[0]).toBe(judgement.verdict)
  }
})
