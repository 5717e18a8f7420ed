import type { Hex } from '../../kernel/bytes.ts'
import { broadcast } from './broadcast.ts'
import { bumpFees } from './fees.ts'
import type { InFlight, LaneState, OutgoingCall } from './lane-state.ts'
import { noteBroadcast, signCall } from './send-call.ts'
import { replaceTransaction } from './transaction-store.ts'

/** An empty transfer to ourselves: the cheapest way to use up a nonce. */
export const fillerCall = (state: LaneState): OutgoingCall => ({
  purpose: 'fill',
  references: [],
  to: state.key.address,
  data: '0x' as Hex,
  gasLimit: 21_000n,
  stillWanted: () => true,
})

/** Offers more for the same nonce: the same call again, or nothing at all. Never another intent. */
export function replaceInFlight(state: LaneState, entry: InFlight, how: 'same' | 'fill'): Promise<void> {
  return state.exclusive(async () => {
    const { deps, lease } = state
    if (state.inFlight.get(entry.nonce) !== entry || !lease.holds()) return
    const isFill = how === 'fill' || entry.fillers.size > 0
    const call = isFill ? { ...fillerCall(state), references: entry.call.references } : entry.call
    const fees = bumpFees(entry.fees, await deps.fees.current())
    if (deps.limits.maxFeeWeiMax !== undefined && fees.maxFeePerGas > deps.limits.maxFeeWeiMax) {
      deps.log.error(
        { wallet: state.key.address, nonce: entry.nonce },
        'a stuck transaction would need more than the fee limit',
      )
      entry.sentAtMs = deps.clock.monotonicMs()
      return
    }
    const signed = signCall(state, call, entry.nonce, fees)
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
    if (result.status === 'accepted') noteBroadcast(state, entry, signed.hash)
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
