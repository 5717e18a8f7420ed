import { expect, test } from 'vitest'
import { CliError, exitCodes } from './exit-codes.ts'
import { reportError, toCliError } from './report-error.ts'
import { createTestTerminal } from './terminal.fixture.ts'

const said = (error: unknown) => {
  const terminal = createTestTerminal()
  reportError(terminal, false, toCliError(error))
  return terminal.stderr()
}

test('what a node refused is shown with its words, its hint and the code to look it up by', () => {
  const problem = {
    code: 'feed_unknown',
    detail: 'There is no such feed.',
    hint: 'Use one of `feeds`.',
    feeds: ['etf'],
  }
  const details = { status: 404, problem }
  const error = Object.assign(new Error('refused'), { name: 'AssayError', code: 'request_failed', details })
  expect(said(error)).toBe('error: There is no such feed.\n  Use one of `feeds`.\n  feeds: etf\n  code: feed_unknown\n')
})

test('what never reached a node has no code of a node', () => {
  expect(said(new CliError(exitCodes.usage, 'usage', 'Name a file.'))).toBe('error: Name a file.\n')
})
