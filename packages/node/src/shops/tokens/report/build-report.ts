import { type Address, checksumAddress, zeroAddress } from '@assay/protocol/address'
import { toRfc3339 } from '@assay/till/kernel/clock'
import { noSupplyCap, pausableFeatures, roleLabel, scopeNames, scopes } from '../abi/b20.ts'
import { verdictSentences } from '../check-answer.ts'
import type { Checked } from '../checker.ts'
import { deniesOf, influences, viewScope } from '../evaluate/policies.ts'
import { largestSupply } from '../evaluate/powers.ts'
import { pathOf, reachOf } from '../evaluate/reach.ts'
import { powerNames } from '../evaluate/types.ts'
import type { Genesis, Holder, TokenFacts } from '../facts.ts'
import { decodePolicyId } from '../policy-id.ts'
import {
  cleanText,
  show,
  showBlock,
  showCompleteness,
  showFork,
  showLabel,
  showNumber,
  showParty,
  showPower,
  showReading,
  showText,
  showUnreachable,
  validUntil,
} from '../show.ts'
import { describeEvent, historyOf } from './describe-event.ts'
import { questionsFor } from './questions.ts'

export const methodVersion = '1.0.0'

export type ReportOptions = { network: string; node: string; synthetic: boolean }

const networkNote =
  'Equal for all B20 tokens: hard forks can replace the logic, and the ActivationRegistry admin can switch features for new creations.'

/** The whole story of one token at one block: the same block gives the same bytes. */
export function buildReport(checked: Checked, options: ReportOptions) {
  const { facts, evaluation } = checked
  return {
    format: 'assay-b20-report',
    version: 1,
    method_version: methodVersion,
    source: 'live reads of the B20 precompiles at one block',
    address: checksumAddress(facts.token),
    chain_id: facts.chainId,
    network: options.network,
    node: options.node,
    ...(options.synthetic ? { synthetic: true } : {}),
    verdict: evaluation.verdict,
    summary: verdictSentences[evaluation.verdict],
    complete: evaluation.complete,
    block: { ...showBlock(facts.block), state_root: facts.block.stateRoot },
    fork: showFork(facts),
    valid_until_at: toRfc3339(validUntil(facts) * 1000),
    token: identityOf(facts),
    supply: supplyOf(facts),
    powers: Object.fromEntries(
      powerNames.map((name) => [name, showPower(facts, evaluation.powers[name], Number.POSITIVE_INFINITY)]),
    ),
    flags: evaluation.flags,
    unreachable: showUnreachable(checked),
    roles: rolesOf(facts),
    scopes: scopesOf(facts),
    policies: policiesOf(facts),
    pause: pauseOf(facts),
    seize_paths: seizePathsOf(checked),
    multiplier: multiplierOf(facts),
    genesis: facts.genesis === undefined ? null : genesisOf(facts.genesis),
    history: historyOf(facts).map((event) => describeEvent(event)),
    history_left_out: facts.policyEventsLeftOut,
    questions: questionsFor(evaluation.flags),
    network_note: networkNote,
    completeness: showCompleteness(checked),
    reading: showReading(checked),
  }
}

export type Report = ReturnType<typeof buildReport>

function identityOf(facts: TokenFacts) {
  return {
    name: showText(facts.name),
    symbol: showText(facts.symbol),
    decimals: show(facts.decimals, (value) => value),
    variant: facts.variant,
    contract_uri: showText(facts.contractUri),
    ...(facts.currency === undefined ? {} : { currency: showText(facts.currency) }),
    note: 'Name, symbol, link and currency are what the issuer says; the address is the identity.',
  }
}

function supplyOf(facts: TokenFacts) {
  const largest = largestSupply(facts)
  const { totalSupply, supplyCap } = facts
  return {
    total: showNumber(totalSupply),
    cap: show(supplyCap, (cap) => (cap === noSupplyCap ? 'none' : cap.toString())),
    headroom:
      totalSupply.known && supplyCap.known ? (supplyCap.value - totalSupply.value).toString() : { unknown: 'unread' },
    largest_possible: largest === undefined ? { unknown: 'unproven' } : largest.toString(),
  }
}

function rolesOf(facts: TokenFacts) {
  return [...facts.roles.values()].map((role) => {
    const reach = reachOf(facts, role.role)
    return {
      role: role.role,
      name: roleLabel(role.role),
      admin: show(role.admin, (admin) => ({ role: admin, name: roleLabel(admin) })),
      admin_path: pathOf(facts, role.role).roles.map(roleLabel),
      holders: role.holders.map((holder) => holderOf(facts, holder)),
      could_become: reach.couldBecome.map((party) => showParty(facts, party)),
      complete: !reach.uncertain,
    }
  })
}

function holderOf(facts: TokenFacts, holder: Holder) {
  return {
    account: checksumAddress(holder.account),
    label: showLabel(facts.accounts.get(holder.account)),
    confirmed_by: 'hasRole at the pinned block',
    granted:
      holder.granted === undefined
        ? null
        : {
            block_number: holder.granted.blockNumber.toString(),
            transaction: holder.granted.transaction,
            log_index: holder.granted.logIndex,
            sender: checksumAddress(holder.granted.sender),
          },
  }
}

const scopeTexts: Record<string, string> = {
  TRANSFER_SENDER_POLICY: 'who may send; also whose tokens burnBlocked may destroy',
  TRANSFER_RECEIVER_POLICY: 'who may receive',
  TRANSFER_EXECUTOR_POLICY: 'who may initiate a transfer',
  MINT_RECEIVER_POLICY: 'who may be minted to',
  SEIZE_EXEMPT_POLICY: 'who is exempt from seizing: the reverse of all others',
  SEIZE_RECEIVER_POLICY: 'who may receive what was seized',
}

function scopesOf(facts: TokenFacts) {
  return scopeNames.map((name) => {
    const bound = facts.scopes[name]
    const view = viewScope(facts, name)
    return {
      scope: scopes[name],
      name,
      meaning: scopeTexts[name] ?? '',
      policy_id: bound === undefined ? null : showNumber(bound),
      denies: deniesOf(view),
      influenced_by: influences(view).map((party) => showParty(facts, party)),
    }
  })
}

function policiesOf(facts: TokenFacts) {
  const ofAdmin = (account: Address) =>
    account === zeroAddress
      ? null
      : { account: checksumAddress(account), label: showLabel(facts.accounts.get(account)) }
  return [...facts.policies.values()].map((policy) => ({
    id: policy.id.toString(),
    type: decodePolicyId(policy.id).kind ?? 'unknown',
    exists: show(policy.exists, (value) => value),
    admin: show(policy.admin, ofAdmin),
    pending_admin: show(policy.pendingAdmin, ofAdmin),
    renounced: show(policy.admin, (account) => account === zeroAddress),
    children: show(policy.children, (ids) =>
      ids.map((id) => ({
        id: id.toString(),
        base_id: decodePolicyId(id).base.toString(),
        inverted: decodePolicyId(id).inverted,
      })),
    ),
    listed: policy.members.map((account) => checksumAddress(account)),
    listed_count: policy.members.length,
    listed_complete: policy.membersComplete,
  }))
}

function pauseOf(facts: TokenFacts) {
  return {
    paused: show(facts.paused, (features) =>
      features.map((feature) => ({ feature, name: pausableFeatures[feature] ?? 'unknown' })),
    ),
    note: 'burnBlocked falls under BURN, seizing under SEIZE.',
  }
}

function seizePathsOf({ facts, evaluation }: Checked) {
  const path = (
    name: string,
    power: 'seize' | 'burn_blocked',
    scope: 'SEIZE_EXEMPT_POLICY' | 'TRANSFER_SENDER_POLICY',
  ) => ({
    path: name,
    level: evaluation.powers[power].now,
    exercised: evaluation.powers[power].exercised,
    scope,
    scope_denies: deniesOf(viewScope(facts, scope)),
    who: evaluation.powers[power].who.map((party) => showParty(facts, party)),
    why: evaluation.powers[power].why,
  })
  return [
    path('seizeWithMemo', 'seize', 'SEIZE_EXEMPT_POLICY'),
    path('burnBlocked', 'burn_blocked', 'TRANSFER_SENDER_POLICY'),
  ]
}

function multiplierOf(facts: TokenFacts) {
  if (facts.multiplier === undefined) return null
  return show(facts.multiplier, ({ current, pending }) => ({
    current_wad: current.toString(),
    pending:
      pending === undefined
        ? null
        : { value_wad: pending.value.toString(), effective_at: toRfc3339(pending.effectiveAt * 1000) },
    note: 'Changes displayed amounts, never raw balances.',
  }))
}

function genesisOf(genesis: Genesis) {
  return {
    block_number: genesis.blockNumber.toString(),
    transaction: genesis.transaction,
    sender: genesis.sender === undefined ? { unknown: 'unread' } : checksumAddress(genesis.sender),
    called: genesis.to === undefined ? { unknown: 'unread' } : checksumAddress(genesis.to),
    via: genesis.via,
    salt: genesis.salt ?? null,
    first_admin: genesis.firstAdmin === undefined ? null : checksumAddress(genesis.firstAdmin),
    init_calls: genesis.initCalls.map((call) => ({ ...call, arguments: call.arguments.map(cleanText) })),
  }
}
