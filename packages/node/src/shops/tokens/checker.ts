import type { Address } from '@assay/protocol/address'
import { Problem } from '@assay/till/kernel/problem'
import { evaluate } from './evaluate/evaluate.ts'
import type { Evaluation } from './evaluate/types.ts'
import type { PinnedBlock } from './facts.ts'
import { newMeter, type Panel } from './read/panel.ts'
import { pinNumber, Unreadable } from './read/pin-block.ts'
import { pinHead, type ReaderDeps, type Reading, type ReadOptions, readToken } from './read/read-token.ts'
import { validUntil } from './show.ts'
import { hasTokenPrefix } from './token-address.ts'

export type Checked = Extract<Reading, { status: 'read' }> & { evaluation: Evaluation }

/** Reads and evaluates tokens, each at most once per block, however many ask. */
export type Checker = {
  /**
   * Throws a Problem: 404 for what is no token, 503 for a chain that cannot be read. Unless `fresh` is asked for, an
   * answer a few seconds old is given again while the next one is being read: it says its block and how long it holds.
   * `whole` asks about every account of long lists.
   */
  check(token: Address, options?: { fresh?: boolean; whole?: boolean }): Promise<Checked>
  /** At exactly this block, which the caller pinned. */
  checkAt(token: Address, block: PinnedBlock): Promise<Checked>
  /** The block new answers are read at; shared for a moment. */
  currentBlock(): Promise<PinnedBlock>
  /** A block that is there already; 400 for one that is not. */
  pastBlock(number: bigint): Promise<PinnedBlock>
}

const blockSharedMs = 1_000
const tokensMax = 2_000
const answerAgeMsMax = 5_000
const refreshAfterMs = 3_000
const refreshesAtOnceMax = 2

type Entry = { blockHash: string; reading: Promise<Checked>; atMs: number; done: boolean; whole: boolean }

export function createChecker(deps: ReaderDeps): Checker {
  const cache = new Map<Address, Entry>()
  const refreshing = new Set<Address>()
  let pinned: { block: Promise<PinnedBlock>; atMs: number } | undefined

  const currentBlock = (): Promise<PinnedBlock> => {
    if (pinned !== undefined && deps.clock.nowMs() - pinned.atMs < blockSharedMs) return pinned.block
    const entry = { block: pinNow(deps), atMs: deps.clock.nowMs() }
    pinned = entry
    entry.block.catch(() => {
      if (pinned === entry) pinned = undefined
    })
    return entry.block
  }

  const start = (token: Address, block: PinnedBlock, whole: boolean): Entry => {
    const entry: Entry = {
      blockHash: block.hash,
      whole,
      reading: checkAt(deps, token, block, { whole }),
      atMs: deps.clock.nowMs(),
      done: false,
    }
    entry.reading.then(
      () => {
        entry.done = true
        cache.delete(token)
        cache.set(token, entry)
        if (cache.size > tokensMax) cache.delete(cache.keys().next().value as Address)
      },
      () => {
        if (cache.get(token) === entry) cache.delete(token)
      },
    )
    return entry
  }

  /** A moment of patience keeps many tokens from being read again all at once, whenever there is a new block. */
  const refreshSoon = (token: Address, block: PinnedBlock) => {
    if (refreshing.has(token) || refreshing.size >= refreshesAtOnceMax) return
    refreshing.add(token)
    start(token, block, false)
      .reading.catch(() => {})
      .finally(() => refreshing.delete(token))
  }

  /** A multiplier may mature while an answer is kept: what is past its own date is read again. */
  const stillValid = async (entry: Entry) => validUntil((await entry.reading).facts) * 1000 > deps.clock.nowMs()

  return {
    currentBlock: () => currentBlock().catch(asProblem),
    pastBlock: async (number) => {
      const head = await currentBlock().catch(asProblem)
      if (number > head.number)
        throw new Problem('bad_request', { detail: `Block ${number} is not there yet; the newest is ${head.number}.` })
      if (number === head.number) return head
      const panel = await trustedPanel(deps).catch(asProblem)
      return pinNumber(panel, number, newMeter()).catch(asProblem)
    },
    checkAt: async (token, block) => {
      refuseOtherForm(token)
      const kept = cache.get(token)
      return kept?.blockHash === block.hash ? kept.reading : checkAt(deps, token, block, { stay: true })
    },
    check: async (token, { fresh = false, whole = false } = {}) => {
      refuseOtherForm(token)
      const block = await currentBlock().catch(asProblem)
      const kept = cache.get(token)
      const known = whole && !kept?.whole ? undefined : kept
      if (known?.blockHash === block.hash) return known.reading
      const ageMs = known === undefined ? 0 : deps.clock.nowMs() - known.atMs
      if (known?.done && !fresh && ageMs < answerAgeMsMax && (await stillValid(known))) {
        if (ageMs >= refreshAfterMs) refreshSoon(token, block)
        return known.reading
      }
      const entry = start(token, block, whole)
      cache.set(token, entry)
      return entry.reading
    },
  }
}

async function trustedPanel(deps: ReaderDeps): Promise<Panel> {
  const panel = await deps.panel()
  if (panel.endpoints.length < panel.quorum)
    throw new Unreadable('too_few_endpoints', 'too few RPC endpoints can be trusted at the moment')
  return panel
}

const pinNow = async (deps: ReaderDeps) => pinHead(deps, await trustedPanel(deps), newMeter())

function refuseOtherForm(token: Address): void {
  if (!hasTokenPrefix(token)) throw notB20('not_b20_prefix', 'The address does not have the form of a B20 token.')
}

async function checkAt(deps: ReaderDeps, token: Address, block: PinnedBlock, options: ReadOptions): Promise<Checked> {
  const reading = await readToken(deps, token, block, options).catch(asProblem)
  if (reading.status === 'not_b20') throw notB20(reading.reason, 'The address does not have the form of a B20 token.')
  if (reading.status === 'not_created')
    throw notB20('b20_address_not_created', 'The address has the form of a B20 token, but none was created there.')
  return { ...reading, evaluation: evaluate(reading.facts) }
}

function notB20(reason: string, detail: string): Problem {
  return new Problem('not_found', {
    detail,
    hint: 'A B20 address begins with 0xb2 and nine zero bytes; check the chain and the spelling.',
    extra: { reason },
  })
}

/** A chain that cannot be read is never a missing token and never a verdict. */
export function asProblem(error: unknown): never {
  if (error instanceof Unreadable)
    throw new Problem('upstream_unavailable', {
      detail: `The chain could not be read: ${error.message}.`,
      extra: { reason: error.code },
      retryAfterSeconds: 5,
    })
  throw error
}
