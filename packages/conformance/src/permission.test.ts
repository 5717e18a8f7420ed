import { createServer } from 'node:http'
import { onLoopback } from '@assay/till/kernel/on-loopback.fixture'
import { afterAll, expect, test } from 'vitest'
import type { Case } from './case.ts'
import { forbidden, permissionPath, readPermission } from './permission.ts'

const nonce = 'aa'.repeat(16)
const server = createServer((request, response) => {
  response.statusCode = request.url === permissionPath ? 200 : 404
  response.end(`other\n${nonce}\n`)
})
const { url: origin, close } = await onLoopback(server)
afterAll(close)

const url = new URL(`${origin}/paid`)
const one = (level: Case['level'], ...needs: Case['needs']): Case =>
  ({ id: 'x', level, title: '', why: '', fix: '', needs, run: async () => ({ verdict: 'passed', seen: '' }) }) as Case

test('a host grants a run by serving its very nonce, and no other', async () => {
  expect(await readPermission(url, false, nonce)).toMatchObject({ isGranted: true })
  expect(await readPermission(url, false, nonce.slice(2))).toMatchObject({ isGranted: false })
  expect(await readPermission(new URL('http://127.0.0.1:9/paid'), false, nonce)).toMatchObject({ isGranted: false })
})

test('without permission only what reads is run against a host elsewhere', () => {
  const stranger = { isLoopback: false, isGranted: false }
  expect(forbidden(one('L1'), stranger)).toBeUndefined()
  expect(forbidden(one('L5'), stranger)).toBeUndefined()
  expect(forbidden(one('L5', 'payment'), stranger)).toContain(permissionPath)
  expect(forbidden(one('L2', 'payment'), stranger)).toContain(permissionPath)
  expect(forbidden(one('L1', 'loopback'), stranger)).toBeDefined()
})

test('floods, crashes and faulty facilitators stay on this machine even with permission', () => {
  const granted = { isLoopback: false, isGranted: true }
  expect(forbidden(one('L2', 'payment'), granted)).toBeUndefined()
  for (const need of ['loopback', 'facilitator', 'restart'] as const)
    expect(forbidden(one('L4', 'payment', need), granted)).toContain('this machine')
})
