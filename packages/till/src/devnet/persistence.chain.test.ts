import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Hex } from '@assay/protocol/bytes'
import { expect, test } from 'vitest'
import { joinProgram } from '../kernel/join-program.fixture.ts'
import { useFolder } from '../kernel/use-folder.fixture.ts'
import type { Devnet } from './index.ts'
import { receiptOf, send, signSettlerTransaction, startTestChain } from './test-chain.fixture.ts'

function dataFolder(): { folder: string; journal: string } {
  const folder = useFolder('devnet-data')
  return { folder, journal: join(folder, 'chain-8453.journal') }
}

async function blockHashes(devnet: Devnet): Promise<Hex[]> {
  const hashes: Hex[] = []
  for (let number = 0; number <= devnet.control.head().number; number += 1) {
    const block = await devnet.request('eth_getBlockByNumber', [`0x${number.toString(16)}`, false])
    hashes.push((block as { hash: Hex }).hash)
  }
  return hashes
}

test('transactions, state changes, reverts and reorgs are all there after a restart, with the same block hashes', async () => {
  const { folder } = dataFolder()
  const first = await startTestChain({ folder })
  const address = `0x${'99'.repeat(20)}`
  for (const nonce of [0, 1, 2]) await send(first, await signSettlerTransaction(first, { nonce, value: 1n }))
  await first.request('hardhat_setCode', [address, '0x6001'])
  await first.request('hardhat_setStorageAt', [address, '0x0', `0x${'01'.padStart(64, '0')}`])
  await first.request('evm_mine')
  const snapshot = await first.request('evm_snapshot')
  await send(first, await signSettlerTransaction(first, { nonce: 3 }))
  await first.request('evm_revert', [snapshot])
  await first.control.reorg(2)
  await Promise.all([3, 4, 5].map(async (nonce) => send(first, await signSettlerTransaction(first, { nonce }))))
  const before = await blockHashes(first)
  await first.stop()

  const second = await startTestChain({ folder })
  expect(await blockHashes(second)).toEqual(before)
  expect(await second.request('eth_getCode', [address, 'latest'])).toBe('0x6001')
  expect(Number(await second.request('eth_getStorageAt', [address, '0x0', 'latest']))).toBe(1)
  await send(second, await signSettlerTransaction(second, { nonce: 6 }))
})

test('after kill -9 in mid-write every answered transaction is there and the chain goes on', async () => {
  const { folder } = dataFolder()
  let answered: Hex[] = []
  const program = await joinProgram(fileURLToPath(new URL('./persistence-child.ts', import.meta.url)))
  for (const wanted of [15, 40]) {
    const child = spawn(process.execPath, [program, folder], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const hashes: Hex[] = []
    for await (const line of createInterface({ input: child.stdout })) {
      hashes.push(line as Hex)
      if (hashes.length === wanted) child.kill('SIGKILL')
    }
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    expect(child.signalCode).toBe('SIGKILL')
    answered = [...answered, ...hashes]
    const devnet = await startTestChain({ folder })
    for (const hash of answered) expect((await receiptOf(devnet, hash))?.status).toBe('0x1')
    await devnet.stop()
  }
})

test('an unfinished last line is dropped, damage before it stops the start with the line named', async () => {
  const { folder, journal } = dataFolder()
  const first = await startTestChain({ folder })
  await send(first, await signSettlerTransaction(first, { nonce: 0 }))
  const { hash } = first.control.head()
  await first.stop()
  appendFileSync(journal, '0123456789abcdef {"kind":"bl')
  const second = await startTestChain({ folder })
  expect(second.control.head().hash).toBe(hash)
  await send(second, await signSettlerTransaction(second, { nonce: 1 }))
  await second.stop()

  const lines = readFileSync(journal, 'utf8').split('\n')
  lines[1] = (lines[1] ?? '').replace('"timestamp":1', '"timestamp":2')
  writeFileSync(journal, lines.join('\n'))
  await expect(startTestChain({ folder })).rejects.toThrow('line 2 is damaged')
})

test('a journal of another chain, or one that two processes write, is refused', async () => {
  const { folder, journal } = dataFolder()
  const devnet = await startTestChain({ folder })
  appendFileSync(journal, 'from elsewhere\n')
  const raw = await signSettlerTransaction(devnet, { nonce: 0 })
  await expect(send(devnet, raw)).rejects.toThrow('another process writes to this journal')
  await expect(devnet.request('eth_blockNumber')).rejects.toThrow('the chain stopped')
})
