import type { Hex } from '@assay/protocol/bytes'
import { adminRole, factoryAddress, noSupplyCap, roles, type ScopeName } from '../abi/b20.ts'
import type { TokenFacts } from '../facts.ts'
import { decodePolicyId } from '../policy-id.ts'
import { dedupe, type PolicyEffect, scopeEffect } from './policies.ts'
import { adminLevel, hinder, levelOf, needsBoth, pauseObstacle, type RoleReach, reachOf, worst } from './reach.ts'
import type { Level, Party, Power, PowerName } from './types.ts'

const feature = { mint: 1, burn: 2, seize: 3 }
export const transferScopes: readonly ScopeName[] = [
  'TRANSFER_SENDER_POLICY',
  'TRANSFER_RECEIVER_POLICY',
  'TRANSFER_EXECUTOR_POLICY',
]

/** Every power over holders, each at the worst that is proven or cannot be ruled out. */
export function powersOf(facts: TokenFacts): Record<PowerName, Power> {
  return {
    admin: adminPower(facts),
    mint: mintPower(facts),
    seize: seizePower(facts),
    burn_blocked: burnBlockedPower(facts),
    freeze: freezePower(facts),
    pause: rolePower(
      facts,
      roles.PAUSE_ROLE,
      countEvents(facts, 'paused'),
      'stop transfers, minting, burning or seizing',
    ),
    unpause: rolePower(facts, roles.UNPAUSE_ROLE, countEvents(facts, 'unpaused'), 'lift a pause'),
    supply_cap: capPower(facts),
    metadata: rolePower(
      facts,
      roles.METADATA_ROLE,
      countEvents(facts, 'name_updated', 'symbol_updated', 'contract_uri_updated'),
      'rename the token and so void signed permits',
    ),
    multiplier: multiplierPower(facts),
  }
}

function countEvents(facts: TokenFacts, ...kinds: string[]): number {
  return facts.events.filter((event) => kinds.includes(event.kind)).length
}

function power(now: Level, exercised: number, reach: { holders: Party[]; couldBecome: Party[] }, why: string): Power {
  const others = reach.couldBecome.filter(({ account }) => !reach.holders.some((one) => one.account === account))
  // What was used once and cannot be used again is history, told by the count.
  const state = exercised > 0 && (now === 'armed' || now === 'latent') ? 'exercised' : now
  return { state, now, exercised, who: reach.holders, couldBecome: others, why }
}

function rolePower(facts: TokenFacts, role: Hex, exercised: number, what: string): Power {
  const reach = reachOf(facts, role)
  const now = levelOf(facts, reach)
  return power(now, exercised, reach, sentence(now, what))
}

function sentence(level: Level, what: string): string {
  if (level === 'armed') return `Somebody can ${what} now.`
  if (level === 'latent') return `Nobody can ${what} now, but somebody can bring it about.`
  if (level === 'unknown') return `Whether anybody can ${what} is not known.`
  return `Nobody can ${what}, now or later.`
}

function adminPower(facts: TokenFacts): Power {
  const reach = reachOf(facts, adminRole)
  const now = adminLevel(facts)
  const used = facts.events.filter(
    (event) =>
      (event.kind === 'supply_cap_updated' && event.updater !== factoryAddress) ||
      ((event.kind === 'role_granted' || event.kind === 'role_revoked') && event.sender !== factoryAddress),
  ).length
  return power(now, used, reach, sentence(now, 'rebind policies, move the supply cap and grant roles'))
}

function capPower(facts: TokenFacts): Power {
  const reach = reachOf(facts, adminRole)
  const now = adminLevel(facts)
  const used = facts.events.filter((event) => event.kind === 'supply_cap_updated' && event.updater !== factoryAddress)
  return power(now, used.length, reach, sentence(now, 'move the supply cap'))
}

function mintPower(facts: TokenFacts): Power {
  const reach = reachOf(facts, roles.MINT_ROLE)
  let now = hinder(levelOf(facts, reach), pauseObstacle(facts, feature.mint))
  const full = facts.supplyCap.known && facts.totalSupply.known && facts.totalSupply.value >= facts.supplyCap.value
  // Burning makes room again, so a full cap never ends minting for good.
  if (full && now === 'armed') now = 'latent'
  const receivers = scopeEffect(facts, 'MINT_RECEIVER_POLICY')
  now = hinder(now, { there: receivers.denies === 'everybody', liftable: adminLevel(facts) })
  const minted = facts.totalSupply.known && facts.totalSupply.value > 0n ? 1 : 0
  return power(now, minted, reach, sentence(now, 'create new tokens'))
}

/** A holder of the role, and a scope that denies somebody: both are needed to take tokens away. */
function takingLevel(facts: TokenFacts, reach: RoleReach, effect: PolicyEffect): Level {
  const role = levelOf(facts, reach)
  const scope: Level =
    effect.denies === 'nobody' ? adminAsLatent(facts) : effect.denies === 'unknown' ? 'unknown' : 'armed'
  return needsBoth(role, scope)
}

/** An unset scope binds nobody until an admin sets it. */
function adminAsLatent(facts: TokenFacts): Level {
  const level = adminLevel(facts)
  return level === 'armed' ? 'latent' : level
}

function seizePower(facts: TokenFacts): Power {
  const reach = reachOf(facts, roles.SEIZE_ROLE)
  const used = countEvents(facts, 'seized')
  if (facts.fork.fork.known && facts.fork.fork.value === 'beryl')
    return power(
      'impossible',
      used,
      reach,
      'This fork has no seizing; the role would gain its meaning with the next one.',
    )
  const effect = scopeEffect(facts, 'SEIZE_EXEMPT_POLICY')
  let now = hinder(takingLevel(facts, reach, effect), pauseObstacle(facts, feature.seize))
  const receivers = scopeEffect(facts, 'SEIZE_RECEIVER_POLICY')
  now = hinder(now, { there: receivers.denies === 'everybody', liftable: adminLevel(facts) })
  return power(now, used, reach, sentence(now, 'move tokens out of accounts that are not exempt'))
}

function burnBlockedPower(facts: TokenFacts): Power {
  const reach = reachOf(facts, roles.BURN_BLOCKED_ROLE)
  const effect = scopeEffect(facts, 'TRANSFER_SENDER_POLICY')
  const now = hinder(takingLevel(facts, reach, effect), pauseObstacle(facts, feature.burn))
  return power(
    now,
    countEvents(facts, 'burned_blocked'),
    reach,
    sentence(now, 'destroy the tokens of blocked accounts'),
  )
}

function freezePower(facts: TokenFacts): Power {
  const admins = reachOf(facts, adminRole)
  const effects = transferScopes.map((scope) => scopeEffect(facts, scope))
  const now = worst(...effects.map((effect) => freezeLevel(facts, effect)))
  const parties = dedupe(effects.flatMap((effect) => effect.parties))
  const rebinders = admins.couldBecome.map(({ account }) => ({ account, how: 'can bind another policy' }))
  return power(
    now,
    frozenAccounts(facts),
    { holders: parties, couldBecome: dedupe([...parties, ...rebinders]) },
    sentence(now, 'keep accounts from sending or receiving'),
  )
}

function freezeLevel(facts: TokenFacts, effect: PolicyEffect): Level {
  const rebind = adminAsLatent(facts)
  if (effect.parties.length > 0) return 'armed'
  if (effect.uncertain || effect.denies === 'unknown') return 'unknown'
  // Somebody froze everybody and can thaw them: that is freezing, at work.
  if (effect.denies === 'everybody' && rebind !== 'impossible') return worst('armed', rebind)
  return rebind
}

/** Accounts that a blocklist bound to a transfer scope denies today. */
export function frozenAccounts(facts: TokenFacts): number {
  const frozen = new Set<string>()
  for (const scope of transferScopes) {
    const bound = facts.scopes[scope]
    if (!bound?.known) continue
    const { base, kind, inverted } = decodePolicyId(bound.value)
    const policy = facts.policies.get(base)
    const simple = kind === 'blocklist' && !inverted ? [policy] : []
    const children = policy?.children.known && kind === 'intersect' && !inverted ? policy.children.value : []
    for (const child of children) {
      const decoded = decodePolicyId(child)
      if (decoded.kind === 'blocklist' && !decoded.inverted) simple.push(facts.policies.get(decoded.base))
    }
    for (const one of simple) for (const account of one?.members ?? []) frozen.add(account)
  }
  return frozen.size
}

function multiplierPower(facts: TokenFacts): Power {
  if (facts.variant === 'stablecoin')
    return power('impossible', 0, { holders: [], couldBecome: [] }, 'Stablecoins have no multiplier.')
  const used = countEvents(facts, 'multiplier_updated', 'ui_multiplier_updated')
  return rolePower(facts, roles.OPERATOR_ROLE, used, 'change the amounts that wallets display')
}

/** The largest supply there can ever be, as far as it is proven. */
export function largestSupply(facts: TokenFacts): bigint | undefined {
  if (!facts.totalSupply.known || !facts.supplyCap.known) return undefined
  const mint = reachOf(facts, roles.MINT_ROLE)
  if (mint.couldBecome.length === 0) return mint.uncertain ? undefined : facts.totalSupply.value
  const admin = adminLevel(facts)
  if (admin === 'unknown') return undefined
  return admin === 'impossible' ? facts.supplyCap.value : noSupplyCap
}
