import { expect, test } from 'vitest'
import type { RpcCall } from '../rpc.ts'
import type { InFlight, LeasedWalletState } from './leased-wallet-state.ts'
import { readInFlight, watchWallet } from './watch-wallet.ts'

const pollMs = 250

/** A wallet with one transaction, sent at 0, that no block takes; `asked` is every call of every round trip. */
function stuckWallet(nowMs = 0) {
  const asked: { atMs: number; methods: string[] }[] = []
  const stop = new AbortController()
  const clock = {
    monotonicMs: () => nowMs,
    nowMs: () => nowMs,
    sleep: async (ms: number) => {
      nowMs += ms
      if (nowMs >= 60_000) stop.abort()
    },
  }
  const batch = async (calls: readonly RpcCall[]) => {
    asked.push({ atMs: nowMs, methods: calls.map(({ method }) => method) })
    return calls.map(({ method }) => (method === 'eth_getTransactionCount' ? '0x7' : null))
  }
  const limits = { pollMs, rebroadcastMs: 1e9, stuckMs: 1e9 }
  const entry = { nonce: 7n, hashes: ['0xaa', '0xbb'], sentAtMs: 0, lastSentAtMs: 0, accepted: true, end: () => {} }
  const state = {
    deps: { clock, limits, rpc: { batch }, database: {}, log: { warn: () => {} } },
    key: { address: '0x1' },
    lease: { holds: () => true, leaseMs: 1e9 },
    inFlight: new Map([[7n, { ...entry, call: { stillWanted: () => true } } as unknown as InFlight]]),
  } as unknown as LeasedWalletState
  return { state, asked, stop }
}

test('what was just sent is looked for with its receipts in one round trip', async () => {
  const { state, asked } = stuckWallet()
  await readInFlight(state)
  const receipts = ['eth_getTransactionReceipt', 'eth_getTransactionReceipt']
  expect(asked.map(({ methods }) => methods)).toEqual([['eth_getTransactionCount', ...receipts]])
})

test('what no block takes is looked for once a block at last, and without receipts while its nonce is free', async () => {
  const { state, asked, stop } = stuckWallet()
  await watchWallet(state, stop.signal)
  const times = asked.map(({ atMs }) => atMs)
  expect(times.slice(0, 4)).toEqual([0, 250, 500, 750])
  const pauses = times.slice(1).map((atMs, place) => atMs - (times[place] ?? 0))
  expect(pauses).toEqual([...pauses].sort((a, b) => a - b))
  expect(pauses.at(-1)).toBe(8 * pollMs)
  const late = asked.filter(({ atMs }) => atMs >= 3_000)
  expect(late.every(({ methods }) => methods.length === 1)).toBe(true)
})
