import type { Address } from '@assay/protocol/address'
import { concatHex, encodeAbiParameters, encodeFunctionResult, type Hex, pad, parseAbi, parseAbiParameters } from 'viem'
import { expect, test } from 'vitest'
import { createContractSignatureChecker, type SignatureRpc } from './contract-signature.ts'

const abi = parseAbi([
  'struct Result { bool success; bytes returnData; }',
  'function aggregate3() returns (Result[] results)',
])
const wallet: Address = `0x${'aa'.repeat(20)}`
const factory: Address = `0x${'fa'.repeat(20)}`
const multicall3: Address = `0x${'ca'.repeat(20)}`
const digest: Hex = `0x${'01'.repeat(32)}`
const magic = pad('0x1626ba7e', { dir: 'right', size: 32 })

const answers = (...results: { success: boolean; returnData: Hex }[]) =>
  encodeFunctionResult({ abi, functionName: 'aggregate3', result: results })
const wrapped = concatHex([
  encodeAbiParameters(parseAbiParameters('address, bytes, bytes'), [factory, '0xdede', '0x1234']),
  `0x${'6492'.repeat(16)}`,
])

function checker(rpc: Partial<SignatureRpc>, factories: Address[] = []) {
  const whole: SignatureRpc = { getCode: async () => '0x60', call: async () => '0x', ...rpc }
  return createContractSignatureChecker({ chains: new Map([[8453, { rpc: whole, multicall3 }]]), factories })
}
const ask = { chainId: 8453, address: wallet, digest, signature: '0x1234' as Hex }

test('only the magic value, alone and padded with zeros, is a yes', async () => {
  const cases: [Hex, boolean, string][] = [
    [magic, true, 'valid'],
    [magic, false, 'invalid'],
    ['0x1626ba7e', true, 'invalid'],
    [`${magic}00`, true, 'invalid'],
    [`0x1626ba7e${'0'.repeat(55)}1`, true, 'invalid'],
    ['0x', true, 'invalid'],
    [pad('0x1626ba7e', { size: 32 }), true, 'invalid'],
  ]
  for (const [returnData, success, expected] of cases)
    expect(await checker({ call: async () => answers({ success, returnData }) })(ask), returnData).toBe(expected)
})

test('a chain that cannot be asked, or answers nonsense, is an outage and no refusal', async () => {
  const failing = async () => {
    throw new Error('connection refused')
  }
  expect(await checker({ call: failing })(ask)).toBe('could_not_check')
  expect(await checker({ getCode: failing })(ask)).toBe('could_not_check')
  expect(await checker({ call: async () => '0x' })(ask)).toBe('could_not_check')
})

test('an account without code, an unknown chain and an oversized signature are refused without a call', async () => {
  let calls = 0
  const call = async () => {
    calls += 1
    return answers({ success: true, returnData: magic })
  }
  expect(await checker({ call, getCode: async () => '0x' })(ask)).toBe('invalid')
  expect(await checker({ call })({ ...ask, chainId: 1 })).toBe('invalid')
  expect(await checker({ call })({ ...ask, signature: `0x${'00'.repeat(8_193)}` })).toBe('invalid')
  expect(calls).toBe(0)
})

test('a factory is run for a wallet not yet deployed only when the operator allows it', async () => {
  const asked: string[] = []
  const call: SignatureRpc['call'] = async ({ data, gas }) => {
    asked.push(data.includes('dede') ? `with factory ${gas}` : `wallet only ${gas}`)
    return answers({ success: true, returnData: '0x' }, { success: true, returnData: magic })
  }
  const undeployed = { call, getCode: async (): Promise<Hex> => '0x' }
  expect(await checker(undeployed)({ ...ask, signature: wrapped })).toBe('invalid')
  expect(asked).toEqual([])
  expect(await checker(undeployed, [factory])({ ...ask, signature: wrapped })).toBe('valid')
  expect(asked).toEqual(['with factory 1200000'])
  expect(await checker({ call })({ ...ask, signature: wrapped })).toBe('valid')
  expect(asked.at(-1)).toBe('wallet only 300000')
})

test('a wrapper that cannot be read is refused', async () => {
  expect(await checker({}, [factory])({ ...ask, signature: `0x12${'6492'.repeat(16)}` })).toBe('invalid')
})
