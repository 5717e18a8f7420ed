import { nowSeconds } from '../../kernel/clock.ts'
import { broadcast } from './broadcast.ts'
import { closeGap } from './fill-nonce.ts'
import { type InFlight, keyOf, type LeasedWalletState, note } from './leased-wallet-state.ts'
import { minedFacts, type TransactionReceipt } from './receipt.ts'
import { replaceInFlight } from './replace-in-flight.ts'
import { recordBroadcast } from './send-call.ts'
import { markMined, markSuperseded } from './transaction-store.ts'
import { renewWalletLease } from './wallet-lease.ts'

/** Receipts may lag behind the count of an account when several endpoints share one name. */
const vanishedMs = 15_000
const secondOpinionMs = 3_000
const pollsPerBlock = 8

/** One round trip for all that is on its way: who is in a block, and what is the next nonce? */
export async function readInFlight(state: LeasedWalletState): Promise<void> {
  const { rpc } = state.deps
  const entries = [...state.inFlight.values()]
  const askCount = { method: 'eth_getTransactionCount', params: [state.key.address, 'latest'] }
  const lookups = entries.flatMap((entry) => entry.hashes.map((hash) => ({ entry, hash })))
  // One endpoint that lags or lies must not hide for long what the others show.
  const isLate = entries.some((entry) => state.deps.clock.monotonicMs() - entry.sentAtMs >= secondOpinionMs)
  if (isLate) {
    // While none of their nonces is used there is no receipt, and there would be many to ask for at every turn.
    const isAnyUsed = ([count]: readonly unknown[]) => entries.some(({ nonce }) => nonce < BigInt(count as string))
    const counted = await rpc.batch([askCount], isAnyUsed)
    if (!isAnyUsed(counted)) return resendLate(state, BigInt(counted[0] as string))
  }
  const [count, ...receipts] = await rpc.batch(
    [askCount, ...lookups.map(({ hash }) => ({ method: 'eth_getTransactionReceipt', params: [hash] }))],
    isLate ? ([, ...found]) => found.some((receipt) => receipt !== null) : undefined,
  )
  lookups.forEach(({ entry }, index) => {
    const receipt = receipts[index] as TransactionReceipt | null
    if (receipt) endMined(state, entry, receipt)
  })
  const used = BigInt(count as string)
  for (const entry of entries) if (state.inFlight.has(entry.nonce) && entry.nonce < used) endVanished(state, entry)
  await resendLate(state, used)
}

/** The quickest way to an outcome where blocks come at once: one read right after the send. */
export async function awaitReceipt(state: LeasedWalletState, nonce: bigint): Promise<void> {
  const entry = state.inFlight.get(nonce)
  const hash = entry?.hashes.at(-1)
  if (!entry || !hash) return
  const receipt = (await state.deps.rpc.first('eth_getTransactionReceipt', [hash])) as TransactionReceipt | null
  if (receipt) endMined(state, entry, receipt)
}

export function endMined(state: LeasedWalletState, entry: InFlight, receipt: TransactionReceipt): void {
  const { deps } = state
  if (state.inFlight.get(entry.nonce) !== entry) return
  const facts = minedFacts(receipt)
  note(state, markMined(deps.database, keyOf(state, entry.nonce), facts, deps.clock.nowMs()))
  deps.metrics.count('wallet_transactions', { network: deps.network.caip2, purpose: entry.call.purpose })
  if (entry.fillers.has(facts.hash)) entry.end({ status: 'replaced', detail: `filled by ${facts.hash}` })
  else entry.end({ status: 'mined', receipt, costWei: facts.costWei })
}

function endVanished(state: LeasedWalletState, entry: InFlight): void {
  const { deps } = state
  const nowMs = deps.clock.monotonicMs()
  entry.vanishedAtMs ??= nowMs
  if (nowMs - entry.vanishedAtMs < vanishedMs) return
  deps.log.error({ wallet: state.key.address, nonce: entry.nonce }, 'somebody else used a nonce of our wallet')
  deps.metrics.count('alarms', { alarm: 'wallet_used_elsewhere' })
  note(state, markSuperseded(deps.database, keyOf(state, entry.nonce), deps.clock.nowMs()))
  entry.end({ status: 'replaced', detail: 'the nonce was used by a transaction that is not ours' })
}

/** Sends again or replaces what takes too long: nodes drop transactions, fees rise, blocks are reorganised. */
async function resendLate(state: LeasedWalletState, used: bigint): Promise<void> {
  const { deps } = state
  const nowMs = deps.clock.monotonicMs()
  const waiting = [...state.inFlight.values()].sort((a, b) => (a.nonce < b.nonce ? -1 : 1))
  const head = waiting[0]
  if (!head) return
  if (used < head.nonce && nowMs - head.lastSentAtMs >= deps.limits.rebroadcastMs)
    await closeGap(state, used, head.nonce)
  for (const entry of waiting) {
    if (entry.nonce < used) continue
    const ageMs = nowMs - entry.sentAtMs
    const unwanted = !entry.accepted && !entry.call.stillWanted()
    const useless = entry.call.usefulUntil !== undefined && entry.call.usefulUntil <= nowSeconds(deps.clock)
    if ((unwanted || useless) && entry.fillers.size === 0) await replaceInFlight(state, entry, 'fill')
    else if (entry === head && ageMs >= deps.limits.stuckMs) await replaceInFlight(state, entry, 'same')
    else if (nowMs - entry.lastSentAtMs >= deps.limits.rebroadcastMs) await sendAgain(state, entry)
  }
}

async function sendAgain(state: LeasedWalletState, entry: InFlight): Promise<void> {
  const hash = entry.hashes.at(-1)
  if (!state.lease.holds() || !hash) return
  entry.lastSentAtMs = state.deps.clock.monotonicMs()
  const result = await broadcast(state.deps.endpoints, entry.raw)
  if (result.status === 'accepted' && !entry.accepted) recordBroadcast(state, entry, hash)
}

/** What was sent long ago and is in no block yet is asked about less often, at last once a block: each time costs calls. */
function pauseMs({ inFlight, deps }: LeasedWalletState, nowMs: number): number {
  const youngestMs = Math.min(...[...inFlight.values()].map(({ sentAtMs }) => nowMs - sentAtMs))
  return Math.min(deps.limits.pollMs * pollsPerBlock, youngestMs / 4)
}

/** Runs until nothing is on its way or the lease is gone. */
export async function watchWallet(state: LeasedWalletState, stop: AbortSignal): Promise<void> {
  const { deps, lease } = state
  let renewedAtMs = deps.clock.monotonicMs()
  let readAtMs = Number.NEGATIVE_INFINITY
  while (state.inFlight.size > 0 && !stop.aborted) {
    try {
      const nowMs = deps.clock.monotonicMs()
      if (nowMs - renewedAtMs >= lease.leaseMs / 3) {
        const renewal = await renewWalletLease(deps.database, lease)
        renewedAtMs = nowMs
        if (renewal.held) lease.confirmed(nowMs)
        else lease.lose()
        if (renewal.wanted) state.yielding = true
      }
      if (lease.holds() && nowMs - readAtMs >= pauseMs(state, nowMs)) {
        readAtMs = nowMs
        await readInFlight(state)
      }
    } catch (error) {
      deps.log.warn(
        { wallet: state.key.address, error: String(error) },
        'transactions on their way could not be checked',
      )
    }
    if (!lease.holds()) return endAll(state)
    if (state.inFlight.size > 0) await deps.clock.sleep(deps.limits.pollMs, stop).catch(() => {})
  }
  if (stop.aborted) endAll(state)
}

/** Anyone who takes the wallet next also takes what is on its way; the payments themselves end by what the chain shows. */
export function endAll(state: LeasedWalletState): void {
  for (const entry of [...state.inFlight.values()]) entry.end({ status: 'stopped' })
}
