import { isLeftUnsettled } from '../../packages/till/src/transitions/decide-claim.ts'
import { isExposed } from '../../packages/till/src/transitions/decide-exposure.ts'
import { isOpen } from '../../packages/till/src/transitions/payment-state.ts'
import { authorizationOf } from './abstract-chain.ts'
import { type Bound, type Row, Violation, type World } from './world.ts'

/** The invariants of the simulation (test/adversary/invariants.ts), on the states of the model. */

const paid = (row: Row) => row.state === 'settled' || row.state === 'served' || row.state === 'credited'
const sum = (values: readonly number[]) => values.reduce((total, one) => total + one, 0)

/** What must hold at any moment. */
export function checkAlways(bound: Bound, world: World): void {
  checkBooks(bound, world)
  checkPaid(world)
  checkOpen(world)
  checkAnsweredBefore(world)
  checkCredited(bound, world, (id) => world.arrived.includes(id))
  checkExposure(bound, world)
}

/** What must hold besides, once nothing is under way and the chain is final: all is ended, posted and released. */
export function checkWhenIdle(bound: Bound, world: World): void {
  const { store } = world
  for (const row of store.rows)
    if (isOpen(row.state) || row.state === 'settled' || !row.final)
      throw new Violation(`${row.id} is ${row.state}${row.final ? '' : ' and not final'} for ever`)
  if (store.books.clearing !== 0) throw new Violation(`${store.books.clearing} is held in clearing for ever`)
  for (const use of world.uses)
    if (authorizationOf(bound, use.auth).to === 'us' && !isPosted(world, use.tx, use.position))
      throw new Violation(`the transfer of ${use.auth} is final and posted as nothing`)
  for (const transfer of store.transfers)
    if (
      transfer.postedAs !== null &&
      !world.uses.some((use) => use.tx === transfer.tx && use.position === transfer.position)
    )
      throw new Violation(`${transfer.tx} is posted as ${transfer.postedAs} and is in no final block`)
  checkCredited(bound, world, (id) => world.uses.some(({ auth }) => auth === id))
  const arrived = sum(
    world.uses.map(({ auth }) => authorizationOf(bound, auth)).map(({ to, micro }) => (to === 'us' ? micro : 0)),
  )
  const left = sum(world.outs.map(({ micro }) => micro))
  if (store.books.onchain !== arrived - left)
    throw new Violation(`the books say ${store.books.onchain} on chain, where ${arrived - left} is`)
  for (const payout of store.payouts) {
    const sent = world.outs.some(({ n, payer }) => n === payout.n && payer === payout.payer)
    if (sent !== (payout.state === 'paid'))
      throw new Violation(`a payout is ${payout.state} and was ${sent ? '' : 'not '}sent`)
  }
  for (const key of world.answered402)
    if (store.rows.some((row) => row.key === key && row.state === 'served'))
      throw new Violation(`402 was answered for ${key}, which then bought an answer`)
}

const isPosted = (world: World, tx: string, position: number) =>
  world.store.transfers.some((row) => row.tx === tx && row.position === position && row.postedAs !== null)

/** Each explained transfer is in the books once, by its own amount. */
function checkBooks(bound: Bound, { store }: World): void {
  const { books } = store
  const posted = sum(store.transfers.map((row) => (row.postedAs === null ? 0 : authorizationOf(bound, row.auth).micro)))
  const out = sum(store.payouts.map(({ state, micro }) => (state === 'paid' ? micro : 0)))
  if (books.onchain !== posted - out) throw new Violation(`${posted - out} is explained and ${books.onchain} posted`)
  const owing = sum(Object.values(books.credit)) - sum(Object.values(books.owed))
  const other = books.clearing + books.clearingPayouts + books.revenue + books.gap + books.review
  if (books.onchain !== owing + other)
    throw new Violation(`the books do not balance: ${books.onchain} and ${owing + other}`)
}

/** A payment that has money has exactly the transfer that it claimed. */
function checkPaid({ store }: World): void {
  if (new Set(store.rows.map(({ key }) => key)).size < store.rows.length)
    throw new Violation('one payment key is claimed by two rows')
  for (const row of store.rows) {
    const transfers = store.transfers.filter(
      ({ postedFor, postedAs }) => postedFor === row.id && postedAs === 'payment',
    )
    const fits = transfers.filter((one) => one.key === row.key && one.micro === row.micro && one.recipient === 'us')
    if (fits.length !== (paid(row) ? 1 : 0))
      throw new Violation(`${row.id} is ${row.state} and has ${fits.length} transfers`)
  }
}

/** Its buyer has what it asked for: a copy of it buys nothing, and what somebody else carries to the chain is credit. */
function checkAnsweredBefore({ store, answeredBefore }: World): void {
  for (const row of store.rows)
    if (answeredBefore.includes(row.key) && !isLeftUnsettled(row) && row.state !== 'credited')
      throw new Violation(`${row.id} is ${row.state} after its request got the answer of an earlier payment`)
}

function checkOpen({ store }: World): void {
  for (const [payer, open] of Object.entries(store.open)) {
    const rows = store.rows.filter((row) => row.payer === payer && isOpen(row.state))
    if (open.count !== rows.length || open.micro !== sum(rows.map(({ micro }) => micro)))
      throw new Violation(`${payer} holds ${open.count} payments open, of which ${rows.length} are`)
  }
}

/** Answers, credit and payouts of a payer together are never more than what it sent us. */
function checkCredited(bound: Bound, world: World, counts: (id: string) => boolean): void {
  const { store } = world
  // Right after a restore the books are older than the chain. Nothing leaves until they are reconciled.
  if (store.gap && !store.gap.reconciled) return
  for (const payer of Object.keys(store.open)) {
    const rows = world.granted.filter((id) => !isLost(bound, world, id, counts)).map((id) => id.split('/')[0] as string)
    const granted = sum(
      [...new Set(rows)].map(
        (key) => bound.authorizations.find((one) => one.key === key && one.payer === payer)?.micro ?? 0,
      ),
    )
    const held = sum(
      store.rows.filter((row) => row.payer === payer && row.state === 'settled').map(({ micro }) => micro),
    )
    const credit = (store.books.credit[payer] ?? 0) - (store.books.owed[payer] ?? 0)
    const out = sum([
      ...world.outs.filter((one) => one.payer === payer).map(({ micro }) => micro),
      ...store.payouts
        .filter((one) => one.payer === payer && one.state === 'signed' && !world.outs.some(({ n }) => n === one.n))
        .map(({ micro }) => micro),
    ])
    const arrived = sum(
      bound.authorizations.filter((one) => one.payer === payer && counts(one.id)).map(({ micro }) => micro),
    )
    // What this database has not sold, the other one may have.
    const paidToOthers = sum(
      bound.authorizations
        .filter((one) => one.payer === payer && one.soldByOther && counts(one.id) && !rows.includes(one.key))
        .map(({ micro }) => micro),
    )
    const given = granted + held + credit + out + paidToOthers
    if (given > arrived)
      throw new Violation(
        `${payer} was given ${given} (answers ${granted}, held ${held}, credit ${credit}, paid out ${out}) and sent ${arrived}`,
      )
  }
}

/** Sold before a restore, and its transfer taken away by a reorganisation: nothing in the books is left to say so. */
function isLost(bound: Bound, { store }: World, id: string, counts: (id: string) => boolean): boolean {
  const quoted = bound.authorizations.find(({ key }) => key === id.split('/')[0])
  const isServed = store.rows.some((row) => row.id === id && row.state === 'served')
  return store.gap !== null && !isServed && quoted !== undefined && !counts(quoted.id)
}

/** What a reorganisation could still take, and was given away for good. */
const exposedIn = (bound: Bound, { store, final }: World) =>
  store.rows.filter(
    (row) =>
      isExposed({ ...row, revocable: bound.revocable === true }) &&
      (row.state !== 'served' || (row.at as number) > final),
  )

function checkExposure(bound: Bound, world: World): void {
  if (bound.capMicro === undefined) return
  const served = exposedIn(bound, world).filter(({ state }) => state === 'served')
  const micro = sum(served.map((row) => row.micro))
  if (micro > bound.capMicro)
    throw new Violation(`${micro} is given away for money that is not final, above the cap of ${bound.capMicro}`)
}

/** Checked when a request is admitted, and when recovery gives something away. */
export function checkFreshPayers(bound: Bound, world: World, admitted: Row): void {
  if (bound.capMicro === undefined || bound.capForAll) return
  const { rows } = world.store
  const isKnown = (payer: string) => rows.some((row) => row.payer === payer && row.final && row.state === 'served')
  const fresh = sum(
    exposedIn(bound, world)
      .filter(({ payer }) => !isKnown(payer))
      .map(({ micro }) => micro),
  )
  if (!isKnown(admitted.payer) && fresh + admitted.micro > bound.capMicro / 2)
    throw new Violation(`fresh wallets use ${fresh + admitted.micro}, more than half of the cap`)
}
