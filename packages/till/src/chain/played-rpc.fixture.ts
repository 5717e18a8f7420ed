import { systemClock } from '../kernel/clock.ts'
import { createRpc } from './create-rpc.ts'
import type { Rpc } from './rpc.ts'

/** One endpoint whose answers are made here. */
export const playedRpc = (answer: (method: string, params: readonly unknown[]) => Promise<unknown>): Rpc =>
  createRpc(
    [{ name: 'played', send: (calls) => Promise.all(calls.map(({ method, params }) => answer(method, params))) }],
    {
      clock: systemClock,
    },
  )
