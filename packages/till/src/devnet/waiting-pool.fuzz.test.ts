import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createWaitingPool, type WaitingTransaction } from './waiting-pool.ts'

const anyTransaction: fc.Arbitrary<WaitingTransaction> = fc
  .tuple(
    fc.constantFrom('0xa' as const, '0xb' as const),
    fc.integer({ min: 0, max: 5 }),
    fc.integer({ min: 0, max: 3 }),
  )
  .map(([sender, nonce, version]) => ({
    hash: `${sender}${nonce}${version}`,
    raw: '0x',
    sender,
    nonce,
    sinceMs: 0,
  }))

test('one transaction per place in line, whatever comes and goes', () => {
  const steps = fc.array(fc.tuple(fc.boolean(), anyTransaction), { maxLength: 40 })
  fc.assert(
    fc.property(steps, (list) => {
      const pool = createWaitingPool()
      const model = new Map<string, WaitingTransaction>()
      for (const [adding, transaction] of list) {
        const place = `${transaction.sender}:${transaction.nonce}`
        if (adding) {
          pool.add(transaction)
          model.set(place, transaction)
        } else {
          const present = model.get(place)?.hash === transaction.hash
          expect(pool.remove(transaction.hash)).toBe(present)
          if (present) model.delete(place)
        }
      }
      expect(pool.size).toBe(model.size)
      expect(new Set(pool.all().map(({ hash }) => hash))).toEqual(new Set([...model.values()].map(({ hash }) => hash)))
      for (const sender of ['0xa', '0xb'] as const) {
        let nonce = 0
        while (model.has(`${sender}:${nonce}`)) nonce += 1
        expect(pool.nextFreeNonce(sender, 0)).toBe(nonce)
      }
    }),
  )
})
