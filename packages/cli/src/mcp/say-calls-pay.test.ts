import { unpaidCallText } from '@assay/protocol/tool-texts'
import { expect, test } from 'vitest'
import { sayThatCallsPay } from './say-calls-pay.ts'

test('every text says that calls pay, whatever the limits contain, and nothing else changes', () => {
  const said = (description: string) => ({
    tools: [{ name: 'a', description, inputSchema: { default: null, maxItems: 3, required: ['x'] } }],
    next: undefined,
    done: true,
  })
  const limits = 'at most "1" $& USD a call\\'
  expect(sayThatCallsPay(said(`Costs 1. ${unpaidCallText} ${unpaidCallText}`), limits)).toEqual(
    said(`Costs 1. Calling it pays at once, ${limits}. Calling it pays at once, ${limits}.`),
  )
})
