import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRpc } from '../../chain/index.ts'
import {
  demoNetwork,
  devnetEndpoint,
  type TestHolder,
  testHolder,
  testPayer,
  testWallets,
} from '../../chain/wallet/wallet.fixture.ts'
import { type Devnet, startDevnet } from '../../devnet/index.ts'
import { systemClock } from '../../kernel/clock.ts'
import { silentLog } from '../../kernel/log.ts'
import { silentMetrics } from '../../kernel/metrics.ts'
import { openTestDatabase, type TestDatabase } from '../../store/testing.ts'
import { paymentOf } from './local.fixture.ts'
import { createLocalFacilitator } from './local-facilitator.ts'

let devnet: Devnet
let store: TestDatabase
let holder: TestHolder
const payers = Array.from({ length: 200 }, (_, i) => testPayer(`p${i}`))

beforeAll(async () => {
  store = await openTestDatabase()
  holder = await testHolder(store.database)
  devnet = await startDevnet({ chainId: 8453, clock: systemClock, log: silentLog, fund: payers.map((p) => p.address) })
})
afterAll(async () => {
  await holder?.die()
  await devnet?.stop()
  await store?.close()
})

describe('local', () => {
  it('settles', async () => {
    const network = demoNetwork(devnet)
    const endpoint = devnetEndpoint(devnet)
    const rpc = createRpc([endpoint])
    const wallets = testWallets({ network, endpoints: [endpoint], database: store.database, holder })
    const facilitator = createLocalFacilitator({
      chains: [{ network, rpc, wallets }],
      clock: systemClock,
      log: silentLog,
      metrics: silentMetrics,
    })
    const signal = new AbortController().signal
    const one = await facilitator.settle(paymentOf(network, payers[0]!), signal)
    expect(one).toMatchObject({ status: 'submitted' })
    for (let round = 0; round < 3; round++) {
      const payments = payers.map((p) => paymentOf(network, p))
      const t = performance.now()
      const all = await Promise.all(payments.map((p) => facilitator.settle(p, signal)))
      console.log('200 in', performance.now() - t, all[0])
      expect(all.filter((o) => o.status === 'submitted').length).toBe(200)
    }
    await wallets.stop()
  })
})
