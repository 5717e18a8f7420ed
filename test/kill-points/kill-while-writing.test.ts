import { expect, test } from 'vitest'
import { describeSession, isWriting, type Session } from './kill-while-writing.ts'

const session = (given: Partial<Session>): Session => ({
  pid: 7,
  ours: true,
  state: 'active',
  wrote: true,
  wait: null,
  query: 'commit',
  ...given,
})

test.each([
  [{}, 'commit'],
  [{ wait: 'WalSync' }, 'commit (WalSync)'],
  [{ query: 'insert into payment (id) values ($1)', wait: 'WALWrite' }, 'commit of insert into payment (WALWrite)'],
  [{ query: 'with a as (select 1) update payment set state = $1' }, 'update payment'],
  [{ query: 'delete from hold', wait: 'transactionid' }, 'delete from hold (transactionid)'],
])('a session that is writing counts, and says what', (given, said) => {
  expect(isWriting(session(given))).toBe(true)
  expect(describeSession(session(given))).toBe(said)
})

test.each([
  { state: 'idle' },
  { state: 'idle in transaction' },
  { wrote: false, query: 'select 1' },
  { query: 'update job_lease set until = $1' },
])('one that only looks, waits for its client or renews a lease does not', (given) => {
  expect(isWriting(session(given))).toBe(false)
})
