import type { Hex } from '@assay/protocol/bytes'
import { expect, test } from 'vitest'
import { clients, receiptOf, send, signSettlerTransaction, startTestChain } from './test-chain.fixture.ts'

async function chainWithThreePayments() {
  const devnet = await startTestChain()
  const hashes: Hex[] = []
  for (const nonce of [0, 1, 2])
    hashes.push(await send(devnet, await signSettlerTransaction(devnet, { nonce, value: 1n })))
  return { devnet, hashes: hashes as [Hex, Hex, Hex] }
}

test('a reorg gives the same transactions other blocks', async () => {
  const { devnet, hashes } = await chainWithThreePayments()
  const before = await Promise.all(hashes.map((hash) => receiptOf(devnet, hash)))
  const { removed, added, dropped } = await devnet.control.reorg(2)
  const after = await Promise.all(hashes.map((hash) => receiptOf(devnet, hash)))
  expect(removed).toEqual([before[1]?.blockHash, before[2]?.blockHash])
  expect(added).toHaveLength(3)
  expect(dropped).toEqual([])
  expect(after[0]?.blockHash).toBe(before[0]?.blockHash)
  expect(after.slice(1).map((receipt) => receipt?.blockHash)).toEqual(added.slice(0, 2))
  for (const hash of removed) expect(await devnet.request('eth_getBlockByHash', [hash, false])).toBeNull()
})

test('a reorg can drop a transaction; what depended on it waits for it again', async () => {
  const { devnet, hashes } = await chainWithThreePayments()
  const { dropped } = await devnet.control.reorg(2, { drop: [hashes[1]] })
  expect(dropped).toEqual([hashes[1]])
  expect(await receiptOf(devnet, hashes[1])).toBeNull()
  expect(await receiptOf(devnet, hashes[2])).toBeNull()
  await send(devnet, await signSettlerTransaction(devnet, { nonce: 1, value: 1n }))
  expect(await receiptOf(devnet, hashes[1])).not.toBeNull()
  expect(await receiptOf(devnet, hashes[2])).not.toBeNull()
})

test('a reorg can put transactions back into the mempool, or drop all of them', async () => {
  const { devnet, hashes } = await chainWithThreePayments()
  await devnet.control.holdMining()
  await devnet.control.reorg(1, { transactions: 'return_to_mempool' })
  expect(await receiptOf(devnet, hashes[2])).toBeNull()
  expect(await devnet.request('eth_getTransactionByHash', [hashes[2]])).toMatchObject({ blockNumber: null })
  await devnet.control.releaseMining()
  expect(await receiptOf(devnet, hashes[2])).not.toBeNull()
  const { dropped } = await devnet.control.reorg(devnet.control.head().number - 1, { transactions: 'drop' })
  expect(dropped).toEqual(hashes)
  for (const hash of hashes) expect(await devnet.request('eth_getTransactionByHash', [hash])).toBeNull()
})

test('repeated reorgs of one height never bring an old block back', async () => {
  const { devnet } = await chainWithThreePayments()
  const seen = new Set<Hex>()
  for (let time = 0; time < 5; time += 1) {
    const { added } = await devnet.control.reorg(1, { newBlocks: 1 })
    for (const hash of added) {
      expect(seen.has(hash)).toBe(false)
      seen.add(hash)
    }
  }
  await expect(devnet.control.reorg(99)).rejects.toThrow('a reorg can replace')
})

test('state set outside of transactions survives a reorg', async () => {
  const { devnet } = await chainWithThreePayments()
  const address = `0x${'99'.repeat(20)}`
  await devnet.control.mine()
  await devnet.request('hardhat_setCode', [address, '0x6001'])
  await devnet.control.mine()
  await devnet.control.reorg(2)
  expect(await devnet.request('eth_getCode', [address, 'latest'])).toBe('0x6001')
})

test('snapshot and revert undo transactions', async () => {
  const { devnet } = await chainWithThreePayments()
  const { tester } = clients(devnet)
  const before = devnet.control.head()
  const id = await tester.snapshot()
  const hash = await send(devnet, await signSettlerTransaction(devnet, { nonce: 3 }))
  await tester.revert({ id })
  expect(devnet.control.head()).toEqual(before)
  expect(await receiptOf(devnet, hash)).toBeNull()
  expect(await devnet.request('evm_revert', [id])).toBe(false)
})

test('safe and finalized lag behind latest as configured, in every method that takes a block', async () => {
  const { devnet, hashes } = await chainWithThreePayments()
  const { reader } = clients(devnet)
  expect((await reader.getBlock({ blockTag: 'finalized' })).hash).toBe(devnet.control.head().hash)
  devnet.control.setFinalityLag(2)
  const latest = await reader.getBlockNumber()
  const finalized = await reader.getBlock({ blockTag: 'finalized' })
  expect(finalized.number).toBe(latest - 2n)
  expect(finalized.transactions).toEqual([hashes[0]])
  expect((await reader.getBlock({ blockTag: 'safe' })).number).toBe(latest - 2n)
  const address = (await reader.getTransaction({ hash: hashes[0] })).from
  expect(await reader.getTransactionCount({ address, blockTag: 'finalized' })).toBe(1)
  expect(await reader.getTransactionCount({ address })).toBe(3)
  expect(await reader.getLogs({ address: devnet.usdc, fromBlock: 0n, toBlock: 'finalized' })).not.toHaveLength(0)
  devnet.control.setFinalityLag(1_000)
  await expect(reader.getBlock({ blockTag: 'finalized' })).rejects.toThrow()
})

test('armed faults strike the next calls only, before or after the work is done', async () => {
  const { devnet } = await chainWithThreePayments()
  devnet.control.failNext('eth_chainId', { times: 2, error: { code: -32005, message: 'limit exceeded' } })
  for (let time = 0; time < 2; time += 1)
    await expect(devnet.request('eth_chainId')).rejects.toMatchObject({ code: -32005, message: 'limit exceeded' })
  expect(await devnet.request('eth_chainId')).toBe('0x2105')
  const raw = await signSettlerTransaction(devnet, { nonce: 3 })
  devnet.control.failNext('eth_sendRawTransaction', { when: 'after' })
  await expect(send(devnet, raw)).rejects.toThrow('fault made by a test')
  expect(devnet.control.head().number).toBe(5)
})
