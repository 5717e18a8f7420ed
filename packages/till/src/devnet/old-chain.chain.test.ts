import { expect, test } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { silentLog } from '../kernel/log.ts'
import { useFolder } from '../kernel/use-folder.fixture.ts'
import { startDevnet } from './index.ts'

test('a chain can begin as old as a real one, and comes back so from its journal', async () => {
  const folder = useFolder('old-chain')
  const options = { chainId: 8453, folder, emptyBlocks: 53_000_000, clock: systemClock, log: silentLog }
  const chain = await startDevnet(options)
  await chain.control.mine(3)
  const { removed } = await chain.control.reorg(2)
  expect(removed).toHaveLength(2)
  const { number, hash, timestamp } = chain.control.head()
  expect(number).toBeGreaterThan(53_000_000)
  const old = (await chain.request('eth_getBlockByNumber', ['0x1e8480', false])) as { timestamp: string }
  expect(Number(old.timestamp)).toBeLessThan(timestamp - 100_000_000)
  await chain.stop()
  const again = await startDevnet(options)
  expect(again.control.head()).toEqual({ number, hash, timestamp })
  await again.stop()
})
