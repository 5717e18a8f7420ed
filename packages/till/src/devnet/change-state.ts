import type { ChainState } from './chain-state.ts'
import { record } from './produce-block.ts'

/** Methods that change state outside of transactions; written to the journal like blocks. */
export const stateMethods: ReadonlySet<string> = new Set([
  'hardhat_setBalance',
  'hardhat_setCode',
  'hardhat_setNonce',
  'hardhat_setStorageAt',
])

export async function changeState(state: ChainState, method: string, params: readonly unknown[]): Promise<unknown> {
  const answer = await state.lock.exclusive(async () => {
    const result = await state.engine.call(method, params)
    record(state, { kind: 'state', method, params })
    return result
  })
  await state.journal.flushed()
  return answer
}
