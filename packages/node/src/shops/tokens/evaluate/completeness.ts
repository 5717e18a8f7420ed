import { adminRole, noSupplyCap, pausableFeatures, roleLabel, scopeNames } from '../abi/b20.ts'
import type { TokenFacts } from '../facts.ts'
import { decodePolicyId } from '../policy-id.ts'
import type { Missing } from './types.ts'

/** Logs from creation to the pinned block, without a gap and without a word against the views. */
export function logsComplete(facts: TokenFacts): boolean {
  return facts.genesis !== undefined && facts.logs.gaps.length === 0 && facts.contradictions.length === 0
}

/** The number of admins in storage equals the number confirmed: nobody is missing. */
export function adminSetProven(facts: TokenFacts): boolean {
  const confirmed = BigInt(facts.roles.get(adminRole)?.holders.length ?? 0)
  return facts.adminCount.known && facts.adminCount.value === confirmed
}

/** Everything that keeps the answer from being complete. Each line alone forbids LOCKED and PARTIALLY_CONTROLLED. */
export function missingOf(facts: TokenFacts): Missing[] {
  const missing: Missing[] = []
  const add = (code: string, detail: string) => missing.push({ code, detail })
  if (facts.variant === 'unsupported') {
    add('unsupported_variant', `variant ${facts.variantByte} is not known to this release`)
    return missing
  }
  addFork(facts, add)
  addAdmins(facts, add)
  if (facts.genesis === undefined) add('creation_not_found', 'the log of the creation could not be found')
  for (const gap of facts.logs.gaps)
    add('log_gap', `logs of blocks ${gap.fromBlock} to ${gap.toBlock} were not read (${gap.reason})`)
  for (const { code, detail } of facts.contradictions) add(`contradiction_${code}`, detail)
  addRoles(facts, add)
  addPolicies(facts, add)
  addViews(facts, add)
  return missing
}

type Add = (code: string, detail: string) => void

function addFork({ fork, unreviewedRoles }: TokenFacts, add: Add): void {
  if (!fork.fork.known)
    add(
      'fork_unknown',
      `the fork cannot be determined (SEIZE_ROLE ${fork.seizeRole}, inverted ids ${fork.invertedPolicyId})`,
    )
  if (fork.mismatch) add('fork_mismatch', `the chain plays another fork than scheduled (${fork.scheduled})`)
  if (fork.unreviewed) add('unreviewed_fork', 'the block is later than a fork this release was not reviewed for')
  for (const name of unreviewedRoles)
    add('unreviewed_role', `${name} answers, and nobody here has reviewed what it does`)
}

function addAdmins(facts: TokenFacts, add: Add): void {
  const confirmed = facts.roles.get(adminRole)?.holders.length ?? 0
  if (!facts.adminCount.known)
    add('admin_count_unread', `the number of admins could not be read (${facts.adminCount.reason})`)
  else if (BigInt(confirmed) < facts.adminCount.value)
    add('admin_missing', `${facts.adminCount.value} admins exist, ${confirmed} are known`)
  else if (BigInt(confirmed) > facts.adminCount.value)
    add('admin_count_integrity', `${confirmed} admins are confirmed, storage counts ${facts.adminCount.value}`)
}

function addRoles(facts: TokenFacts, add: Add): void {
  for (const role of facts.roles.values()) {
    if (!role.admin.known) add('role_admin_unread', `who administers ${roleLabel(role.role)} is not known`)
    if (role.unreadPairs.length > 0)
      add('role_unread', `${role.unreadPairs.length} possible holders of ${roleLabel(role.role)} could not be tested`)
  }
}

function addPolicies(facts: TokenFacts, add: Add): void {
  for (const name of scopeNames) {
    const scope = facts.scopes[name]
    if (scope !== undefined && !scope.known) add('scope_unread', `${name} could not be read (${scope.reason})`)
    if (scope === undefined && facts.fork.fork.known && facts.fork.fork.value !== 'beryl')
      add('scope_unread', `${name} is refused although this fork has it`)
    if (!scope?.known) continue
    const bound = decodePolicyId(scope.value)
    if (bound.kind === undefined)
      add('unknown_policy_type', `${name} is bound to policy ${scope.value}, whose type is not known`)
    else if (bound.builtIn === undefined && !facts.policies.has(bound.base))
      add('policy_unread', `${name} is bound to policy ${bound.base}, of which nothing was read`)
  }
  for (const policy of facts.policies.values()) {
    if (!policy.exists.known || !policy.admin.known || !policy.pendingAdmin.known || !policy.children.known)
      add('policy_unread', `policy ${policy.id} could not be read`)
    else if (!policy.exists.value) add('policy_missing', `policy ${policy.id} is bound and does not exist`)
    else if (!policy.membersComplete)
      add('list_unread', `not everybody on the list of policy ${policy.id} could be read`)
    if (decodePolicyId(policy.id).kind === undefined)
      add('unknown_policy_type', `policy ${policy.id} is of a type that is not known`)
  }
}

function addViews(facts: TokenFacts, add: Add): void {
  const views = {
    name: facts.name,
    symbol: facts.symbol,
    decimals: facts.decimals,
    contract_uri: facts.contractUri,
  } as const
  for (const [name, fact] of Object.entries(views))
    if (!fact.known) add('metadata_unread', `${name} could not be read (${fact.reason})`)
  if (facts.currency !== undefined && !facts.currency.known) add('metadata_unread', 'currency could not be read')
  if (!facts.totalSupply.known) add('supply_unread', `the supply could not be read (${facts.totalSupply.reason})`)
  if (!facts.supplyCap.known) add('cap_unread', `the supply cap could not be read (${facts.supplyCap.reason})`)
  else if (facts.supplyCap.value > noSupplyCap)
    add('cap_integrity', 'the supply cap is larger than any that can be set')
  if (!facts.paused.known) add('pause_unread', `what is paused could not be read (${facts.paused.reason})`)
  else
    for (const feature of facts.paused.value)
      if (pausableFeatures[feature] === undefined)
        add('unknown_pause_feature', `feature ${feature} is paused and not known`)
  if (facts.multiplier !== undefined && !facts.multiplier.known)
    add('multiplier_unread', `the multiplier could not be read (${facts.multiplier.reason})`)
}
