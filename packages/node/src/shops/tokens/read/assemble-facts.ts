import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { assetPendingSlot, roles, type ScopeName, scopeNames, scopes, selectors, tokenSlots } from '../abi/b20.ts'
import {
  type AccountLabel,
  type Contradiction,
  type Known,
  known,
  type Multiplier,
  type PinnedBlock,
  type PolicyFacts,
  type RoleFacts,
  type TokenFacts,
  unknown,
} from '../facts.ts'
import { variantByte, variantOf } from '../token-address.ts'
import { both, readScopes } from './ask-identity.ts'
import { calls } from './calls.ts'
import { byPlace } from './decode-events.ts'
import { detectFork } from './detect-fork.ts'
import { labelAccount } from './label-account.ts'
import type { Questions } from './questions.ts'
import { customBases, type PolicyHints, policyFacts } from './read-policies.ts'
import type { History, ReaderDeps } from './read-token.ts'
import { factOf } from './views.ts'
import { readBool, readHash, readText, readUint, readUintArray } from './words.ts'

export type Gathered = {
  deps: ReaderDeps
  questions: Questions
  token: Address
  block: PinnedBlock
  history: History
  hints: ReadonlyMap<bigint, PolicyHints>
  minted: Known<boolean>
}

/** From answers to facts. Nothing is asked any more; what was not answered is unknown. */
export function assembleFacts(gathered: Gathered): TokenFacts {
  const { deps, questions, token, block, history } = gathered
  const variant = variantOf(token)
  const view = (selector: keyof typeof selectors) => calls.plain(token, selector)
  const scopeFacts = readScopes(questions, token)
  const rolesFound = roleFacts(gathered)
  const policies = allPolicies(gathered, scopeFacts)
  const supplyCap = both(
    questions.fact(view('supplyCap()'), (data) => readUint(data, 128)),
    stored(questions, token, 'supplyCap'),
  )
  const paused = pausedFeatures(questions, token)
  const facts: TokenFacts = {
    chainId: deps.chainId,
    token,
    variant,
    variantByte: variantByte(token),
    block,
    fork: detectFork(
      questions.view(view('SEIZE_ROLE()')),
      questions.view(calls.invertedZero()),
      variant === 'asset' ? questions.view(calls.supportsScaling(token)) : undefined,
      block.timestamp,
      deps.schedule,
    ),
    name: questions.fact(view('name()'), readText),
    symbol: questions.fact(view('symbol()'), readText),
    decimals: questions.fact(view('decimals()'), (data) => asNumber(readUint(data, 8))),
    contractUri: questions.fact(view('contractURI()'), readText),
    currency: variant === 'stablecoin' ? questions.fact(view('currency()'), readText) : undefined,
    totalSupply: both(
      questions.fact(view('totalSupply()'), (data) => readUint(data, 256)),
      stored(questions, token, 'totalSupply'),
    ),
    supplyCap,
    minted: gathered.minted,
    paused,
    scopes: scopeFacts,
    adminCount: stored(questions, token, 'adminCount'),
    roles: rolesFound,
    policies,
    multiplier: variant === 'asset' ? multiplierOf(questions, token, block) : undefined,
    unreviewedRoles: unreviewedRoles(questions, token),
    accounts: labels(questions, rolesFound, policies),
    genesis: history.genesis,
    logs: { fromBlock: history.fromBlock, toBlock: block.number, count: history.count, gaps: history.gaps },
    events: history.events,
    ...policyHistory(gathered),
    contradictions: [],
  }
  return { ...facts, contradictions: [...history.replayed.contradictions, ...contradictionsOf(facts, history)] }
}

const asNumber = (value: bigint | undefined) => (value === undefined ? undefined : Number(value))

function stored(questions: Questions, token: Address, slot: keyof typeof tokenSlots): Known<bigint> {
  const word = questions.storage(token, tokenSlots[slot])
  return word.known ? known(BigInt(word.value)) : word
}

/** Known only where the list and the bits in storage name the same features. */
function pausedFeatures(questions: Questions, token: Address): Known<readonly number[]> {
  const list = questions.fact(calls.plain(token, 'pausedFeatures()'), (data) =>
    readUintArray(data, 8, 256)?.map(Number),
  )
  const bits = stored(questions, token, 'pausedFeatures')
  if (!list.known) return list
  if (!bits.known) return bits
  const sum = [...new Set(list.value)].reduce((total, feature) => total | (1n << BigInt(feature)), 0n)
  return sum === bits.value ? known([...list.value].sort((a, b) => a - b)) : unknown('integrity')
}

function roleFacts({ questions, token, history }: Gathered): Map<Hex, RoleFacts> {
  const found = new Map<Hex, RoleFacts>()
  const wanted = new Set<Hex>(Object.values(roles))
  for (const role of history.replayed.holders.keys()) wanted.add(role)
  for (const role of history.replayed.roleAdmins.keys()) wanted.add(role)
  // The chain of admins may lead to roles nobody has named: each is followed until it was seen.
  for (const role of wanted) {
    const admin = questions.fact(calls.roleAdmin(token, role), readHash)
    if (admin.known) wanted.add(admin.value)
    found.set(role, { role, admin, ...holdersOf(questions, token, role, history) })
  }
  return found
}

function holdersOf(questions: Questions, token: Address, role: Hex, history: History) {
  const grants = history.replayed.holders.get(role)
  const holders: RoleFacts['holders'][number][] = []
  const unreadPairs: Address[] = []
  for (const account of questions.accountsAsked()) {
    const view = questions.view(calls.hasRole(token, role, account))
    if (view === undefined) {
      if (grants?.has(account)) unreadPairs.push(account)
      continue
    }
    const held = factOf(view, readBool)
    if (!held.known) unreadPairs.push(account)
    else if (held.value) {
      const grant = grants?.get(account)
      const granted = grant?.kind === 'role_granted' ? grant : undefined
      holders.push({
        account,
        ...(granted
          ? {
              granted: {
                blockNumber: granted.blockNumber,
                transaction: granted.transaction,
                logIndex: granted.logIndex,
                sender: granted.sender,
              },
            }
          : {}),
      })
    }
  }
  return { holders, unreadPairs }
}

function allPolicies(
  { questions, hints }: Gathered,
  scopeFacts: Readonly<Record<ScopeName, Known<bigint> | undefined>>,
): Map<bigint, PolicyFacts> {
  const found = new Map<bigint, PolicyFacts>()
  const bound = Object.values(scopeFacts).flatMap((fact) => (fact?.known ? [fact.value] : []))
  const queue = customBases(bound)
  for (const base of queue) {
    if (found.has(base)) continue
    const facts = policyFacts(questions, base, hints.get(base))
    found.set(base, facts)
    if (facts.children.known) queue.push(...customBases(facts.children.value))
  }
  return found
}

function multiplierOf(questions: Questions, token: Address, block: PinnedBlock): Known<Multiplier> {
  const word = (selector: keyof typeof selectors) =>
    questions.fact(calls.plain(token, selector), (data) => readUint(data, 256))
  const current = word('multiplier()')
  if (!current.known) return current
  const at = questions.view(calls.plain(token, 'effectiveAt()'))
  // Before Cobalt nothing can be scheduled, and the getter does not exist.
  if (at?.status === 'reverted' && at.data === selectors['effectiveAt()']) return known({ current: current.value })
  const [effectiveAt, next] = [word('effectiveAt()'), word('newUIMultiplier()')]
  const raw = questions.storage(token, assetPendingSlot)
  if (!effectiveAt.known) return effectiveAt
  if (!next.known) return next
  if (!raw.known) return raw
  if (((BigInt(raw.value) >> 128n) & 0xffff_ffff_ffff_ffffn) !== effectiveAt.value) return unknown('integrity')
  if (effectiveAt.value <= BigInt(block.timestamp)) return known({ current: current.value })
  return known({ current: current.value, pending: { value: next.value, effectiveAt: Number(effectiveAt.value) } })
}

/** A draft's getter that answers means a fork nobody here has reviewed. */
function unreviewedRoles(questions: Questions, token: Address): string[] {
  return ['AUTHORIZED_SPENDER_ROLE', 'PREAUTHORIZED_SPENDER_ROLE'].filter((name) => {
    const selector = `${name}()` as keyof typeof selectors
    const view = questions.view(calls.plain(token, selector))
    return view !== undefined && !(view.status === 'reverted' && view.data === selectors[selector])
  })
}

function labels(
  questions: Questions,
  rolesFound: ReadonlyMap<Hex, RoleFacts>,
  policies: ReadonlyMap<bigint, PolicyFacts>,
): Map<Address, Known<AccountLabel>> {
  const accounts = new Set<Address>()
  for (const role of rolesFound.values()) for (const { account } of role.holders) accounts.add(account)
  for (const policy of policies.values())
    for (const party of [policy.admin, policy.pendingAdmin]) if (party.known) accounts.add(party.value)
  return new Map([...accounts].map((account) => [account, labelAccount(questions, account)]))
}

// A list that serves many tokens may have been changed very often: the latest changes tell enough.
const policyEventsMax = 1_000

function policyHistory({ hints }: Gathered): Pick<TokenFacts, 'policyEvents' | 'policyEventsLeftOut'> {
  const all = [...hints.values()].flatMap(({ events }) => events).sort(byPlace)
  const policyEventsLeftOut = Math.max(0, all.length - policyEventsMax)
  return { policyEvents: all.slice(policyEventsLeftOut), policyEventsLeftOut }
}

/** Where logs and views tell different stories. */
function contradictionsOf(facts: TokenFacts, { replayed }: History): Contradiction[] {
  const found: Contradiction[] = []
  const differ = (code: string, detail: string) => found.push({ code, detail })
  for (const role of facts.roles.values()) {
    const byLogs = replayed.holders.get(role.role)
    const byViews = new Set(role.holders.map(({ account }) => account))
    for (const account of byLogs?.keys() ?? [])
      if (!byViews.has(account) && !role.unreadPairs.includes(account))
        differ('holder_in_logs_only', `${account} holds ${role.role} by the logs but not by hasRole`)
    for (const account of byViews)
      if (!byLogs?.has(account)) differ('holder_in_views_only', `${account} holds ${role.role}, and no log says so`)
    if (role.admin.known && role.admin.value !== (replayed.roleAdmins.get(role.role) ?? roles.DEFAULT_ADMIN_ROLE))
      differ('role_admin_differs', `the admin of ${role.role} is not the one the logs give`)
  }
  if (facts.supplyCap.known && facts.supplyCap.value !== replayed.supplyCap)
    differ('cap_differs', 'the supply cap is not the one the logs give')
  for (const name of scopeNames) {
    const fact = facts.scopes[name]
    if (fact?.known && fact.value !== (replayed.scopes.get(scopes[name]) ?? 0n))
      differ('policy_differs', `${name} is not bound to the policy the logs give`)
  }
  if (facts.paused.known && facts.paused.value.join() !== [...replayed.paused].sort((a, b) => a - b).join())
    differ('pause_differs', 'what is paused is not what the logs give')
  for (const [what, fact, text] of [
    ['name', facts.name, replayed.name],
    ['symbol', facts.symbol, replayed.symbol],
  ] as const)
    if (fact.known && text !== undefined && fact.value !== text)
      differ(`${what}_differs`, `the ${what} is not the one the logs give`)
  return facts.variant === 'unsupported' ? [] : found
}
