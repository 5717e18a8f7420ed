import type { Hex } from '@assay/protocol/bytes'
import { broadcast } from './broadcast.ts'
import { costMicroOf, type Fees, feesAreTooHigh } from './fees.ts'
import {
  type InFlight,
  keyOf,
  type LeasedWalletState,
  type NotSentReason,
  note,
  type OutgoingCall,
  type SendResult,
  type TransactionOutcome,
} from './leased-wallet-state.ts'
import type { SignedTransaction } from './transaction-bytes.ts'
import { transactionCount } from './transaction-count.ts'
import { markAbandoned, markBroadcast, storeTransaction } from './transaction-store.ts'

const attemptsMax = 4

/** Signs with the next nonce, stores, then broadcasts. In this order, or a crash could leave money moving unknown to us. */
export function sendCall(state: LeasedWalletState, call: OutgoingCall): Promise<SendResult> {
  return state
    .exclusive(async () => {
      for (let attempt = 1; ; attempt += 1) {
        const result = await trySend(state, call)
        if (result !== 'wrong_nonce') return result
        if (attempt >= attemptsMax) return notSent('refused', 'the nonce of the wallet does not settle')
        state.nextNonce = await freeNonce(state)
      }
    })
    .catch((error: unknown) => notSent('unavailable', error instanceof Error ? error.message : String(error)))
}

const notSent = (reason: NotSentReason, message?: string): SendResult => ({
  status: 'not_sent',
  reason,
  ...(message === undefined ? {} : { message: message.slice(0, 200) }),
})

async function trySend(state: LeasedWalletState, call: OutgoingCall): Promise<SendResult | 'wrong_nonce'> {
  const { deps, lease } = state
  const fees = await deps.fees.current()
  const cost = costMicroOf(deps.network, call.gasLimit, fees)
  if (feesAreTooHigh(deps.network, fees) || (call.costMicroMax !== undefined && cost > call.costMicroMax)) {
    deps.metrics.count('alarms', { alarm: 'fees_too_high' })
    deps.log.error(
      { network: deps.network.caip2, wei_per_gas: fees.maxFeePerGas.toString() },
      'fees are above the limit',
    )
    return notSent('fees_too_high', `the network asks for ${fees.maxFeePerGas} wei per gas`)
  }
  if (!call.stillWanted()) return notSent('unavailable', 'nobody waits for it any more')
  if (!lease.holds()) return notSent('lease_lost')
  const nonce = state.nextNonce
  const signed = await signCall(state, call, nonce, fees)
  const beganAtMs = deps.clock.monotonicMs()
  const stored = await storeTransaction(deps.database, lease, {
    ...signed,
    nonce,
    purpose: call.purpose,
    references: call.references,
    fees,
    usefulUntil: call.usefulUntil,
    signedAtMs: deps.clock.nowMs(),
  })
  if (stored.status === 'fenced') lease.lose()
  else lease.confirmed(beganAtMs)
  if (stored.wanted) state.yielding = true
  if (stored.status === 'nonce_taken') return 'wrong_nonce'
  // A pause long enough to lose the lease may occur between the write and this line.
  if (!lease.holds()) return notSent('lease_lost')
  return launch(state, call, { ...signed, nonce, fees })
}

async function launch(
  state: LeasedWalletState,
  call: OutgoingCall,
  version: SignedTransaction & { nonce: bigint; fees: Fees },
): Promise<SendResult | 'wrong_nonce'> {
  const { deps } = state
  const { nonce, hash, raw, fees } = version
  const result = await broadcast(deps.endpoints, raw)
  if (result.status === 'refused') {
    // The nonce is free again: the next call takes it and overwrites this row.
    await markAbandoned(deps.database, keyOf(state, nonce), hash, deps.clock.nowMs())
    deps.log.error(
      { wallet: state.key.address, nonce, kind: result.kind, message: result.message },
      'a transaction was refused',
    )
    deps.metrics.count('wallet_refusals', { network: deps.network.caip2, kind: result.kind })
    if (result.kind === 'nonce_used' || result.kind === 'nonce_occupied') return 'wrong_nonce'
    if (result.kind === 'unfunded') deps.metrics.count('alarms', { alarm: 'wallet_unfunded' })
    return notSent(result.kind === 'unfunded' ? 'unfunded' : 'refused', result.message)
  }
  state.nextNonce = nonce + 1n
  const accepted = result.status === 'accepted'
  const { entry, outcome } = track(state, { nonce, call, hashes: [hash], raw, fees, accepted })
  if (accepted) recordBroadcast(state, entry, hash)
  else
    deps.log.warn(
      { wallet: state.key.address, nonce, message: result.message },
      'whether a transaction was taken is not known',
    )
  return { status: 'sent', nonce, transaction: hash, outcome }
}

export function recordBroadcast(state: LeasedWalletState, entry: InFlight, hash: Hex): void {
  entry.accepted = true
  note(state, markBroadcast(state.deps.database, keyOf(state, entry.nonce), hash, state.deps.clock.nowMs()))
}

export function signCall(
  state: LeasedWalletState,
  call: OutgoingCall,
  nonce: bigint,
  fees: Fees,
): Promise<SignedTransaction> {
  const { to, data, gasLimit } = call
  return state.key.sign({ chainId: state.deps.network.chainId, nonce, to, data, gasLimit, value: 0n, ...fees })
}

export type Tracked = { entry: InFlight; outcome: Promise<TransactionOutcome> }

export function track(
  state: LeasedWalletState,
  start: Pick<InFlight, 'nonce' | 'call' | 'hashes' | 'raw' | 'fees' | 'accepted'>,
): Tracked {
  let end: (outcome: TransactionOutcome) => void = () => {}
  const outcome = new Promise<TransactionOutcome>((resolve) => {
    end = resolve
  })
  const entry: InFlight = {
    ...start,
    fillers: new Set(),
    sentAtMs: state.deps.clock.monotonicMs(),
    lastSentAtMs: state.deps.clock.monotonicMs(),
    vanishedAtMs: undefined,
    reportedStuck: false,
    end: (result) => {
      state.inFlight.delete(start.nonce)
      end(result)
    },
  }
  state.inFlight.set(start.nonce, entry)
  return { entry, outcome }
}

/** What the chain takes next, counting what waits in its pool and what we have on its way ourselves. */
async function freeNonce(state: LeasedWalletState): Promise<bigint> {
  let nonce = await transactionCount(state.deps.rpc, state.key.address, 'pending')
  while (state.inFlight.has(nonce)) nonce += 1n
  // The node may not yet count what it has just called used.
  return nonce > state.nextNonce ? nonce : state.nextNonce + 1n
}
