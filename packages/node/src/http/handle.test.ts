import { expect, test } from 'vitest'
import { send, testDoor } from './door.fixture.ts'

test('a first look', async () => {
  const door = testDoor()
  const a = await send(door, { target: '/v1/report/1' })
  console.log(a.status, a.headers, a.text)
  expect(a.status).toBe(402)
})
