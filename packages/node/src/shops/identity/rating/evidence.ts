import type { Address } from '@assay/protocol/address'

/** One thing that the node and its chain saw a wallet do. */
export type RatingEvent =
  | {
      kind: 'settled'
      wallet: Address
      network: string
      atMs: number
      micro: bigint
      /** What the payer cannot have got back: a creator may be the payer under another name. */
      costMicro: bigint
      /** Who earned from it: creators, or the operator where nobody else did. */
      parties: readonly Address[]
      attribution: 'counts' | 'self_dealt' | 'unattributed'
    }
  | { kind: 'failed'; wallet: Address; network: string; atMs: number }
  | {
      kind: 'undone'
      wallet: Address
      network: string
      atMs: number
      reason: 'reorg' | 'refund'
      micro: bigint
      costMicro: bigint
      whole: boolean
      parties: readonly Address[]
      attribution: 'counts' | 'self_dealt' | 'unattributed'
    }

/** What one wallet did on one network, summed up. */
export type Tally = {
  settled: number
  settledMicro: bigint
  failed: number
  reversed: number
  refunded: number
  unattributed: number
  selfDealt: number
  /** Days on which something happened that counts. */
  activeDays: number
  lastDay: string | null
  firstAtMs: number
  lastAtMs: number
  /** The first payment that counts; age before it is nobody's merit. */
  countsSinceMs: number | null
}

/** What it paid to one party, as far as it cost anything. Past days weigh the logarithm of their number of payments; the newest day is still open. */
export type PartyTally = { settled: number; micro: bigint; weight: number; day: string; dayCount: number }

export type WalletEvidence = { tally: Tally; parties: Map<Address, PartyTally> }

export function noEvidence(atMs: number): WalletEvidence {
  return {
    tally: {
      settled: 0,
      settledMicro: 0n,
      failed: 0,
      reversed: 0,
      refunded: 0,
      unattributed: 0,
      selfDealt: 0,
      activeDays: 0,
      lastDay: null,
      firstAtMs: atMs,
      lastAtMs: atMs,
      countsSinceMs: null,
    },
    parties: new Map(),
  }
}

/** A thousand calls in a minute are one habit, not a thousand: evidence of a day grows with its logarithm. */
export const dayWeight = (payments: number) => Math.log2(1 + payments)

export const partyWeight = (party: PartyTally) => party.weight + dayWeight(party.dayCount)

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)

/** Takes one event in; the evidence is changed in place. Events of one wallet come in their order. */
export function takeIn(evidence: WalletEvidence, event: RatingEvent): void {
  const { tally } = evidence
  tally.firstAtMs = Math.min(tally.firstAtMs, event.atMs)
  tally.lastAtMs = Math.max(tally.lastAtMs, event.atMs)
  if (event.kind === 'undone') subtract(evidence, event)
  else if (event.kind === 'settled') takeInPayment(evidence, event)
  else {
    tally.failed += 1
    countDay(tally, dayOf(event.atMs))
  }
}

function takeInPayment(evidence: WalletEvidence, event: Extract<RatingEvent, { kind: 'settled' }>): void {
  const { tally } = evidence
  tally.settled += 1
  tally.settledMicro += event.micro
  if (event.attribution === 'unattributed') tally.unattributed += 1
  else if (event.attribution === 'self_dealt') tally.selfDealt += 1
  else {
    tally.countsSinceMs ??= event.atMs
    countDay(tally, dayOf(event.atMs))
    const share = event.costMicro / BigInt(Math.max(1, event.parties.length))
    for (const party of event.parties) countParty(evidence, party, share, dayOf(event.atMs))
  }
}

function countDay(tally: Tally, day: string): void {
  if (tally.lastDay !== null && day <= tally.lastDay) return
  tally.activeDays += 1
  tally.lastDay = day
}

function countParty({ parties }: WalletEvidence, name: Address, micro: bigint, day: string): void {
  const party = parties.get(name) ?? { settled: 0, micro: 0n, weight: 0, day, dayCount: 0 }
  if (day > party.day) {
    party.weight += dayWeight(party.dayCount)
    party.day = day
    party.dayCount = 0
  }
  party.settled += 1
  party.micro += micro
  party.dayCount += 1
  parties.set(name, party)
}

type Undone = Extract<RatingEvent, { kind: 'undone' }>

function subtract({ tally, parties }: WalletEvidence, event: Undone): void {
  if (event.reason === 'reorg') tally.reversed += 1
  else tally.refunded += 1
  tally.settledMicro = atLeastZero(tally.settledMicro - event.micro)
  const day = dayOf(event.atMs)
  const share = event.costMicro / BigInt(Math.max(1, event.parties.length))
  for (const name of event.attribution === 'counts' ? event.parties : []) {
    const party = parties.get(name)
    if (party === undefined) continue
    party.micro = atLeastZero(party.micro - share)
    if (!event.whole) continue
    party.settled = Math.max(0, party.settled - 1)
    if (party.day === day && party.dayCount > 0) party.dayCount -= 1
    else party.weight = Math.max(0, party.weight - 1)
  }
  if (!event.whole) return
  tally.settled = Math.max(0, tally.settled - 1)
  if (event.attribution === 'self_dealt') tally.selfDealt = Math.max(0, tally.selfDealt - 1)
  if (event.attribution === 'unattributed') tally.unattributed = Math.max(0, tally.unattributed - 1)
}

const atLeastZero = (micro: bigint) => (micro < 0n ? 0n : micro)
