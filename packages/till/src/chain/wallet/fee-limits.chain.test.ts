import { expect, test } from 'vitest'
import { count, open, outcomeOf, rowsOf, transfer, until, useWallets, world } from './use-wallets.fixture.ts'
import { alarmsInto } from './wallet.fixture.ts'

useWallets()

test('a stuck transaction is replaced for ever', async () => {
  const alarms: string[] = []
  const metrics = alarmsInto(alarms)
  let polls = 0
  const counted: typeof world.endpoint = {
    ...world.endpoint,
    send: (calls) => {
      polls += calls.filter(({ method }) => method === 'eth_getTransactionReceipt').length
      return world.endpoint.send(calls)
    },
  }
  const wallets = open({ metrics, endpoints: [counted], limits: { stuckMs: 40, replacementsMax: 3 } })
  await world.devnet.control.holdMining()
  const result = await wallets.send(transfer())
  const versions = async () => (await rowsOf(wallets))[0]?.earlier_hashes.length ?? 0
  await until(() => alarms.includes('transaction_stuck'), 'reported')
  const before = polls
  await until(() => polls >= before + 10, 'polled ten times')
  expect(await versions()).toBe(3)
  expect(alarms).toEqual(['transaction_stuck'])
  // It goes on waiting, and is mined once there is room.
  await world.devnet.control.releaseMining()
  expect((await outcomeOf(result)).status).toBe('mined')
})

test('a transaction that costs more than what it moves allows is not sent, and its replacements stop there', async () => {
  const alarms: string[] = []
  const metrics = alarmsInto(alarms)
  const wallets = open({ metrics, limits: { stuckMs: 40, replacementsMax: 50 } })
  const refused = await wallets.send(transfer({ costMicroMax: 1n }))
  expect(refused).toMatchObject({ status: 'not_sent', reason: 'fees_too_high' })
  expect(alarms).toEqual(['fees_too_high'])
  expect(await count(wallets)).toBe(0)
  await world.devnet.control.holdMining()
  // 150,000 gas at about 0.011 gwei and 10,000 USD per coin are 0.0165 USD.
  const result = await wallets.send(transfer({ costMicroMax: 22_000n }))
  await until(() => alarms.includes('transaction_stuck'), 'reported')
  expect((await rowsOf(wallets))[0]?.earlier_hashes.length).toBeLessThan(5)
  await world.devnet.control.releaseMining()
  expect((await outcomeOf(result)).status).toBe('mined')
})

test('nonces come from the chain after a restore that lost the last transactions', async () => {
  const wallets = open()
  for (let round = 0; round < 3; round += 1) await outcomeOf(await wallets.send(transfer()))
  await wallets.stop()
  await world.store.owner.query(`delete from settlement_transaction where wallet = any($1) and nonce > 0`, [
    wallets.addresses,
  ])
  await world.store.owner.query(
    `update settlement_transaction set state = 'signed', mined_hash = null where wallet = any($1)`,
    [wallets.addresses],
  )
  const restored = open()
  await restored.recoverWallets()
  const result = await restored.send(transfer())
  expect(result).toMatchObject({ status: 'sent', nonce: 3n })
  expect((await outcomeOf(result)).status).toBe('mined')
  expect(await count(restored)).toBe(4)
})
