import { parseAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { parseTransaction } from 'viem'
import { nowSeconds } from '../../kernel/clock.ts'
import { broadcast } from './broadcast.ts'
import { fillNonce } from './fill-nonce.ts'
import { type InFlight, keyOf, type LeasedWalletState, type OutgoingCall } from './leased-wallet-state.ts'
import { minedFacts, type TransactionReceipt } from './receipt.ts'
import { replaceInFlight } from './replace-in-flight.ts'
import { recordBroadcast, track } from './send-call.ts'
import { transactionCount } from './transaction-count.ts'
import { markMined, markSuperseded, type StoredTransaction, unfinishedTransactions } from './transaction-store.ts'

/**
 * Takes over a wallet as the last holder left it. What a node has taken is kept going until its nonce is used; what was
 * only signed belongs to a buyer who has gone, so it is never sent, and an empty transfer takes its nonce.
 */
export async function recoverWallet(state: LeasedWalletState): Promise<void> {
  const { deps, key } = state
  const [latest, pending] = await Promise.all([
    transactionCount(deps.rpc, key.address, 'latest'),
    transactionCount(deps.rpc, key.address, 'pending'),
  ])
  const stored = await unfinishedTransactions(deps.database, deps.network.caip2, key.address, latest)
  for (const row of stored) if (row.nonce < latest) await endUsed(state, row)
  const open = stored.filter((row) => row.nonce >= latest && row.state !== 'abandoned')
  const last = open.at(-1)?.nonce ?? -1n
  state.nextNonce = last + 1n
  if (pending > state.nextNonce) state.nextNonce = pending
  await state.exclusive(async () => {
    const byNonce = new Map(open.map((row) => [row.nonce, row]))
    for (let nonce = latest; nonce < state.nextNonce && state.lease.holds(); nonce += 1n) {
      const row = byNonce.get(nonce)
      if (row) adopt(state, row)
      // Below `pending` the pool has something for it already.
      else if (nonce >= pending) await fillNonce(state, nonce)
    }
  })
  for (const entry of [...state.inFlight.values()]) await resume(state, entry)
}

/** Its nonce is used; by which version, the receipts tell. */
async function endUsed(state: LeasedWalletState, row: StoredTransaction): Promise<void> {
  const { deps } = state
  const receipts = await deps.rpc.batch(
    row.hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
  )
  const receipt = receipts.find((one) => one !== null) as TransactionReceipt | undefined
  const nowMs = deps.clock.nowMs()
  if (receipt) await markMined(deps.database, keyOf(state, row.nonce), minedFacts(receipt), nowMs)
  else await markSuperseded(deps.database, keyOf(state, row.nonce), nowMs)
}

function adopt(state: LeasedWalletState, row: StoredTransaction): void {
  const { entry } = track(state, {
    nonce: row.nonce,
    call: callOf(row),
    hashes: row.hashes,
    raw: row.raw,
    fees: row.fees,
    accepted: row.wasBroadcast || row.state === 'mined',
  })
  if (row.purpose === 'fill') entry.fillers.add(row.hashes.at(-1) as Hex)
}

function callOf(row: StoredTransaction): OutgoingCall {
  const parsed = parseTransaction(row.raw)
  const to = parseAddress(parsed.to)
  if (!to) throw new Error('a stored transaction has no recipient')
  return {
    purpose: row.purpose,
    references: row.references,
    to,
    data: parsed.data ?? '0x',
    gasLimit: parsed.gas ?? 21_000n,
    ...(row.usefulUntil === undefined ? {} : { usefulUntil: row.usefulUntil }),
    stillWanted: () => false,
  }
}

async function resume(state: LeasedWalletState, entry: InFlight): Promise<void> {
  const { deps } = state
  const known = entry.accepted || entry.fillers.size > 0 || (await isKnown(state, entry))
  const useful = entry.call.usefulUntil === undefined || entry.call.usefulUntil > nowSeconds(deps.clock)
  if (!known || (!useful && entry.fillers.size === 0)) return replaceInFlight(state, entry, 'fill')
  const result = await broadcast(deps.endpoints, entry.raw)
  if (result.status === 'accepted') recordBroadcast(state, entry, entry.hashes.at(-1) as Hex)
}

/** The crash may have come between the send and the note about it. */
async function isKnown(state: LeasedWalletState, entry: InFlight): Promise<boolean> {
  const found = await state.deps.rpc.batch(
    entry.hashes.map((hash) => ({ method: 'eth_getTransactionByHash', params: [hash] })),
  )
  entry.accepted = found.some((one) => one !== null)
  return entry.accepted
}
