import { describe, expect, it } from 'vitest'
import { type RpcEndpoint, RpcRefusal } from '../rpc.ts'
import { broadcast } from './broadcast.ts'

const taking: RpcEndpoint = { name: 'taking', send: async () => ['0x1'] }
const refusing = (message: string, code = -32000): RpcEndpoint => ({
  name: 'refusing',
  send: async () => {
    throw new RpcRefusal(code, message)
  },
})
const silent: RpcEndpoint = {
  name: 'silent',
  send: async () => {
    throw new Error('socket hang up')
  },
}

describe('a broadcast', () => {
  it('is accepted when one of several endpoints takes it', async () => {
    expect(await broadcast([silent, refusing('nonce too low'), taking], '0x02')).toEqual({ status: 'accepted' })
  })

  it('is accepted when the node has it already', async () => {
    expect(await broadcast([refusing('already known')], '0x02')).toEqual({ status: 'accepted' })
  })

  it.each([
    ['nonce too low: next nonce 5, tx nonce 4', 'nonce_used'],
    ['Nonce too low. Expected nonce to be 3 but got 2.', 'nonce_used'],
    ['replacement transaction underpriced', 'nonce_occupied'],
    ['insufficient funds for gas * price + value', 'unfunded'],
    ['transaction underpriced: gas tip cap 1, minimum needed 25000000000', 'invalid'],
    ['max fee per gas less than block base fee', 'invalid'],
  ])('is refused for good by %s', async (message, kind) => {
    expect(await broadcast([refusing(message)], '0x02')).toMatchObject({ status: 'refused', kind })
  })

  it('is unknown when one endpoint refused and another did not answer, for that one may have it', async () => {
    expect(await broadcast([refusing('nonce too low'), silent], '0x02')).toMatchObject({ status: 'unknown' })
  })

  it.each(['rate limit exceeded', 'internal error', 'request timed out'])('is unknown after %s', async (message) => {
    expect(await broadcast([refusing(message, -32005)], '0x02')).toMatchObject({ status: 'unknown' })
  })
})
