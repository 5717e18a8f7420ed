import type { Address } from '@assay/protocol/address'
import type { KeySource } from '../chain/wallet/index.ts'
import type { Facilitator } from '../contract/facilitator.ts'
import type { Clock } from '../kernel/clock.ts'
import type { Log } from '../kernel/log.ts'
import type { Metrics } from '../kernel/metrics.ts'
import type { Rng } from '../kernel/random.ts'
import type { Sql } from '../store/database.ts'
import type { LocalChain } from './local/local-facilitator.ts'

/** What was chosen, and the settings its kind read for itself. */
export type FacilitatorChoice = { kind: string; settings: Record<string, string> }

/** What an embedder chose, with the keys that the kind brings. */
export type FacilitatorOption = { choice: FacilitatorChoice; settlerKeys?: readonly KeySource[] }

export type FacilitatorPorts = {
  sql: Sql
  clock: Clock
  rng: Rng
  log: Log
  metrics: Metrics
  /** Opens the wallets by which this process settles; only a kind that settles by itself asks for them. */
  localChains(): Promise<readonly LocalChain[]>
  /** ERC-6492 factories that may deploy a payer's wallet at our cost. */
  factories: readonly Address[]
}

/** How the documents show a variable, and whether its value must not be seen. */
export type FacilitatorVariable = { shown: string; description: string; secret: boolean }

/** One way to have payments settled: a folder with one of these, declared by `declareFacilitator`, and a line in `list.ts`. */
export type FacilitatorKind = {
  /** The name of its folder. */
  readonly name: string
  /** What the operator writes to choose it. */
  readonly chosenBy: string
  takes(choice: string): boolean
  /** It is chosen where the operator chooses none. */
  readonly isDefault?: true
  /** It settles with wallets of this process. */
  readonly needsSettlerKeys?: true
  /** What an embedder writes to choose it. */
  readonly option: string
  /** The choice of an embedder, from whatever this kind asks of one. */
  choose(given: never): FacilitatorOption
  /** What is wrong with settings that an embedder gave. */
  findProblems?(settings: FacilitatorChoice['settings'], demo: boolean): string[]
  /** What it reads of the environment. */
  readonly variables: Readonly<Record<string, FacilitatorVariable>>
  /** What is missing or wrong is added to `problems`, each with the name of its variable. */
  readSettings(
    choice: string,
    env: Readonly<Record<string, string | undefined>>,
    problems: string[],
  ): FacilitatorChoice['settings']
  open(settings: FacilitatorChoice['settings'], ports: FacilitatorPorts): Promise<Facilitator>
}

/** The function by which an embedder chooses a kind, such as `local({ keys })`, with the kind itself. */
export const declareFacilitator = <const K extends FacilitatorKind>(kind: K): K['choose'] & { readonly kind: K } =>
  Object.assign((given: never) => kind.choose(given), { kind }) as K['choose'] & { readonly kind: K }
