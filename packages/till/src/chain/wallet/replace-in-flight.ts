import type { Hex } from '@assay/protocol/bytes'
import { broadcast } from './broadcast.ts'
import { bumpFees, costMicroOf, type Fees } from './fees.ts'
import type { InFlight, LeasedWalletState, OutgoingCall } from './leased-wallet-state.ts'
import { recordBroadcast, signCall } from './send-call.ts'
import { replaceTransaction } from './transaction-store.ts'

/** An empty transfer to ourselves: the cheapest way to use up a nonce. */
export const fillerCall = (state: LeasedWalletState): OutgoingCall => ({
  purpose: 'fill',
  references: [],
  to: state.key.address,
  data: '0x' as Hex,
  gasLimit: 21_000n,
  stillWanted: () => true,
})

/**
 * The next fees to offer for a nonce; undefined if they must not be raised. When the market does not ask for more, something
 * else keeps the transaction out of blocks, and raising its fees further only costs more.
 */
function nextOffer(state: LeasedWalletState, entry: InFlight, call: OutgoingCall, market: Fees): Fees | undefined {
  const { network, limits } = state.deps
  const asksMore =
    market.maxFeePerGas > entry.fees.maxFeePerGas || market.maxPriorityFeePerGas > entry.fees.maxPriorityFeePerGas
  if (entry.hashes.length > limits.replacementsMax && !asksMore) return undefined
  const fees = bumpFees(network, entry.fees, market)
  if (!fees) return undefined
  const { costMicroMax } = call
  return costMicroMax !== undefined && costMicroOf(network, call.gasLimit, fees) > costMicroMax ? undefined : fees
}

/** Keeps rebroadcasting the transaction at its current fees, and raises the alarm once. */
function waitStuck(state: LeasedWalletState, entry: InFlight): void {
  const { deps } = state
  entry.sentAtMs = deps.clock.monotonicMs()
  if (entry.reportedStuck) return
  entry.reportedStuck = true
  deps.metrics.count('alarms', { alarm: 'transaction_stuck' })
  deps.log.error(
    { wallet: state.key.address, nonce: entry.nonce, versions: entry.hashes.length },
    'a stuck transaction is not replaced again: the limit of its fees or of replacements is reached',
  )
}

/** Offers more for the same nonce: the same call again, or nothing at all. Never another intent. */
export function replaceInFlight(state: LeasedWalletState, entry: InFlight, how: 'same' | 'fill'): Promise<void> {
  return state.exclusive(async () => {
    const { deps, lease } = state
    if (state.inFlight.get(entry.nonce) !== entry || !lease.holds()) return
    const isFill = how === 'fill' || entry.fillers.size > 0
    const call = isFill ? { ...fillerCall(state), references: entry.call.references } : entry.call
    const fees = nextOffer(state, entry, call, await deps.fees.current())
    if (!fees) return waitStuck(state, entry)
    const signed = await signCall(state, call, entry.nonce, fees)
    const version = { ...signed, nonce: entry.nonce, fees, purpose: call.purpose, signedAtMs: deps.clock.nowMs() }
    if (!(await replaceTransaction(deps.database, lease, version))) {
      lease.lose()
      return
    }
    entry.hashes.push(signed.hash)
    if (isFill) entry.fillers.add(signed.hash)
    entry.raw = signed.raw
    entry.fees = fees
    entry.sentAtMs = deps.clock.monotonicMs()
    entry.lastSentAtMs = entry.sentAtMs
    if (!lease.holds()) return
    const result = await broadcast(deps.endpoints, signed.raw)
    if (result.status === 'accepted') recordBroadcast(state, entry, signed.hash)
    deps.metrics.count('wallet_replacements', {
      network: deps.network.caip2,
      how: isFill ? 'fill' : 'same',
    })
    deps.log.info(
      { wallet: state.key.address, nonce: entry.nonce, how, result: result.status },
      'a transaction was replaced',
    )
  })
}
