import { type Checkpoint, parseCheckpoint } from '@assay/protocol/log/checkpoint'
import { verifyConsistency, verifyInclusion } from '@assay/protocol/log/verify-proof'
import { playedRpc } from '@assay/till/chain/played-rpc.fixture'
import { type Clock, systemClock } from '@assay/till/kernel/clock'
import { silentLog } from '@assay/till/kernel/log'
import { silentMetrics } from '@assay/till/kernel/metrics'
import { systemRng } from '@assay/till/kernel/random'
import { createFixedKeyring, generateSigningKey } from '@assay/till/signing'
import { useTestDatabase } from '@assay/till/store/use-database.fixture'
import { expect, test } from 'vitest'
import { type AnchorPlace, anchorCheckpoint } from './anchor-checkpoint.ts'
import { collectCosignatures } from './collect-cosignatures.ts'
import { openDemoWitnesses } from './demo-witnesses.ts'
import { type LogProof, openLog } from './open-log.ts'
import { appendToLog } from './store.ts'

const db = await useTestDatabase()

function holds(proof: LogProof | undefined): boolean {
  const head = proof && parseCheckpoint(proof.checkpoint)
  if (!proof || !head || String(head.size) !== proof.tree_size) return false
  const bytes = (text: string) => Buffer.from(text, 'base64')
  const path = proof.inclusion_proof.map(bytes)
  return verifyInclusion(bytes(proof.leaf_hash), Number(proof.leaf_index), head.size, path, head.root)
}

test('proofs hold while the log grows, from what is kept of it and from what is read again', async () => {
  let aheadMs = 0
  const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + aheadMs }
  const { database } = db
  const keyring = createFixedKeyring(generateSigningKey(systemRng), 0)
  const deps = { database, clock, metrics: silentMetrics, keyring, origin: 'test.example/log' }
  const log = openLog(deps)
  const witnesses = await openDemoWitnesses({ database, clock, rng: systemRng }, log)
  let size = 0
  const heads: number[] = []
  let earlier: Checkpoint | undefined
  // Inside the first tile, onto its very end, and over the following ones.
  for (const added of [1, 3, 252, 1, 300, 700]) {
    const drafts = Array.from({ length: added }, (_, n) => ({
      kind: 'test',
      subject: `test:${size + n}`,
      entry: Buffer.from(`entry ${size + n}`),
    }))
    await appendToLog(database, drafts)
    await log.integrate()
    const fresh = openLog(deps)
    const sample = [0, size - 1, size, size + (added >> 1), size + added - 1].filter((n) => n >= 0)
    for (const n of sample) {
      const first = await log.proofOf(`test:${n}`, 'first')
      expect(holds(first), `first ${n} of ${size + added}`).toBe(true)
      expect(await fresh.proofOf(`test:${n}`, 'first'), 'however it is made').toEqual(first)
      expect(holds(await log.proofOf(`test:${n}`, 'witnessed')), 'before a witness has signed').toBe(true)
    }
    await collectCosignatures({ database, log: silentLog, metrics: silentMetrics, tree: log }, witnesses)
    aheadMs += 10_000
    for (const n of sample) {
      const proof = await log.proofOf(`test:${n}`, 'witnessed')
      expect(holds(proof), `witnessed ${n} of ${size + added}`).toBe(true)
      expect(proof?.witnesses.length).toBe(2)
      // The first that they signed shows the earliest that the entry was there.
      expect(proof?.tree_size).toBe(String(heads.find((head) => head > n) ?? size + added))
    }
    size += added
    heads.push(size)
    const head = parseCheckpoint((await log.checkpoint()) as string) as Checkpoint
    expect(head.size).toBe(size)
    if (earlier)
      for (const one of [log, fresh]) {
        const proof = await one.consistency(earlier.size, size)
        expect(verifyConsistency(earlier.size, size, proof, earlier.root, head.root)).toBe(true)
      }
    earlier = head
  }
  expect(await log.proofOf('test:never', 'witnessed')).toBeUndefined()
})

test('a tree head whose transaction failed or was lost is sent again, and not only when the log grows', async () => {
  const { database } = db
  let nowMs = systemClock.nowMs()
  const clock: Clock = { ...systemClock, nowMs: () => nowMs, sleep: async () => {} }
  const keyring = createFixedKeyring(generateSigningKey(systemRng), 0)
  const tree = openLog({ database, clock, metrics: silentMetrics, keyring, origin: 'test.example/log' })
  await appendToLog(database, [{ kind: 'test', subject: 'anchored:1', entry: Buffer.from('one') }])
  await tree.integrate()
  const receipts = new Map<string, { blockNumber: string; status: string }>()
  let sent = 0
  const place = {
    network: { caip2: 'eip155:8453' },
    chain: { finalizedBlock: async () => ({ number: 100n }) },
    rpc: playedRpc(async (method, [hash]) =>
      method === 'eth_getCode' ? '0x60' : (receipts.get(hash as string) ?? null),
    ),
    wallets: {
      send: async () => {
        sent += 1
        return { status: 'sent', transaction: `0x${sent}`, outcome: new Promise(() => {}) }
      },
    },
  } as unknown as AnchorPlace
  const look = () => anchorCheckpoint({ database, clock, log: silentLog, tree }, place)
  const state = async () =>
    (
      await database.query('select state, transaction from log_anchor where network = $1 order by size', [
        'eip155:8453',
      ])
    ).rows
  await look()
  await look()
  expect([sent, await state()]).toEqual([1, [{ state: 'sent', transaction: '0x1' }]])
  receipts.set('0x1', { blockNumber: '0x50', status: '0x0' })
  await look()
  expect([sent, await state()]).toEqual([2, [{ state: 'sent', transaction: '0x2' }]])
  // Displaced: no receipt will ever come.
  nowMs += 600_001
  await look()
  expect([sent, await state()]).toEqual([3, [{ state: 'sent', transaction: '0x3' }]])
  receipts.set('0x3', { blockNumber: '0x51', status: '0x1' })
  await look()
  await look()
  expect([sent, await state()]).toEqual([3, [{ state: 'anchored', transaction: '0x3' }]])
  // The next one was sent by a process that died before it could write that down.
  await appendToLog(database, [{ kind: 'test', subject: 'anchored:2', entry: Buffer.from('two') }])
  await tree.integrate()
  const hash = `0x${'4a'.repeat(32)}`
  await db.owner.query(
    `insert into settlement_transaction (network, wallet, nonce, token, purpose, reference_ids, state, hash, raw, max_fee_wei,
       priority_fee_wei, signed_at)
     select 'eip155:8453', '0x' || repeat('ab', 20), 7, 1, 'log_anchor', array['log_anchor:' || max(size)], 'broadcast', $1, '', 1, 1,
       now() from log_checkpoint`,
    [hash],
  )
  receipts.set(hash, { blockNumber: '0x52', status: '0x1' })
  await look()
  expect([sent, (await state()).at(-1)]).toEqual([3, { state: 'anchored', transaction: hash }])
})
