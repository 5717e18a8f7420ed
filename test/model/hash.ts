import type { Store, World } from './world.ts'

/** A hash of 64 bits over everything that makes a state. Texts are numbered once, and decisions and backups, which never change, too. */
export function createHash() {
  const numbers = new Map<string | null, number>([[null, 0]])
  const values = new WeakMap<object, number>()
  const hash = new Uint32Array(2)
  let one = 0
  let two = 0

  const number = (value: number) => {
    one = Math.imul(one ^ value, 2654435761)
    one ^= one >>> 15
    two = Math.imul(two ^ value, 1597334677)
    two = (two << 13) | (two >>> 19)
  }
  const text = (value: string | null) => {
    let known = numbers.get(value)
    if (known === undefined) {
      known = numbers.size
      numbers.set(value, known)
    }
    number(known)
  }
  const object = (value: object | null) => {
    if (value === null) return number(-7)
    let known = values.get(value)
    if (known === undefined) {
      const json = JSON.stringify(value)
      known = numbers.get(json) ?? numbers.size
      numbers.set(json, known)
      values.set(value, known)
    }
    number(known)
  }
  const flag = (value: boolean) => number(value ? 1 : 2)
  const place = (value: number | null) => number(value ?? -1)

  const store = (of: Store) => {
    for (const row of of.rows) {
      text(row.id)
      text(row.auth)
      text(row.stored)
      text(row.state)
      number(row.owner)
      number(row.attempt)
      number(
        (row.leaseOver ? 1 : 0) +
          (row.clientGone ? 2 : 0) +
          (row.delivered ? 4 : 0) +
          (row.final ? 8 : 0) +
          (row.provisional ? 16 : 0),
      )
      number(row.head)
      text(row.tx)
      place(row.at)
      place(row.fork)
      place(row.position)
      text(row.reason)
      number(row.reorgs)
    }
    number(-2)
    for (const row of of.transfers) {
      text(row.id)
      text(row.tx)
      text(row.auth)
      number(row.position)
      number(row.at)
      number(row.fork)
      text(row.postedAs)
      text(row.postedFor)
      flag(row.final)
    }
    number(-3)
    for (const payout of of.payouts) {
      text(payout.payer)
      text(payout.state)
      number(payout.n)
      number(payout.micro)
      number(payout.until)
    }
    number(of.cursor)
    for (const payer in of.open) {
      number(of.open[payer]?.count ?? 0)
      number(of.books.credit[payer] ?? 0)
      number(of.books.owed[payer] ?? 0)
    }
    const { onchain, clearing, clearingPayouts, revenue, gap, review } = of.books
    number(onchain)
    number(clearing)
    number(clearingPayouts)
    number(revenue)
    number(gap)
    number(review)
    if (of.gap) {
      number(of.gap.reconciled ? of.gap.until : -of.gap.until - 9)
      number(of.gap.lapses)
      number(of.gap.lapsed ?? -1)
    }
    number(-4)
  }

  return (world: World): Uint32Array => {
    one = 0xdeadbeef
    two = 0x41c6ce57
    for (const block of world.blocks) number(block)
    number(-1)
    number(world.final)
    number(world.fork)
    number(world.now)
    for (const use of world.uses) object(use)
    for (const out of world.outs) object(out)
    store(world.store)
    object(world.backup)
    for (const handler of world.handlers) {
      number(handler.n)
      text(handler.auth)
      number(handler.owner)
      text(handler.at)
      text(handler.row)
      number(handler.head)
      number(handler.checkedHead)
      text(handler.said)
      object(handler.write)
      text(handler.answer)
    }
    number(-5)
    for (const job of world.jobs) object(job)
    for (const owner of world.alive) number(owner)
    for (const what in world.left) number(world.left[what] as number)
    number(world.sent)
    for (const id of world.arrived) text(id)
    number(-6)
    for (const id of world.granted) text(id)
    number(world.lost)
    for (const key of world.answered402) text(key)
    number(-7)
    for (const key of world.answeredBefore) text(key)
    hash[0] = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(two ^ (two >>> 13), 3266489909)
    hash[1] = Math.imul(two ^ (two >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909)
    return hash
  }
}
