import { expect, test } from 'vitest'
import { amount, partsOf } from './event-text.ts'

const [one, two] = [`0x${'Ab'.repeat(20)}`, `0x${'12'.repeat(20)}`]

test('amounts in the history are those of the token, and addresses are parts by themselves', () => {
  expect(partsOf(`${one} moved 1500000 from ${two} to ${one}`, 'seized', 6)).toEqual([
    { text: '' },
    { address: one },
    { text: ' moved 1.5 from ' },
    { address: two },
    { text: ' to ' },
    { address: one },
    { text: '' },
  ])
  const uncapped = String(2n ** 128n - 1n)
  expect(partsOf(`moved the supply cap from ${uncapped} to 1000000000000`, 'supply_cap_updated', 6)).toEqual([
    { text: 'moved the supply cap from none to 1,000,000' },
  ])
})

test('a multiplier is read with its 18 decimals and its time as a date', () => {
  const text = 'the multiplier changes from 1000000000000000000 to 1500000000000000000 at 1800000000'
  expect(partsOf(text, 'ui_multiplier_updated', 6)).toEqual([
    { text: 'the multiplier changes from 1 to 1.5 at 2027-01-15 08:00:00 UTC' },
  ])
})

test('numbers that are no amounts, and amounts without known decimals, stay as they are', () => {
  expect(partsOf('the entry 42 became 1000000', 'extra_metadata_updated', 6)).toEqual([
    { text: 'the entry 42 became 1000000' },
  ])
  expect(amount('1500000', { unknown: 'not read' })).toBe('1,500,000')
})
