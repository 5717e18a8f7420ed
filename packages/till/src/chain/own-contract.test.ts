import { expect, test } from 'vitest'
import { systemClock } from '../kernel/clock.ts'
import { ensureDeployed } from './own-contract.ts'
import type { Rpc } from './rpc.ts'
import type { SettlementWallets } from './wallet/index.ts'

test('a chain without the deployer is asked for it every ten minutes, not by every run of every job', async () => {
  let nowMs = 0
  const clock = { ...systemClock, monotonicMs: () => nowMs }
  let asked = 0
  const agreedBatch: Rpc['agreedBatch'] = async (calls) => {
    asked += calls.length
    return calls.map(() => '0x')
  }
  const rpc = { agreedBatch } as Rpc
  const place = { rpc, wallets: {} as SettlementWallets }
  const contracts = ['0x01', '0x02'] as const
  for (let run = 0; run < 20; run += 1) {
    for (const address of contracts)
      expect(await ensureDeployed({ clock }, place, { address, initCode: '0x' })).toBe(false)
    nowMs += 60_000
  }
  expect(asked).toBe(4)
})
