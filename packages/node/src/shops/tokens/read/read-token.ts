import { type Address, zeroAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { Clock } from '@assay/till/kernel/clock'
import { adminRole, factoryAddress, roles } from '../abi/b20.ts'
import type { Genesis, PinnedBlock, TokenFacts } from '../facts.ts'
import { hasTokenPrefix, variantOf } from '../token-address.ts'
import { askIdentity, createdState, readScopes } from './ask-identity.ts'
import { assembleFacts } from './assemble-facts.ts'
import { calls } from './calls.ts'
import { collectLogs, type LogSource } from './collect-logs.ts'
import { type ControlEvent, controlTopics, decodeControlEvent, type RawLog } from './decode-events.ts'
import type { ForkSchedule } from './detect-fork.ts'
import { findCreation } from './find-creation.ts'
import { askLabel } from './label-account.ts'
import type { LogIndex } from './log-index.ts'
import type { ReadMemory } from './memory.ts'
import { type Meter, newMeter, type Panel } from './panel.ts'
import { isStillThere, pinBlock, Unreadable } from './pin-block.ts'
import { createQuestions, type Questions } from './questions.ts'
import { readGenesis, readTransaction } from './read-genesis.ts'
import type { LogGap, LogPace } from './read-logs.ts'
import { readMinted } from './read-minted.ts'
import {
  askAllMembers,
  askPolicy,
  collectPolicyHints,
  collectPolicyLogs,
  customBases,
  type PolicyHints,
} from './read-policies.ts'
import { type Replayed, replay } from './replay.ts'
import { readAddress, readHash, readUintArray } from './words.ts'

export type ReaderDeps = {
  chainId: number
  multicall3: Address
  panel(): Promise<Panel>
  index: LogIndex
  pace: LogPace
  /** No B20 token is older than this block. */
  floorBlock: bigint
  schedule: ForkSchedule
  clock: Clock
  /** Without it every reading asks step by step. */
  memory?: ReadMemory
  /** A newest block older than this is a node that has fallen behind, not news. */
  headAgeSecondsMax: number
  /** A newest block further ahead than this means that our own clock is behind. */
  headAheadSecondsMax: number
}

export type Reading =
  | { status: 'not_b20'; reason: 'not_b20_prefix' }
  | { status: 'not_created'; block: PinnedBlock }
  | {
      status: 'read'
      facts: TokenFacts
      meter: Meter
      providers: readonly string[]
      quorum: number
      /** History up to this block came from the background index; undefined where all of it came from the chain or from earlier readings. */
      indexedTo: bigint | undefined
    }

// A check does not wait for history: what it does not reach is missing, and the index or the next check goes on there.
const logRequests = { check: 40, whole: 400 }

/**
 * `whole`: every account of long lists is asked about, however many they are. `stay`: this block and no other, even if
 * it is gone.
 */
export type ReadOptions = { whole?: boolean; stay?: boolean }

/** Everything about one token at one block. Throws Unreadable where not even its existence can be determined. */
export async function readToken(
  deps: ReaderDeps,
  token: Address,
  at?: PinnedBlock,
  options: ReadOptions = {},
): Promise<Reading> {
  if (!hasTokenPrefix(token)) return { status: 'not_b20', reason: 'not_b20_prefix' }
  for (let attempt = 0; ; attempt += 1) {
    const panel = await deps.panel()
    if (panel.endpoints.length < panel.quorum)
      throw new Unreadable('too_few_endpoints', 'too few RPC endpoints can be trusted at the moment')
    const meter = newMeter()
    const block = at !== undefined && attempt === 0 ? at : await pinHead(deps, panel, meter)
    const outcome = await readAt(deps, { panel, token, block, meter }, options).catch(unreadableOnly)
    const failed = outcome instanceof Unreadable
    const last = attempt > 0 || options.stay === true
    if (failed && attempt > 0) throw outcome
    // Nothing can be read at a block that is gone: whatever failed, that is checked first.
    const there = failed
      ? outcome.code !== 'reorg' && (await isStillThere(panel, block, meter).catch(() => true))
      : await isStillThere(panel, block, meter)
    if (there && failed) throw outcome
    if (there && !failed) return outcome
    if (last) throw new Unreadable('reorg', 'the chain reorganised while it was read')
  }
}

function unreadableOnly(error: unknown): Unreadable {
  if (error instanceof Unreadable) return error
  throw error
}

export async function pinHead(deps: ReaderDeps, panel: Panel, meter: Meter): Promise<PinnedBlock> {
  const block = await pinBlock(panel, 'latest', meter)
  const ageSeconds = deps.clock.nowMs() / 1000 - block.timestamp
  if (ageSeconds > deps.headAgeSecondsMax)
    throw new Unreadable('stale_head', `the newest block is ${Math.round(ageSeconds)} seconds old`)
  if (-ageSeconds > deps.headAheadSecondsMax)
    throw new Unreadable('clock_behind', `the newest block is ${Math.round(-ageSeconds)} seconds ahead of this clock`)
  return block
}

/** One try at one block, which may be gone before it ends. */
type Attempt = { panel: Panel; token: Address; block: PinnedBlock; meter: Meter }

async function readAt(
  deps: ReaderDeps,
  { panel, token, block, meter }: Attempt,
  options: ReadOptions,
): Promise<Reading> {
  const source: LogSource = {
    panel,
    index: deps.index,
    pace: deps.pace,
    budget: { requests: options.whole ? logRequests.whole : logRequests.check },
    meter,
    hashes: new Map(),
    begun: new Map(),
  }
  const questions = createQuestions({ panel, multicall3: deps.multicall3, block, meter })
  const known = variantOf(token) !== 'unsupported'
  askIdentity(questions, token)
  const last = deps.memory?.of(token)
  if (last !== undefined) {
    questions.askAgain(last.asked)
    for (const base of last.policies) collectPolicyLogs(source, block, base, deps.floorBlock).catch(() => {})
  }
  const [, history] = await Promise.all([
    questions.run(),
    known ? readHistory(deps, source, block, token, last?.creation) : undefined,
  ])
  const state = createdState(questions, token)
  if (state === 'not_created') return { status: 'not_created', block }
  const past = history ?? emptyHistory(block)
  const [hints, minted] = await Promise.all([
    known ? collectPolicyHints(source, block, boundIds(questions, token), deps.floorBlock) : noHints,
    readMinted(source, questions, block, token, past.fromBlock),
  ])
  if (known) {
    const seen = { people: candidatesOf(token, past, hints), roles: rolesOf(questions, token, past), hints }
    askDetails(questions, token, seen, past.replayed)
    await questions.run()
    askLabels(questions, token, seen)
    await questions.run()
    if (options.whole) await askAllMembers(questions, hints)
  }
  const facts = assembleFacts({ deps, questions, token, block, history: past, hints, minted })
  if (facts.contradictions.length > 0) await deps.index.remove(token).catch(() => {})
  deps.memory?.keep(token, { asked: questions.asked(), creation: past.creation, policies: [...hints.keys()] })
  return {
    status: 'read',
    facts,
    meter,
    quorum: panel.quorum,
    indexedTo: source.indexedTo,
    providers: panel.endpoints.map((endpoint) => endpoint.name),
  }
}

export type History = {
  creation: RawLog | undefined
  genesis: Genesis | undefined
  events: ControlEvent[]
  replayed: Replayed
  fromBlock: bigint
  gaps: readonly LogGap[]
  count: number
}

const noHints: ReadonlyMap<bigint, PolicyHints> = new Map()

const emptyHistory = (block: PinnedBlock): History => ({
  creation: undefined,
  genesis: undefined,
  events: [],
  replayed: replay([], undefined),
  fromBlock: block.number,
  gaps: [],
  count: 0,
})

/** `expected`: where an earlier reading found the creation, to read on from there before it is found again. */
async function readHistory(
  deps: ReaderDeps,
  source: LogSource,
  block: PinnedBlock,
  token: Address,
  expected: RawLog | undefined,
): Promise<History> {
  const filter = { address: token, topics: [controlTopics] }
  const begun = expected && readTransaction(source, expected.transaction)
  begun?.catch(() => {})
  if (expected !== undefined) collectLogs(source, block, token, filter, expected.blockNumber).catch(() => {})
  const creation = await findCreation(source, block, token, deps.floorBlock)
  const fromBlock = creation?.blockNumber ?? deps.floorBlock
  const { logs, coverage } = await collectLogs(source, block, token, filter, fromBlock)
  const decoded = logs.map(decodeControlEvent)
  const events = decoded.filter((event) => event !== undefined)
  const garbled: LogGap[] =
    decoded.length === events.length ? [] : [{ fromBlock, toBlock: block.number, reason: 'garbled' }]
  const same = begun !== undefined && expected?.transaction === creation?.transaction
  const born =
    creation &&
    readGenesis(await (same ? begun : readTransaction(source, creation.transaction)), token, creation, events)
  const unseen: LogGap[] =
    born === undefined || born.missingLogs === false
      ? []
      : [
          {
            fromBlock,
            toBlock: fromBlock,
            reason: born.missingLogs === undefined ? 'creation_receipt_unread' : 'logs_missing',
          },
        ]
  return {
    creation,
    genesis: born?.genesis,
    events,
    replayed: replay(events, creation?.transaction),
    fromBlock,
    gaps: [...coverage.gaps, ...garbled, ...unseen],
    count: coverage.count,
  }
}

function boundIds(questions: Questions, token: Address): bigint[] {
  return Object.values(readScopes(questions, token)).flatMap((fact) => (fact?.known ? [fact.value] : []))
}

/** Everybody who might hold a role: all the logs ever named, and those that come for free. */
function candidatesOf(token: Address, past: History, hints: ReadonlyMap<bigint, PolicyHints>): Set<Address> {
  const people = new Set<Address>([...past.replayed.seen, zeroAddress, factoryAddress, token])
  for (const one of [past.genesis?.sender, past.genesis?.to, past.genesis?.firstAdmin]) if (one) people.add(one)
  for (const hint of hints.values()) for (const account of hint.accounts) people.add(account)
  return people
}

function rolesOf(questions: Questions, token: Address, past: History): Set<Hex> {
  const found = new Set<Hex>(Object.values(roles))
  for (const event of past.events) {
    if (event.kind === 'role_granted' || event.kind === 'role_revoked') found.add(event.role)
    if (event.kind === 'role_admin_changed') for (const role of [event.role, event.newAdmin]) found.add(role)
  }
  for (const role of [...found]) {
    const admin = questions.fact(calls.roleAdmin(token, role), readHash)
    if (admin.known) found.add(admin.value)
  }
  return found
}

/** Who and what the history of a token and of its policies names. */
type Seen = {
  people: ReadonlySet<Address>
  roles: ReadonlySet<Hex>
  hints: ReadonlyMap<bigint, PolicyHints>
}

// Beyond it, only pairs that a log named are tested: the full matrix is a second line, not the proof.
const matrixMax = 20_000

function askDetails(
  questions: Questions,
  token: Address,
  { people, roles: seenRoles, hints }: Seen,
  replayed: Replayed,
): void {
  const whole = people.size * seenRoles.size <= matrixMax
  for (const role of seenRoles) {
    questions.ask(calls.roleAdmin(token, role))
    for (const account of people)
      if (whole || role === adminRole || replayed.holders.get(role)?.has(account))
        questions.ask(calls.hasRole(token, role, account))
  }
  for (const base of new Set([...customBases(boundIds(questions, token)), ...hints.keys()]))
    askPolicy(questions, base, hints.get(base))
}

/** The last questions follow from the answers before them: children nobody announced, and what the holders are. */
function askLabels(questions: Questions, token: Address, { people, roles: seenRoles, hints }: Seen): void {
  const accounts = new Set<Address>(people)
  const admins = new Set<Address>()
  for (const base of new Set([...customBases(boundIds(questions, token)), ...hints.keys()])) {
    for (const question of ['policyAdmin(uint64)', 'pendingPolicyAdmin(uint64)'] as const) {
      const admin = questions.fact(calls.policy(question, base), readAddress)
      if (admin.known) admins.add(admin.value)
    }
    const children = questions.fact(calls.policy('compositePolicyChildIds(uint64)', base), (data) =>
      readUintArray(data, 64, 16),
    )
    for (const account of admins) accounts.add(account)
    for (const child of customBases(children.known ? children.value : [])) askPolicy(questions, child, hints.get(child))
  }
  for (const role of seenRoles) {
    const admin = questions.fact(calls.roleAdmin(token, role), readHash)
    if (admin.known) {
      questions.ask(calls.roleAdmin(token, admin.value))
      for (const account of accounts)
        if (!seenRoles.has(admin.value)) questions.ask(calls.hasRole(token, admin.value, account))
    }
    for (const account of accounts) if (!people.has(account)) questions.ask(calls.hasRole(token, role, account))
  }
  for (const account of accounts)
    if (admins.has(account) || holdsSomething(questions, token, account, seenRoles)) askLabel(questions, account)
}

function holdsSomething(questions: Questions, token: Address, account: Address, seenRoles: ReadonlySet<Hex>): boolean {
  return [...seenRoles].some((role) => {
    const view = questions.view(calls.hasRole(token, role, account))
    return view?.status === 'returned' && /1$/.test(view.data)
  })
}
