import type { Proof } from './proof.ts'

export type KnownProof = {
  /** The size the promise asks for. */
  asked: number
  load(): Promise<Proof>
}

/** Each loads its own parts only: a proof of arithmetic needs no node. */
export const proofs: Readonly<Record<string, KnownProof>> = {
  unpaid: { asked: 1_000_000, load: async () => (await import('./unpaid.ts')).proveNothingUnpaid },
  quoted: { asked: 10_000, load: async () => (await import('./quoted.ts')).proveOnlyQuoted },
  faults: { asked: 10_000, load: async () => (await import('./faults.ts')).proveNobodyPaysTwice },
  methods: { asked: 2_000, load: async () => (await import('./faults.ts')).proveMethods },
  channel: { asked: 1_000, load: async () => (await import('./channel.ts')).proveChannels },
  retries: { asked: 1_000, load: async () => (await import('./retries.ts')).proveRetries },
  rotation: { asked: 20_000, load: async () => (await import('./rotation.ts')).proveRotation },
  rotate: { asked: 5, load: async () => (await import('./rotate.ts')).proveRotate },
  downgrade: { asked: 100, load: async () => (await import('./downgrade.ts')).proveDowngrade },
  payouts: { asked: 10_000, load: async () => (await import('./payouts.ts')).provePayouts },
  reorgs: { asked: 10_000, load: async () => (await import('./reorgs.ts')).proveReorgs },
  'no-negative-balance': { asked: 10_000, load: async () => (await import('./redemptions.ts')).proveNeverBelowZero },
  'unpaid-cost': { asked: 60_000, load: async () => (await import('./unpaid-cost.ts')).proveUnpaidCost },
  hostile: { asked: 5_000, load: async () => (await import('./hostile.ts')).proveHostileHarmless },
  splits: { asked: 10_000_000, load: async () => (await import('./splits.ts')).proveSplits },
  start: { asked: 5, load: async () => (await import('./start.ts')).proveQuickStart },
  chain: { asked: 300, load: async () => (await import('./chain.ts')).proveBooksEqualChain },
  pause: { asked: 20, load: async () => (await import('./pause.ts')).provePause },
  'restore-log': { asked: 5, load: async () => (await import('./restore-log.ts')).proveRestoreLog },
  'stolen-custody-key': {
    asked: 300,
    load: async () => (await import('./stolen-custody-key.ts')).proveStolenKeyGainsNothing,
  },
  books: { asked: 1_000_000, load: async () => (await import('./ledger.ts')).proveBooks },
}
