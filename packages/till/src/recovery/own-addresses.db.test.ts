import type { Address } from '@assay/protocol/address'
import { expect, test } from 'vitest'
import { useTestDatabase } from '../store/use-database.fixture.ts'
import { ownAddresses, recordOwnAddresses } from './own-addresses.ts'

const db = await useTestDatabase()

const [base, polygon] = ['eip155:8453', 'eip155:137']
const at = (digit: string): Address => `0x${digit.repeat(40)}`
const payees = (payTo: Address, custody: Address) => ({
  pay_to: { [base as string]: payTo, [polygon as string]: payTo },
  custody: { [base as string]: custody, [polygon as string]: custody },
})
const record = (payTo: Address, custody: Address) =>
  recordOwnAddresses(db.database, [base as string, polygon as string], payees(payTo, custody))

const shown = (own: Awaited<ReturnType<typeof record>>) =>
  own
    .all()
    .filter(({ network }) => network === base)
    .map(({ payee, address, retired }) => `${payee} ${address.slice(2, 3)}${retired ? ' retired' : ''}`)

test('PAY_TO could not be changed: an earlier address stays ours, retired, and can come back', async () => {
  expect(shown(await record(at('a'), at('c')))).toEqual(['pay_to a', 'custody c'])
  const moved = await record(at('b'), at('c'))
  expect(shown(moved)).toEqual(['pay_to a retired', 'pay_to b', 'custody c'])
  expect([at('a'), at('b'), at('c'), at('d')].map((address) => moved.isOurs(base as string, address))).toEqual([
    true,
    true,
    true,
    false,
  ])
  expect(shown(await record(at('a'), at('c')))).toEqual(['pay_to a', 'pay_to b retired', 'custody c'])
  expect(shown(await ownAddresses(db.database))).toEqual(['pay_to a', 'pay_to b retired', 'custody c'])
})
