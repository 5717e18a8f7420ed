import { createOrderBook } from '../../packages/node/src/shops/options/domain/book.ts'
import { createDice } from '../../packages/node/src/shops/options/option-lives.fixture.ts'

const operations = 500_000

/** Offers, purchases, returns and withdrawals on one book of some thousand offers, in memory. */
export function measureOrderBook() {
  const dice = createDice(3)
  const book = createOrderBook()
  const ids: string[] = []
  let seq = 0
  const place = () => {
    seq += 1
    const id = `o${seq}`
    ids.push(id)
    book.place({ id, writer: 'w', price: 50_000_000 + dice.below(700) * 100_000, seq, quantity: 1 + dice.below(5) })
  }
  for (let n = 0; n < 5_000; n += 1) place()
  const counts = { placed: 0, taken: 0, returned: 0, withdrawn: 0 }
  const cpuBefore = process.cpuUsage()
  const startedAt = performance.now()
  for (let n = 0; n < operations; n += 1) {
    const kind = dice.below(10)
    if (kind < 4) {
      place()
      counts.placed += 1
    } else if (kind < 8) {
      if (book.take({ quantity: 1 + dice.below(3), total: 10 ** 12 }).status === 'taken') counts.taken += 1
    } else if (kind === 8) {
      book.restore(ids[dice.below(ids.length)] as string, 1)
      counts.returned += 1
    } else if (book.withdraw(ids[dice.below(ids.length)] as string, 1) > 0) counts.withdrawn += 1
  }
  const seconds = (performance.now() - startedAt) / 1000
  const cpu = process.cpuUsage(cpuBefore)
  return {
    operations,
    per_second: Math.round(operations / seconds),
    per_cpu_second: Math.round(operations / ((cpu.user + cpu.system) / 1e6)),
    required_per_second: 50_000,
    ...counts,
  }
}
