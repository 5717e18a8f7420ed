import type { Hex } from '@assay/protocol/bytes'
import { expect, test } from 'vitest'
import {
  clients,
  operator,
  receiptOf,
  send,
  settler,
  signSettlerTransaction,
  startTestChain,
} from './test-chain.fixture.ts'

const countOf = async (devnet: Awaited<ReturnType<typeof startTestChain>>, tag: string) =>
  Number(await devnet.request('eth_getTransactionCount', [settler.address, tag]))

test('a transaction is in a block when its hash is answered', async () => {
  const devnet = await startTestChain()
  const hash = await send(devnet, await signSettlerTransaction(devnet, { nonce: 0 }))
  expect((await receiptOf(devnet, hash))?.status).toBe('0x1')
})

test('transactions sent at once and out of order are all included, in the order of their nonces', async () => {
  const devnet = await startTestChain()
  const order = [3, 0, 2, 5, 1, 4, 7, 6]
  const raws = await Promise.all(order.map((nonce) => signSettlerTransaction(devnet, { nonce })))
  const hashes = await Promise.all(raws.map((raw) => send(devnet, raw)))
  expect(await countOf(devnet, 'latest')).toBe(8)
  for (const hash of hashes) expect((await receiptOf(devnet, hash))?.status).toBe('0x1')
})

test('a nonce that comes too early waits without its own block until the gap is filled', async () => {
  const devnet = await startTestChain()
  const early = await send(devnet, await signSettlerTransaction(devnet, { nonce: 1 }))
  const { number } = devnet.control.head()
  expect(await receiptOf(devnet, early)).toBeNull()
  expect(await countOf(devnet, 'pending')).toBe(0)
  await send(devnet, await signSettlerTransaction(devnet, { nonce: 0 }))
  expect(await receiptOf(devnet, early)).not.toBeNull()
  expect(devnet.control.head().number).toBe(number + 1)
})

test('a better paying transaction replaces the pending one of the same nonce, a cheaper one is refused', async () => {
  const devnet = await startTestChain()
  await devnet.control.holdMining()
  const first = await send(devnet, await signSettlerTransaction(devnet, { nonce: 0, feeWei: 10_000_000_000n }))
  await expect(
    signSettlerTransaction(devnet, { nonce: 0, feeWei: 10_100_000_000n, value: 1n }).then((raw) => send(devnet, raw)),
  ).rejects.toThrow(/underpriced/i)
  const second = await send(devnet, await signSettlerTransaction(devnet, { nonce: 0, feeWei: 20_000_000_000n }))
  await devnet.control.releaseMining()
  expect(await receiptOf(devnet, first)).toBeNull()
  expect((await receiptOf(devnet, second))?.status).toBe('0x1')
})

test('held transactions stay pending until mined; one of them can be dropped', async () => {
  const devnet = await startTestChain()
  await devnet.control.holdMining()
  const [kept, dropped] = (await Promise.all(
    [0, 1].map(async (nonce) => send(devnet, await signSettlerTransaction(devnet, { nonce }))),
  )) as [Hex, Hex]
  expect(await countOf(devnet, 'pending')).toBe(2)
  expect(await countOf(devnet, 'latest')).toBe(0)
  expect(await devnet.control.dropTransaction(dropped)).toBe(true)
  expect(await devnet.control.dropTransaction(dropped)).toBe(false)
  await devnet.control.mine()
  expect((await receiptOf(devnet, kept))?.status).toBe('0x1')
  expect(await devnet.request('eth_getTransactionByHash', [dropped])).toBeNull()
  await devnet.control.releaseMining()
  expect(await countOf(devnet, 'latest')).toBe(1)
})

test('refusals use the words that clients match on', async () => {
  const devnet = await startTestChain()
  await send(devnet, await signSettlerTransaction(devnet, { nonce: 0 }))
  await expect(
    signSettlerTransaction(devnet, { nonce: 0, value: 2n }).then((raw) => send(devnet, raw)),
  ).rejects.toThrow(/nonce too low/i)
  const poor = signSettlerTransaction(devnet, { nonce: 1, value: 10n ** 30n })
  await expect(poor.then((raw) => send(devnet, raw))).rejects.toThrow(/insufficient funds/)
  const early = await signSettlerTransaction(devnet, { nonce: 5 })
  await send(devnet, early)
  await expect(send(devnet, early)).rejects.toThrow('already known')
  await expect(devnet.request('eth_sendRawTransaction', ['nonsense'])).rejects.toThrow('hex')
  await expect(devnet.request('hardhat_reset')).rejects.toMatchObject({ code: -32601 })
})

test('more transactions than fit in one block all get in', async () => {
  const devnet = await startTestChain()
  const raws = await Promise.all(
    [0, 1, 2, 3, 4].map((nonce) => signSettlerTransaction(devnet, { nonce, gas: 45_000_000n })),
  )
  await Promise.all(raws.map((raw) => send(devnet, raw)))
  expect(await countOf(devnet, 'latest')).toBe(5)
})

test('unlocked demo accounts can send without signing, others cannot', async () => {
  const devnet = await startTestChain()
  const { reader } = clients(devnet)
  const [from] = (await devnet.request('eth_accounts')) as Hex[]
  const hash = (await devnet.request('eth_sendTransaction', [{ from, to: settler.address, value: '0x1' }])) as Hex
  expect((await reader.getTransactionReceipt({ hash })).status).toBe('success')
  const stranger = { from: `0x${'77'.repeat(20)}`, to: operator }
  await expect(devnet.request('eth_sendTransaction', [stranger])).rejects.toThrow('unknown account')
})

test('a settlement costs the same after a thousand empty blocks as before', async () => {
  const devnet = await startTestChain()
  const { reader } = clients(devnet)
  const before = await reader.estimateFeesPerGas()
  await devnet.control.mine(1_000)
  const after = await reader.estimateFeesPerGas()
  expect(after).toEqual(before)
  expect(after.maxFeePerGas).toBeLessThan(1_000_000_000n)
  const history = await reader.getFeeHistory({ blockCount: 4, rewardPercentiles: [50] })
  expect(history.baseFeePerGas.at(-1)).toBe(5_000_000n)
})
