import { broadcast } from './broadcast.ts'
import type { LeasedWalletState } from './leased-wallet-state.ts'
import { fillerCall } from './replace-in-flight.ts'
import { recordBroadcast, signCall, track } from './send-call.ts'
import { storeTransaction, unfinishedTransactions } from './transaction-store.ts'

/** Uses up one nonce that nothing is stored for; everything behind it would wait for ever. */
export async function fillNonce(state: LeasedWalletState, nonce: bigint): Promise<void> {
  const { deps, lease } = state
  const call = fillerCall(state)
  const fees = await deps.fees.current()
  const signed = await signCall(state, call, nonce, fees)
  const stored = await storeTransaction(deps.database, lease, {
    ...signed,
    nonce,
    purpose: call.purpose,
    references: [],
    fees,
    usefulUntil: undefined,
    signedAtMs: deps.clock.nowMs(),
  })
  if (stored.status === 'fenced') lease.lose()
  if (stored.status !== 'stored' || !lease.holds()) return
  const { entry } = track(state, { nonce, call, hashes: [signed.hash], raw: signed.raw, fees, accepted: false })
  entry.fillers.add(signed.hash)
  const result = await broadcast(deps.endpoints, signed.raw)
  if (result.status === 'accepted') recordBroadcast(state, entry, signed.hash)
  deps.log.warn({ wallet: state.key.address, nonce, result: result.status }, 'a gap in the nonces was filled')
}

/** Nonces before the head of our line that the chain does not count: dropped, or undone by a reorganization. */
export async function closeGap(state: LeasedWalletState, from: bigint, until: bigint): Promise<void> {
  await state.exclusive(async () => {
    const { deps } = state
    const stored = await unfinishedTransactions(deps.database, deps.network.caip2, state.key.address, from)
    const byNonce = new Map(stored.map((row) => [row.nonce, row]))
    for (let nonce = from; nonce < until && state.lease.holds(); nonce += 1n) {
      const row = byNonce.get(nonce)
      if (!row || row.state === 'abandoned') await fillNonce(state, nonce)
      else await broadcast(deps.endpoints, row.raw)
    }
  })
}
