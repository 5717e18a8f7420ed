import { type Address, checksumAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { errorSelectors, type ScopeName } from './abi/b20.ts'
import type { Checked } from './checker.ts'
import type { Known, TokenFacts } from './facts.ts'
import { canStillChange } from './judge/policies.ts'
import { adminLevel } from './judge/reach.ts'
import type { Level } from './judge/types.ts'
import { calls, transferData } from './read/calls.ts'
import { agree, askAll, newMeter, type Panel } from './read/panel.ts'
import { createQuestions } from './read/questions.ts'
import { blockParameter } from './read/views.ts'
import { readBool, readUint } from './read/words.ts'
import { showNumber } from './show.ts'

/** `later`: not now, but somebody can bring it about. */
type Answer = 'yes' | 'later' | 'no' | 'unknown'
export type Capability = { answer: Answer; why: string }

/** What one wallet can do with the token and what can be done to it, from views at the same block. */
export async function viewWallet(panel: Panel, multicall3: Address, checked: Checked, wallet: Address) {
  const { facts } = checked
  const questions = createQuestions(panel, multicall3, facts.block, newMeter())
  const ids = facts.scopes
  questions.ask(calls.balance(facts.token, wallet))
  for (const id of Object.values(ids)) if (id?.known) questions.ask(calls.authorized(id.value, wallet))
  const [, simulated] = await Promise.all([questions.run(), simulateTransfer(panel, facts, wallet)])
  const authorized = (scope: ScopeName): Answer => {
    const id = ids[scope]
    if (id === undefined) return 'yes'
    if (!id.known) return 'unknown'
    if (id.value === 0n) return 'yes'
    const policy = facts.policies.get(id.value & ((1n << 63n) - 1n))
    // A policy that is not there still answers something; it is no permission.
    if (policy !== undefined && !(policy.exists.known && policy.exists.value)) return 'unknown'
    return toAnswer(questions.fact(calls.authorized(id.value, wallet), readBool))
  }
  return {
    wallet: checksumAddress(wallet),
    balance: showNumber(questions.fact(calls.balance(facts.token, wallet), (data) => readUint(data, 256))),
    hold: holdOf(authorized('TRANSFER_RECEIVER_POLICY')),
    send: sendOf(facts, authorized, simulated),
    receive: receiveOf(facts, authorized('TRANSFER_RECEIVER_POLICY')),
    be_frozen: frozenOf(checked, authorized),
    be_seized: seizedOf(checked, authorized),
  }
}

const toAnswer = (fact: Known<boolean>): Answer => (fact.known ? (fact.value ? 'yes' : 'no') : 'unknown')
const say = (answer: Answer, why: string): Capability => ({ answer, why })

function holdOf(mayReceive: Answer): Capability {
  if (mayReceive === 'yes') return say('yes', 'the receiver policy lets this wallet in')
  return say(
    mayReceive,
    mayReceive === 'no'
      ? 'the receiver policy denies this wallet; what it has already stays'
      : 'the receiver policy could not be read',
  )
}

type Simulated = 'works' | 'policy' | 'paused' | 'unclear'

function sendOf(facts: TokenFacts, authorized: (scope: ScopeName) => Answer, simulated: Simulated): Capability {
  if (!facts.paused.known) return say('unknown', 'what is paused could not be read')
  if (facts.paused.value.includes(0)) return say('no', 'transfers are paused')
  const sender = authorized('TRANSFER_SENDER_POLICY')
  // From Denim on the one who initiates a transfer is asked about too, even the holder itself.
  const executor =
    facts.fork.fork.known && facts.fork.fork.value === 'denim' ? authorized('TRANSFER_EXECUTOR_POLICY') : 'yes'
  if (sender === 'no') return say('no', 'the sender policy denies this wallet')
  if (executor === 'no') return say('no', 'the executor policy denies this wallet')
  if (sender === 'unknown' || executor === 'unknown' || !facts.fork.fork.known)
    return say('unknown', 'a policy could not be read')
  // The simulated transfer goes to the wallet itself, so a denial there may be the receiver's.
  if (simulated === 'policy' && authorized('TRANSFER_RECEIVER_POLICY') === 'yes')
    return say('unknown', 'views allow it and a simulated transfer is refused')
  if (simulated === 'paused') return say('unknown', 'nothing is paused and a simulated transfer says otherwise')
  return say(
    'yes',
    simulated === 'works' ? 'views and a simulated transfer agree' : 'the views allow it; it was not simulated',
  )
}

function receiveOf(facts: TokenFacts, receiver: Answer): Capability {
  if (!facts.paused.known || receiver === 'unknown') return say('unknown', 'a policy or the pause could not be read')
  if (facts.paused.value.includes(0)) return say('no', 'transfers are paused')
  return receiver === 'yes'
    ? say('yes', 'the receiver policy lets this wallet in')
    : say('no', 'the receiver policy denies this wallet')
}

function frozenOf({ facts, judgement }: Checked, authorized: (scope: ScopeName) => Answer): Capability {
  const [freeze, pause] = [judgement.powers.freeze.now, judgement.powers.pause.now]
  if (authorized('TRANSFER_SENDER_POLICY') === 'no') return say('yes', 'it is frozen now: the sender policy denies it')
  if (facts.paused.known && facts.paused.value.includes(0))
    return say('yes', 'it is frozen now, like everybody: transfers are paused')
  if (freeze === 'armed' || pause === 'armed') return say('yes', 'somebody can freeze accounts or pause transfers now')
  if (freeze === 'unknown' || pause === 'unknown') return say('unknown', 'who could freeze is not known')
  if (freeze === 'latent' || pause === 'latent') return say('later', 'not now, but somebody can bring it about')
  return say('no', 'nobody can freeze accounts or pause transfers, now or later')
}

/** Polarity differs: to be exempt is to be authorised, to be burnable is to be denied as a sender. */
function seizedOf({ facts, judgement }: Checked, authorized: (scope: ScopeName) => Answer): Capability {
  const { seize, burn_blocked } = judgement.powers
  const [exempt, sender] = [authorized('SEIZE_EXEMPT_POLICY'), authorized('TRANSFER_SENDER_POLICY')]
  const seized = takingAnswer(facts, seize.now, exempt, 'SEIZE_EXEMPT_POLICY')
  const burned = takingAnswer(facts, burn_blocked.now, sender, 'TRANSFER_SENDER_POLICY')
  if (seized === 'yes') return say('yes', 'it is not exempt, and somebody can seize now')
  if (burned === 'yes') return say('yes', 'it is blocked, and somebody can burn blocked tokens now')
  if (seized === 'unknown' || burned === 'unknown')
    return say('unknown', 'who could seize, or whether this wallet is exempt, is not known')
  if (seized === 'later' && seize.now === 'armed') return say('later', 'it is exempt now, and somebody can end that')
  if (seized === 'later' || burned === 'later') return say('later', 'not now, but somebody can bring it about')
  return say('no', 'nobody can seize or burn it, now or later')
}

/** `spared`: what the scope says of the wallet; it is safe for good only where nobody can make the scope say otherwise. */
function takingAnswer(facts: TokenFacts, level: Level, spared: Answer, scope: ScopeName): Answer {
  if (level === 'impossible') return 'no'
  if (level === 'unknown' || spared === 'unknown') return 'unknown'
  if (spared === 'no') return level === 'armed' ? 'yes' : 'later'
  return canStillChange(facts, scope) || adminLevel(facts) !== 'impossible' ? 'later' : 'no'
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
