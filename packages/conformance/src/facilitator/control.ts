import type { Address } from 'viem'
import type { FacilitatorFault } from './faults.ts'

/** What the facilitator really moved on its chain, whatever it answered. */
export type Settlement = { payer: Address; nonce: string; value: string; transaction: string; success: boolean }

export type FacilitatorState = {
  /** The chain on which it settles. */
  rpc: string
  network: string
  asset: Address
  settlements: readonly Settlement[]
  /** Settlements that were put off and are not carried out yet. */
  late: number
  /** Faults that no settlement has used. */
  planned: readonly FacilitatorFault[]
  /** The fault of the last settlement since faults were planned; null when it had none. */
  last: FacilitatorFault | null
  /** Nonces of settlements that wait, and of those that have waited. */
  held: readonly string[]
}

/** Drives the facilitator of this suite from outside. */
export type FacilitatorControl = {
  url: string
  state(): Promise<FacilitatorState>
  /** The faults of the next settlements, first one first. */
  plan(faults: readonly FacilitatorFault[]): Promise<void>
  /** The next settlement is verified, and waits until `resume`. */
  hold(): Promise<void>
  resume(): Promise<void>
  /** Moves the clock of the chain; back again with a negative number. */
  advanceTime(seconds: number): Promise<void>
  /** Carries out what was put off. */
  settleLate(): Promise<void>
  /** Funds a wallet with gas and test money. */
  fund(address: Address): Promise<void>
  /** Replaces the last blocks; the transactions in them are lost. */
  reorg(depth: number): Promise<void>
}

export function connectFacilitator(url: string): FacilitatorControl {
  const ask = async <T>(path: string, body?: unknown): Promise<T> => {
    const response = await fetch(new URL(`/control/${path}`, url), {
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      headers: { 'content-type': 'application/json' },
      signal: AbortSignal.timeout(120_000),
    })
    if (!response.ok) throw new Error(`the facilitator at ${url} answered ${response.status} to /control/${path}`)
    return (await response.json()) as T
  }
  return {
    url,
    state: () => ask<FacilitatorState>('state'),
    plan: (faults) => ask('faults', { faults }),
    hold: () => ask('hold', {}),
    resume: () => ask('resume', {}),
    advanceTime: (seconds) => ask('time', { seconds }),
    settleLate: () => ask('late', {}),
    fund: (address) => ask('fund', { address }),
    reorg: (depth) => ask('reorg', { depth }),
  }
}
