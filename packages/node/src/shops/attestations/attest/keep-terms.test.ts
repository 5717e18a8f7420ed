import type { Clock } from '@assay/till/kernel/clock'
import { expect, test } from 'vitest'
import type { HostTerms } from './attest-price.ts'
import { keepTerms } from './keep-terms.ts'

const host = (domain: string) => ({ domain, registrable: domain })

function open() {
  let nowMs = 0
  const read: string[][] = []
  const changes = { count: 0 }
  let failing = false
  const terms = keepTerms(
    async (hosts) => {
      read.push(hosts.map(({ domain }) => domain))
      if (failing) throw new Error('no database')
      return hosts.map((): HostTerms => ({ own: null, rsl: { status: String(read.length) } }))
    },
    { clock: { monotonicMs: () => nowMs } as Clock, changes },
  )
  const ask = async (...domains: string[]) => (await terms(domains.map(host))).map(({ rsl }) => rsl?.status)
  return {
    ask,
    read,
    changes,
    pass: (ms: number) => {
      nowMs += ms
    },
    fail: (on: boolean) => {
      failing = on
    },
  }
}

test('any number of quotes for a host read its terms once in five seconds', async () => {
  const { ask, read, pass } = open()
  await Promise.all(Array.from({ length: 100 }, () => ask('a.com')))
  expect(await ask('a.com', 'b.com', 'a.com')).toEqual(['1', '2', '1'])
  expect(read).toEqual([['a.com'], ['b.com']])
  pass(5_000)
  expect(await ask('a.com')).toEqual(['3'])
})

test('terms that were set in this process are read again at once', async () => {
  const { ask, changes } = open()
  expect(await ask('a.com')).toEqual(['1'])
  changes.count += 1
  expect(await ask('a.com')).toEqual(['2'])
})

test('a failed read is not kept, and no more than a thousand hosts are', async () => {
  const { ask, read, fail } = open()
  fail(true)
  await expect(ask('a.com')).rejects.toThrow('no database')
  fail(false)
  expect(await ask('a.com')).toEqual(['2'])
  for (let n = 0; n < 1_000; n += 1) await ask(`${n}.com`)
  await ask('999.com')
  expect(read).toHaveLength(1_002)
  await ask('a.com')
  expect(read).toHaveLength(1_003)
})
