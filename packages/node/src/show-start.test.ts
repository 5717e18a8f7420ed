import { expect, test } from 'vitest'
import { showStart } from './show-start.ts'

/** A screen, and a clock whose seconds the test lets pass. */
function open(isTTY: boolean) {
  const written: string[] = []
  let pass = async () => {}
  const sleep = (_ms: number, signal?: AbortSignal) =>
    new Promise<void>((done, failed) => {
      signal?.addEventListener('abort', () => failed(signal.reason))
      pass = async () => {
        done()
        await Promise.resolve().then(() => {})
      }
    })
  const shown = showStart({ isTTY, write: (text) => written.push(text) }, { sleep })
  return { written, shown, second: () => pass() }
}

test('on a terminal a start counts the seconds between its steps, and leaves no trace of it', async () => {
  const { written, shown, second } = open(true)
  shown.say('starting the database')
  await second()
  await second()
  shown.say('starting the chains')
  await second()
  shown.end()
  await second()
  const clear = '\r\u001b[2K'
  expect(written).toEqual([
    '  starting the database\n',
    `${clear}  starting … 1 s`,
    `${clear}  starting … 2 s`,
    clear,
    '  starting the chains\n',
    `${clear}  starting … 3 s`,
    clear,
  ])
})

test('in a file or a pipe it writes its steps alone', async () => {
  const { written, shown, second } = open(false)
  shown.say('starting the database')
  await second()
  shown.end()
  expect(written).toEqual(['  starting the database\n'])
})
