import type { Address } from '@assay/protocol/address'
import type { Unreachable } from './reachable.ts'

export type Verdict = 'LOCKED' | 'PARTIALLY_CONTROLLED' | 'ISSUER_CONTROLLED' | 'UNKNOWN'

/** What can be done now. `unknown` is not between the others: it may be any of them. */
export type Level = 'impossible' | 'latent' | 'armed' | 'unknown'

export const powerNames = [
  'admin',
  'mint',
  'seize',
  'burn_blocked',
  'freeze',
  'pause',
  'unpause',
  'supply_cap',
  'metadata',
  'multiplier',
] as const
export type PowerName = (typeof powerNames)[number]

export type Party = {
  account: Address
  how: string
  /** For policies: whether this party can do it without any other. */
  alone?: boolean
}

export type Power = {
  /** What it comes to: `exercised` where it has been used and can still be. */
  state: Level | 'exercised'
  now: Level
  /** How often logs or state show it was used. */
  exercised: number
  /** Who can use it now. */
  who: Party[]
  /** Who can make themselves or others able to. */
  couldBecome: Party[]
  why: string
}

export type Severity = 'info' | 'notice' | 'warning' | 'critical'

export type Flag = { code: string; severity: Severity; sentence: string; facts: string[] }

export type Missing = { code: string; detail: string }

export type Evaluation = {
  verdict: Verdict
  complete: boolean
  /** Why it is not complete; empty when it is. */
  missing: Missing[]
  adminSet: 'proven' | 'unproven'
  powers: Record<PowerName, Power>
  flags: Flag[]
  /** Holders and admins that can never call, with what they have in vain. */
  unreachable: UnreachableParty[]
}

export type UnreachableParty = { account: Address; reason: Unreachable; holds: string[] }
