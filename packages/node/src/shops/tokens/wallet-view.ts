import { type Address, checksumAddress, zeroAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { errorSelectors, roles, type ScopeName } from './abi/b20.ts'
import type { Checked } from './checker.ts'
import {
  type Condition,
  canReceive,
  feature,
  notPaused,
  roleHeld,
  saidOf,
  someoneAllowed,
  someoneReceives,
  someoneSeized,
  together,
} from './evaluate/conditions.ts'
import { findListEditors, freezingScopes, liveView, viewScope } from './evaluate/policies.ts'
import type { Membership } from './evaluate/policy-tree.ts'
import { worst } from './evaluate/reach.ts'
import { isReachable } from './evaluate/reachable.ts'
import type { Level } from './evaluate/types.ts'
import type { TokenFacts } from './facts.ts'
import { calls, transferData } from './read/calls.ts'
import { askLabel, labelAccount } from './read/label-account.ts'
import { agree, askAll, newMeter, type Panel } from './read/panel.ts'
import { createQuestions, type Questions } from './read/questions.ts'
import { blockParameter } from './read/views.ts'
import { readBool, readUint } from './read/words.ts'
import { showNumber } from './show.ts'

/** `later`: not now, but somebody can bring it about. */
type Answer = 'yes' | 'later' | 'no' | 'unknown'
export type Capability = { answer: Answer; why: string }

/** What one wallet can do with the token and what can be done to it, from views at the same block. */
export async function viewWallet(panel: Panel, multicall3: Address, checked: Checked, wallet: Address) {
  const questions = createQuestions({ panel, multicall3, block: checked.facts.block, meter: newMeter() })
  questions.ask(calls.balance(checked.facts.token, wallet))
  for (const base of simpleBases(checked.facts)) questions.ask(calls.authorized(base, wallet))
  askLabel(questions, wallet)
  const [, simulated] = await Promise.all([questions.run(), simulateTransfer(panel, checked.facts, wallet)])
  const { facts, membership } = withWallet(checked.facts, questions, wallet)
  return {
    wallet: checksumAddress(wallet),
    balance: showNumber(questions.fact(calls.balance(facts.token, wallet), (data) => readUint(data, 256))),
    hold: holdOf(facts, wallet, membership),
    send: sendOf(facts, wallet, membership, simulated),
    receive: receiveOf(facts, wallet, membership),
    be_frozen: frozenOf(checked, wallet, membership),
    be_seized: seizedOf(facts, membership),
  }
}

const simpleBases = (facts: TokenFacts): bigint[] => [...facts.policies.keys()].filter((base) => base >> 56n < 2n)

/** The facts with what the views say of this wallet; without a membership where a list could not be read. */
function withWallet(facts: TokenFacts, questions: Questions, wallet: Address) {
  const listed = new Set<bigint>()
  let known = true
  for (const base of simpleBases(facts)) {
    const answer = questions.fact(calls.authorized(base, wallet), readBool)
    if (!answer.known) known = false
    else if (answer.value === (base >> 56n === 1n)) listed.add(base)
  }
  const accounts = new Map([...facts.accounts, [wallet, labelAccount(questions, wallet)] as const])
  const membership: Membership | undefined = known ? { listed, accounts: [wallet] } : undefined
  return { facts: { ...facts, accounts }, membership }
}

const say = (answer: Answer, why: string): Capability => ({ answer, why })
const unread: Condition = { level: 'unknown', enablers: [] }

const said = (facts: TokenFacts, scope: ScopeName, wanted: boolean, of: Membership | undefined): Condition =>
  of === undefined ? unread : saidOf(facts, scope, wanted, of)

/** What is so now, for questions about this moment. */
const nowOf = ({ level }: Condition): Answer => (level === 'armed' ? 'yes' : level === 'unknown' ? 'unknown' : 'no')

/** The first of these that is not met, or that is not known. */
function firstUnmet(checks: readonly (readonly [Answer, string])[]): Capability | undefined {
  const found = checks.find(([answer]) => answer === 'no') ?? checks.find(([answer]) => answer === 'unknown')
  if (found === undefined) return undefined
  return found[0] === 'no' ? say('no', found[1]) : say('unknown', 'a policy or the pause could not be read')
}

const receiverText = 'the receiver policy denies this wallet'

function creditable(facts: TokenFacts, wallet: Address, membership: Membership | undefined) {
  return [
    [
      canReceive(facts, wallet) ? 'yes' : 'no',
      wallet === zeroAddress ? 'address zero cannot be given tokens' : 'from Denim on no token can be given tokens',
    ],
    [nowOf(said(facts, 'TRANSFER_RECEIVER_POLICY', true, membership)), receiverText],
  ] as const
}

function holdOf(facts: TokenFacts, wallet: Address, membership: Membership | undefined): Capability {
  const unmet = firstUnmet(creditable(facts, wallet, membership))
  if (unmet === undefined) return say('yes', 'the receiver policy lets this wallet in')
  return unmet.answer === 'no' ? say('no', `${unmet.why}; what it has already stays`) : unmet
}

const pausedAnswer = (facts: TokenFacts): Answer =>
  facts.paused.known ? (facts.paused.value.includes(0) ? 'no' : 'yes') : 'unknown'

type Simulated = 'works' | 'policy' | 'paused' | 'unclear'

function sendOf(
  facts: TokenFacts,
  wallet: Address,
  membership: Membership | undefined,
  simulated: Simulated,
): Capability {
  const executes = freezingScopes(facts).scopes.includes('TRANSFER_EXECUTOR_POLICY')
  const unmet = firstUnmet([
    [isReachable(facts, wallet) ? 'yes' : 'no', 'this address can never call anything'],
    [pausedAnswer(facts), 'transfers are paused'],
    [nowOf(said(facts, 'TRANSFER_SENDER_POLICY', true, membership)), 'the sender policy denies this wallet'],
    // From Denim on the one who initiates a transfer is asked about too, even the holder itself.
    [
      executes ? nowOf(said(facts, 'TRANSFER_EXECUTOR_POLICY', true, membership)) : 'yes',
      'the executor policy denies this wallet',
    ],
    [
      mostOf(
        nowOf(someoneReceives(facts, 'TRANSFER_RECEIVER_POLICY')),
        ...creditable(facts, wallet, membership).map(([answer]) => answer),
      ),
      'the receiver policy denies everybody',
    ],
    [facts.fork.fork.known ? 'yes' : 'unknown', ''],
  ])
  if (unmet !== undefined) return unmet
  // The simulated transfer goes to the wallet itself, so a denial there may be the receiver's.
  const own = firstUnmet(creditable(facts, wallet, membership)) === undefined
  if (simulated === 'policy' && own) return say('unknown', 'views allow it and a simulated transfer is refused')
  if (simulated === 'paused') return say('unknown', 'nothing is paused and a simulated transfer says otherwise')
  return say(
    'yes',
    simulated === 'works' ? 'views and a simulated transfer agree' : 'the views allow it; it was not simulated',
  )
}

/** Anybody who may receive will do; the wallet itself is one of them, whether a list names it or not. */
const mostOf = (others: Answer, ...own: Answer[]): Answer =>
  others !== 'no' || own.includes('no') ? others : own.includes('unknown') ? 'unknown' : 'yes'

function receiveOf(facts: TokenFacts, wallet: Address, membership: Membership | undefined): Capability {
  const executes = freezingScopes(facts).scopes.includes('TRANSFER_EXECUTOR_POLICY')
  const unmet = firstUnmet([
    [pausedAnswer(facts), 'transfers are paused'],
    ...creditable(facts, wallet, membership),
    [nowOf(someoneAllowed(facts, 'TRANSFER_SENDER_POLICY')), 'the sender policy denies everybody'],
    [
      executes ? nowOf(someoneAllowed(facts, 'TRANSFER_EXECUTOR_POLICY')) : 'yes',
      'the executor policy denies everybody',
    ],
  ])
  return unmet ?? say('yes', 'the receiver policy lets this wallet in')
}

function frozenOf({ facts, evaluation }: Checked, wallet: Address, membership: Membership | undefined): Capability {
  const pause = evaluation.powers.pause.now
  const { scopes } = freezingScopes(facts)
  const denied = scopes.find((scope) => said(facts, scope, false, membership).level === 'armed')
  if (denied !== undefined) return say('yes', `it is frozen now: ${scopeTexts[denied] ?? denied} denies it`)
  if (facts.paused.known && facts.paused.value.includes(0))
    return say('yes', 'it is frozen now, like everybody: transfers are paused')
  const level = worst(pause, ...scopes.map((scope) => freezeLevel(facts, scope, membership)))
  if (level === 'armed') return say('yes', 'somebody can freeze it or pause transfers now')
  if (level === 'unknown') return say('unknown', 'who could freeze is not known')
  if (level === 'latent') return say('later', 'not now, but somebody can bring it about')
  return say('no', `nobody can freeze ${checksumAddress(wallet)} or pause transfers, now or later`)
}

const scopeTexts: Partial<Record<ScopeName, string>> = {
  TRANSFER_SENDER_POLICY: 'the sender policy',
  TRANSFER_RECEIVER_POLICY: 'the receiver policy',
  TRANSFER_EXECUTOR_POLICY: 'the executor policy',
}

/** Whether a list can stop this wallet now, or only another policy could. */
function freezeLevel(facts: TokenFacts, scope: ScopeName, membership: Membership | undefined): Level {
  if (membership === undefined) return 'unknown'
  const live = liveView(facts, viewScope(facts, scope))
  if (findListEditors(live, false, [membership]).length > 0) return 'armed'
  return saidOf(facts, scope, false, membership).level
}

/** Polarity differs: to be exempt is to be authorised, to be burnable is to be denied as a sender. */
function seizedOf(facts: TokenFacts, membership: Membership | undefined): Capability {
  const beryl = facts.fork.fork.known && facts.fork.fork.value === 'beryl'
  const seized: Level = beryl
    ? 'impossible'
    : together(
        roleHeld(facts, roles.SEIZE_ROLE),
        notPaused(facts, feature.seize),
        membership === undefined ? unread : someoneSeized(facts, membership),
      ).level
  const burned = together(
    roleHeld(facts, roles.BURN_BLOCKED_ROLE),
    notPaused(facts, feature.burn),
    said(facts, 'TRANSFER_SENDER_POLICY', false, membership),
  ).level
  if (seized === 'armed') return say('yes', 'it is not exempt, and somebody can seize now')
  if (burned === 'armed') return say('yes', 'it is blocked, and somebody can burn blocked tokens now')
  if (seized === 'unknown' || burned === 'unknown')
    return say('unknown', 'who could seize, or whether this wallet is exempt, is not known')
  if (seized === 'latent' || burned === 'latent') return say('later', 'not now, but somebody can bring it about')
  return say('no', 'nobody can seize or burn it, now or later')
}

/** A transfer of nothing to oneself, run against the block without being sent. */
async function simulateTransfer(panel: Panel, facts: TokenFacts, wallet: Address): Promise<Simulated> {
  const call = { from: wallet, to: facts.token, data: transferData(wallet, 0n) }
  const replies = await askAll(panel, [{ method: 'eth_call', params: [call, blockParameter(facts.block)] }])
  const outcomes = replies.map(([reply]): Simulated | undefined => {
    if (reply?.ok) return typeof reply.value === 'string' && readBool(reply.value as Hex) === true ? 'works' : 'unclear'
    if (!reply?.refused) return undefined
    const data = reply.data
    if (data?.startsWith(errorSelectors['PolicyForbids(bytes32,uint64)'])) return 'policy'
    return data?.startsWith(errorSelectors['ContractPaused(uint8)']) ? 'paused' : 'unclear'
  })
  const outcome = agree(panel, outcomes, (text) => text)
  return outcome.status === 'agreed' ? outcome.value : 'unclear'
}
