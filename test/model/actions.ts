import { authorizationOf, maySubmit, mine } from './abstract-chain.ts'
import { finish, intend } from './abstract-store.ts'
import { copyStore } from './encode.ts'
import { jobsOf, mayPayOut, performWrite, reconcile, signPayout } from './jobs.ts'
import {
  admitStep,
  answer,
  claimStep,
  conflictStep,
  decideStep,
  handlerOf,
  intendStep,
  readFirst,
  reclaimStep,
  releaseStep,
  resumeStep,
  transactionSaid,
  writeStep,
} from './request.ts'
import {
  type Bound,
  type Handler,
  headOf,
  type Said,
  type Store,
  timeOf,
  validBefore,
  type World,
  type Write,
} from './world.ts'

/** Something that may happen next. */
export type Action = {
  /** Only said of the steps that lead to a violation. */
  label(): string
  /** Set for what happens in the end by itself, lower first: without an attack the world becomes idle this way. */
  fair?: number | undefined
  /** False when nothing came of it. */
  run(world: World): unknown
}

const fairRequest = 1
const fairWrite = 2
const fairJob = 3
const fairFinal = 4
const fairBlock = 5

export function actionsOf(bound: Bound, world: World): Action[] {
  const actions: Action[] = []
  for (const handler of world.handlers) actions.push(...requestActions(bound, world, handler))
  jobActions(bound, world, actions)
  chainActions(bound, world, actions)
  sendActions(bound, world, actions)
  faultActions(bound, world, actions)
  payoutActions(bound, world, actions)
  return actions
}

const who = ({ n, auth, owner }: Handler) => `request ${n} (${auth}, process ${owner})`

function requestActions(bound: Bound, world: World, handler: Handler): Action[] {
  const step = (label: string, run: (world: World, own: Handler) => unknown, fair?: number): Action => ({
    label: () => `${who(handler)} ${label}`,
    fair,
    run: (next) => run(next, handlerOf(next, handler.n)),
  })
  switch (handler.at) {
    case 'new':
      return [step('looks at the chain', (next, own) => readFirst(bound, next, own), fairRequest)]
    case 'claim':
    case 'claim_again':
      return [step('claims', (next, own) => claimStep(bound, next, own), fairRequest)]
    case 'conflict':
      return [step('looks at the earlier payment', (next, own) => conflictStep(bound, next, own), fairRequest)]
    case 'reclaim':
      return [step('claims again', (next, own) => reclaimStep(bound, next, own), fairRequest)]
    case 'resume':
      return [step('resumes the abandoned payment', (next, own) => resumeStep(bound, next, own), fairRequest)]
    case 'claimed':
      return [
        step('has its answer and its last check', (next, own) => admitStep(bound, next, own), fairRequest),
        ...spend(
          world,
          'prepare',
          step('cannot prepare its answer', (_, own) => releaseStep(own, 'prepare_failed')),
        ),
      ]
    case 'intend':
      return [
        step('writes its intent', (next, own) => intendStep(bound, next, own), fairRequest),
        ...spend(
          world,
          'lostReply',
          step('writes its intent and sees an error', (next, own) => loseIntent(next, own)),
        ),
      ]
    case 'sending':
      return [...new Set([...bound.says, 'nothing' as const])].flatMap((said) =>
        saidActions(bound, handler, said, step),
      )
    case 'decide_again':
      return [step('looks at the chain again', (next, own) => decideStep(bound, next, own, false), fairRequest)]
    case 'write':
      return writeActions(bound, world, handler, step)
    case 'deferred':
      return [step('writes at last', (next, own) => writeStep(bound, next, own, false), fairRequest)]
  }
}

type Step = (label: string, run: (world: World, own: Handler) => unknown, fair?: number) => Action

/** What a facilitator says changes nothing until the request looks at the chain, so both are one step. */
function saidActions(bound: Bound, handler: Handler, said: Said, step: Step): Action[] {
  const fair = said === 'nothing' ? fairRequest : undefined
  const look = (lastRead: boolean) => (next: World, own: Handler) => {
    own.said = said
    return decideStep(bound, next, own, lastRead)
  }
  const report = `receives "${said}" from the facilitator and reads the chain`
  if (transactionSaid(bound, handler, said) === undefined) return [step(report, look(false), fair)]
  return [step(report, look(false)), step(`${report} for the last time`, look(true))]
}

function writeActions(bound: Bound, world: World, handler: Handler, step: Step): Action[] {
  const write = handler.write as Write
  const actions = [step(`writes ${nameOf(write)}`, (next, own) => writeStep(bound, next, own, false), fairRequest)]
  if (write.do === 'finish' && !write.hold)
    actions.push(
      ...spend(
        world,
        'lostAnswer',
        step('is served and its answer is lost', (next, own) => writeStep(bound, next, own, true)),
      ),
    )
  if (write.do === 'finish')
    actions.push(
      ...spend(
        world,
        'lostReply',
        step('is served and sees an error', (next, own) => loseFinish(next, own)),
      ),
    )
  const later = write.do === 'end' && !write.move.startsWith('fail')
  if (later)
    actions.push(
      ...spend(
        world,
        'deferred',
        step('answers and writes later', (next, own) => deferWrite(bound, next, own)),
      ),
    )
  return actions
}

const nameOf = (write: Write): string => (write.do === 'end' ? `${write.move} (${write.reason})` : write.do)

/** Uses up one of what the bound allows. */
function spend(world: World, what: string, action: Action): Action[] {
  if ((world.left[what] ?? 0) <= 0) return []
  const { label, fair, run } = action
  return [
    {
      label,
      fair,
      run: (next) => {
        next.left[what] = (next.left[what] as number) - 1
        return run(next)
      },
    },
  ]
}

function loseIntent(world: World, own: Handler): boolean {
  if (!intend(world.store, own)) return false
  own.write = { do: 'end', row: own.row, move: 'withdraw', reason: 'interrupted' }
  own.answer = '503'
  own.at = 'write'
  return true
}

function loseFinish(world: World, own: Handler): boolean {
  if (own.write?.do !== 'finish') return false
  finish(world, own.write)
  own.write = { do: 'end', row: own.row, move: 'markUnknown', reason: 'interrupted' }
  own.answer = '503'
  own.at = 'write'
  return true
}

function deferWrite(bound: Bound, world: World, own: Handler): void {
  answer(bound, world, own, own.answer as string)
  own.at = 'deferred'
  own.answer = '503'
  world.handlers.push(own)
  world.handlers.sort((one, other) => one.n - other.n)
}

function jobActions(bound: Bound, world: World, actions: Action[]): void {
  for (const [index, write] of world.jobs.entries())
    actions.push({
      label: () => `a job writes ${nameOf(write)} of ${subjectOf(write)}`,
      fair: fairWrite,
      run: (next) => {
        next.jobs.splice(index, 1)
        performWrite(bound, next, write)
      },
    })
  if (world.store.cursor < world.final)
    actions.push({ label: () => 'transfers are recorded', fair: fairJob, run: (next) => reconcile(bound, next) })
  for (const { label, write, unlucky } of jobsOf(bound, world))
    if (bound.jobsInProgress === 0)
      actions.push({
        label: () => `a job ${label}`,
        fair: unlucky ? undefined : fairJob,
        run: (next) => performWrite(bound, next, write),
      })
    else if (
      world.jobs.length < bound.jobsInProgress &&
      !world.jobs.some((one) => JSON.stringify(one) === JSON.stringify(write))
    )
      actions.push({
        label: () => `a job ${label}: it will write ${nameOf(write)}`,
        fair: world.jobs.length === 0 && !unlucky ? fairJob : undefined,
        run: (next) => {
          next.jobs.push(write)
          if (next.jobs.length > 1)
            next.jobs.sort((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))
        },
      })
}

const subjectOf = (write: Write): string =>
  'row' in write ? write.row : 'transfer' in write ? write.transfer : 'n' in write ? `payout ${write.n}` : write.auth

function chainActions(bound: Bound, world: World, actions: Action[]): void {
  if (world.final < headOf(world))
    actions.push({
      label: () => `block ${world.final + 1} becomes final`,
      fair: fairFinal,
      run: (next) => {
        next.final += 1
      },
    })
  if (headOf(world) >= bound.heights) return
  const height = headOf(world) + 1
  const carry = (tx: string, ids: readonly string[]): Action => ({
    label: () => `${ids.join(' and ')} ${ids.length > 1 ? 'are' : 'is'} carried in block ${height} by ${tx}`,
    run: (next) => mine(bound, next, tx, ids),
  })
  for (const id of bound.carried)
    if (maySubmit(bound, world, id)) {
      actions.push(carry(`f:${id}`, [id]))
      if (bound.frontRun) actions.push(carry(`x:${id}`, [id]))
    }
  if (bound.batch?.every((id) => maySubmit(bound, world, id))) actions.push(carry('f:batch', bound.batch))
  actions.push({
    label: () => `block ${height} is empty`,
    fair: fairBlock,
    run: (next) => mine(bound, next, '', []),
  })
}

/**
 * Until something is sent, processes differ only in their number, and buyers of a bound in which they are alike only in
 * their names: the one that comes first is called the first.
 */
function sendActions(bound: Bound, world: World, actions: Action[]): void {
  if (bound.oneAfterTheOther && world.handlers.length > 0) return
  for (const id in bound.sends) {
    for (const owner of world.alive) {
      actions.push(
        ...spend(world, `send ${id}`, {
          label: () => `${authorizationOf(bound, id).payer} presents ${id} to process ${owner}`,
          run: (next) => {
            next.sent += 1
            const [n, at] = [next.sent, 'new' as const]
            next.handlers.push({
              ...{ n, auth: id, owner, at, row: '', head: 0, checkedHead: 0, said: null, write: null, answer: null },
            })
          },
        }),
      )
      if (world.sent === 0) break
    }
    if (world.sent === 0 && bound.alike) break
  }
}

function faultActions(bound: Bound, world: World, actions: Action[]): void {
  for (const owner of world.alive)
    if (world.handlers.some((one) => one.owner === owner))
      actions.push(
        ...spend(world, 'crash', {
          label: () => `process ${owner} crashes`,
          run: (next) => {
            next.alive = next.alive.filter((one) => one !== owner)
            next.handlers = next.handlers.filter((one) => one.owner !== owner)
            if (next.alive.length === 0) next.alive = [9]
          },
        }),
      )
  for (const row of world.store.rows)
    if ((row.state === 'claimed' || row.state === 'settling') && !row.leaseOver && world.alive.includes(row.owner))
      actions.push(
        ...spend(world, 'lease', {
          label: () => `the lease of ${row.id} runs out`,
          run: (next) => {
            for (const one of next.store.rows) if (one.id === row.id) one.leaseOver = true
          },
        }),
      )
  if (headOf(world) > world.final)
    actions.push(
      ...spend(world, 'reorg', {
        label: () => `a reorganisation replaces all blocks above ${world.final}`,
        run: reorganise,
      }),
    )
  if (world.left.restore && world.backup === null)
    actions.push({
      label: () => 'a backup is taken',
      run: (next) => {
        next.backup = copyStore(next.store)
      },
    })
  if (world.backup !== null)
    actions.push(
      ...spend(world, 'restore', { label: () => 'the backup is restored', run: (next) => restore(bound, next) }),
    )
}

function reorganise(world: World): void {
  world.blocks = world.blocks.slice(0, world.final + 1)
  world.uses = world.uses.filter(({ at }) => at <= world.final)
  world.outs = world.outs.filter(({ at }) => at <= world.final)
  world.fork += 1
  for (const handler of world.handlers) handler.checkedHead = Math.min(handler.checkedHead, world.final)
}

/** Every process ends, and a new one notices that its books are older than the chain. */
function restore(bound: Bound, world: World): void {
  world.store = copyStore(world.backup as Store)
  world.backup = null
  // As long as an authorization that was accepted by now can be carried.
  const window = Math.max(
    ...Object.keys(bound.sends).map((id) => Number(validBefore(authorizationOf(bound, id).until))),
    0,
  )
  world.store.gap = { until: headOf(world), lapses: timeOf(world.now) + window, lapsed: null, reconciled: false }
  world.handlers = []
  world.jobs = []
  world.alive = [5]
}

function payoutActions(bound: Bound, world: World, actions: Action[]): void {
  if (!bound.payouts) return
  if (headOf(world) < bound.heights)
    for (const payer of Object.keys(world.store.open))
      if (mayPayOut(world, payer))
        actions.push(
          ...spend(world, 'payout', {
            label: () => `${payer} is refunded its credit`,
            run: (next) => signPayout(next, payer),
          }),
        )
  for (const { n, payer, micro, state, until } of world.store.payouts)
    if (
      headOf(world) < Math.min(until, bound.heights) &&
      !world.outs.some((one) => one.n === n && one.payer === payer) &&
      state !== 'paid'
    )
      actions.push({
        label: () => `payout ${n} is carried in block ${headOf(world) + 1}`,
        run: (next) => {
          mine(bound, next, '', [])
          next.outs.push({ n, payer, micro, at: headOf(next) })
        },
      })
}
