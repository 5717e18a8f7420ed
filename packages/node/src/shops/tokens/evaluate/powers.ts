import type { Hex } from '@assay/protocol/bytes'
import { adminRole, noSupplyCap, roles, type ScopeName } from '../abi/b20.ts'
import type { TokenFacts } from '../facts.ts'
import {
  belowCap,
  type Condition,
  enablersOf,
  feature,
  notPaused,
  roleHeld,
  someoneDenied,
  someoneReceives,
  someoneSeized,
  together,
} from './conditions.ts'
import { exercisedOf } from './exercised.ts'
import {
  accountsAnswered,
  dedupe,
  findListEditors,
  findPolicyAdmins,
  findPossibleListEditors,
  freezingScopes,
  liveView,
  viewScope,
} from './policies.ts'
import { adminLevel, isLive, reachOf, worst } from './reach.ts'
import type { Level, Party, Power, PowerName } from './types.ts'

/** Every power over holders, each at the worst that is proven or cannot be ruled out. */
export function powersOf(facts: TokenFacts): Record<PowerName, Power> {
  const used = exercisedOf(facts)
  const ofRole = (name: PowerName, role: Hex, what: string, ...more: Condition[]) =>
    rolePower(facts, role, used[name], what, more)
  return {
    admin: ofRole('admin', adminRole, 'rebind policies, move the supply cap and grant roles'),
    mint: ofRole('mint', roles.MINT_ROLE, 'create new tokens', ...mintNeeds(facts)),
    seize: seizePower(facts, used.seize),
    burn_blocked: ofRole(
      'burn_blocked',
      roles.BURN_BLOCKED_ROLE,
      'destroy the tokens of blocked accounts',
      notPaused(facts, feature.burn),
      someoneDenied(facts, 'TRANSFER_SENDER_POLICY'),
    ),
    freeze: freezePower(facts, used.freeze),
    pause: ofRole('pause', roles.PAUSE_ROLE, 'stop transfers, minting, burning or seizing'),
    unpause: ofRole('unpause', roles.UNPAUSE_ROLE, 'lift a pause'),
    supply_cap: ofRole('supply_cap', adminRole, 'move the supply cap'),
    metadata: ofRole('metadata', roles.METADATA_ROLE, 'rename the token and so void signed permits'),
    multiplier:
      facts.variant === 'stablecoin'
        ? never(used.multiplier, 'Stablecoins have no multiplier.')
        : ofRole('multiplier', roles.OPERATOR_ROLE, 'change the amounts that wallets display'),
  }
}

const never = (exercised: number, why: string): Power => power('impossible', exercised, [], [], why)

/** Who can do it now, and who else has a part in bringing it about. */
function power(now: Level, exercised: number, who: Party[], couldBecome: Party[], why: string): Power {
  const others = couldBecome.filter(({ account }) => !who.some((one) => one.account === account))
  // What was used once and cannot be used again is history, shown by the count.
  const state = exercised > 0 && (now === 'armed' || now === 'latent') ? 'exercised' : now
  return { state, now, exercised, who, couldBecome: now === 'impossible' ? [] : others, why }
}

/** A power that a role gives, as far as everything else that it needs is there. */
function rolePower(facts: TokenFacts, role: Hex, exercised: number, what: string, needs: Condition[]): Power {
  const reach = reachOf(facts, role)
  const { level: now } = together(roleHeld(facts, role), ...needs)
  const who = now === 'armed' ? reach.holders.filter((party) => isLive(facts, party)) : []
  return power(now, exercised, who, dedupe([...reach.couldBecome, ...needs.flatMap(enablersOf)]), sentence(now, what))
}

function sentence(level: Level, what: string): string {
  if (level === 'armed') return `Somebody can ${what} now.`
  if (level === 'latent') return `Nobody can ${what} now, but somebody can bring it about.`
  if (level === 'unknown') return `Whether anybody can ${what} is not known.`
  return `Nobody can ${what}, now or later.`
}

const mintNeeds = (facts: TokenFacts): Condition[] => [
  notPaused(facts, feature.mint),
  belowCap(facts),
  someoneReceives(facts, 'MINT_RECEIVER_POLICY'),
]

function seizePower(facts: TokenFacts, used: number): Power {
  if (facts.fork.fork.known && facts.fork.fork.value === 'beryl')
    return never(used, 'This fork has no seizing; the role would gain its meaning with the next one.')
  const needs = [notPaused(facts, feature.seize), someoneSeized(facts)]
  return rolePower(facts, roles.SEIZE_ROLE, used, 'move tokens out of accounts that are not exempt', needs)
}

function freezePower(facts: TokenFacts, used: number): Power {
  const { scopes, executorUncertain } = freezingScopes(facts)
  const found = scopes.map((scope) => {
    const one = freezeIn(facts, scope)
    const doubtful = executorUncertain && scope === 'TRANSFER_EXECUTOR_POLICY' && one.now !== 'impossible'
    return doubtful ? { now: 'unknown' as const, who: [], others: [...one.who, ...one.others] } : one
  })
  const now = worst(...found.map((one) => one.now))
  const others = dedupe(found.flatMap((one) => one.others))
  const who = dedupe(found.flatMap((one) => one.who))
  return power(now, used, who, others, sentence(now, 'keep accounts from sending or receiving'))
}

/** Through one scope: whose lists can stop somebody now, and who could bind another policy. */
function freezeIn(facts: TokenFacts, scope: ScopeName): { now: Level; who: Party[]; others: Party[] } {
  const view = viewScope(facts, scope)
  const admins = findPolicyAdmins(facts)
  const live = liveView(facts, view)
  const stopping = findListEditors(live, false)
  // Somebody froze everybody and can thaw them: that is freezing, at work.
  const allStopped = view.listsKnown && accountsAnswered(view, true)?.length === 0
  const thawing = allStopped ? dedupe([...findListEditors(live, true), ...admins.live]) : []
  const who = dedupe([...stopping, ...thawing])
  const others = dedupe([...findPossibleListEditors(view, false), ...admins.parties])
  if (who.length > 0) return { now: 'armed', who, others }
  const uncertain = view.uncertain || !view.listsKnown || admins.uncertain
  return { now: uncertain ? 'unknown' : others.length > 0 ? 'latent' : 'impossible', who, others }
}

/** The largest supply there can ever be, as far as it is proven. */
export function largestSupply(facts: TokenFacts): bigint | undefined {
  if (!facts.totalSupply.known || !facts.supplyCap.known) return undefined
  if (together(roleHeld(facts, roles.MINT_ROLE), ...mintNeeds(facts)).level === 'impossible')
    return facts.totalSupply.value
  const mint = reachOf(facts, roles.MINT_ROLE)
  if (mint.couldBecome.length === 0) return mint.uncertain ? undefined : facts.totalSupply.value
  const admin = adminLevel(facts)
  if (admin === 'unknown') return undefined
  return admin === 'impossible' ? facts.supplyCap.value : noSupplyCap
}
