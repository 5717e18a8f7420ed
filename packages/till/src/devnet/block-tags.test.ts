import { expect, test } from 'vitest'
import { resolveTags } from './block-tags.ts'

const view = { headNumber: 20, finalityLagBlocks: 4 }

test('finality tags become numbers wherever a method carries its block', () => {
  expect(resolveTags('eth_getBlockByNumber', ['finalized', false], view)).toEqual(['0x10', false])
  expect(resolveTags('eth_call', [{}, 'safe'], view)).toEqual([{}, '0x10'])
  expect(resolveTags('eth_getStorageAt', ['0x0', '0x0', 'finalized'], view)).toEqual(['0x0', '0x0', '0x10'])
  expect(resolveTags('eth_getLogs', [{ fromBlock: 'finalized', toBlock: 'latest', address: '0x1' }], view)).toEqual([
    { fromBlock: '0x10', toBlock: 'latest', address: '0x1' },
  ])
})

test('everything else is left as it is', () => {
  for (const params of [['latest'], ['0x5', true], [], [{ blockHash: '0x1' }], [null], ['earliest']])
    for (const method of ['eth_getBlockByNumber', 'eth_getLogs', 'eth_chainId', 'eth_call'])
      expect(resolveTags(method, params, view)).toEqual(params)
})

test('asking for a block before the first is an error, not the first', () => {
  expect(() => resolveTags('eth_getBlockByNumber', ['safe'], { headNumber: 3, finalityLagBlocks: 4 })).toThrow(
    'finalized block not found',
  )
})
