import { expect, test } from 'vitest'
import { createAnswerMemo } from './answer-memo.ts'

const answer = (size: number) => ({ status: 200, contentType: 'application/json', body: Buffer.alloc(size) })

test('an answer is held from its second time on, within its bounds, and the oldest goes first', () => {
  const memo = createAnswerMemo(100, 60)
  const ask = (key: string, size: number) => {
    memo.put(key, answer(size))
    return memo.get(key) !== undefined
  }
  expect([ask('a', 40), ask('a', 40)]).toEqual([false, true])
  ask('b', 40)
  ask('b', 40)
  ask('c', 40)
  ask('c', 40)
  expect(['a', 'b', 'c'].map((key) => memo.get(key) !== undefined)).toEqual([false, true, true])
  expect([ask('large', 61), ask('large', 61)]).toEqual([false, false])
})

test('a crowd of different queries pushes nothing out', () => {
  const memo = createAnswerMemo(100, 60)
  memo.put('kept', answer(50))
  memo.put('kept', answer(50))
  for (let i = 0; i < 10_000; i += 1) memo.put(`other ${i}`, answer(50))
  expect(memo.get('kept')).toBeDefined()
})
