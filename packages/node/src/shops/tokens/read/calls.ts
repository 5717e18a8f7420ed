import type { Address } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import { factoryAddress, policyRegistryAddress, selectors } from '../abi/b20.ts'
import type { ViewCall } from './multicall.ts'
import { encodeWord } from './words.ts'

type Selector = keyof typeof selectors

const data = (selector: Selector, ...words: (bigint | Hex)[]): Hex =>
  `${selectors[selector]}${words.map(encodeWord).join('')}`

/** Every question the reader can ask, as calldata. */
export const calls = {
  initialized: (token: Address): ViewCall => ({ to: factoryAddress, data: data('isB20Initialized(address)', token) }),
  plain: (token: Address, selector: Selector): ViewCall => ({ to: token, data: data(selector) }),
  // bytes4 arguments are padded on the right.
  supportsScaling: (token: Address): ViewCall => ({
    to: token,
    data: `${selectors['supportsInterface(bytes4)']}${'a60bf13d'.padEnd(64, '0')}`,
  }),
  hasRole: (token: Address, role: Hex, account: Address): ViewCall => ({
    to: token,
    data: data('hasRole(bytes32,address)', role, account),
  }),
  roleAdmin: (token: Address, role: Hex): ViewCall => ({ to: token, data: data('getRoleAdmin(bytes32)', role) }),
  policyOf: (token: Address, scope: Hex): ViewCall => ({ to: token, data: data('policyId(bytes32)', scope) }),
  balance: (token: Address, account: Address): ViewCall => ({ to: token, data: data('balanceOf(address)', account) }),
  invertedZero: (): ViewCall => ({ to: policyRegistryAddress, data: data('invertedPolicyId(uint64)', 0n) }),
  policy: (
    question:
      | 'policyExists(uint64)'
      | 'policyAdmin(uint64)'
      | 'pendingPolicyAdmin(uint64)'
      | 'compositePolicyChildIds(uint64)',
    id: bigint,
  ): ViewCall => ({ to: policyRegistryAddress, data: data(question, id) }),
  authorized: (id: bigint, account: Address): ViewCall => ({
    to: policyRegistryAddress,
    data: data('isAuthorized(uint64,address)', id, account),
  }),
  safeThreshold: (account: Address): ViewCall => ({ to: account, data: '0xe75235b8' }),
  safeOwners: (account: Address): ViewCall => ({ to: account, data: '0xa0e67e2b' }),
}

export function transferData(to: Address, amount: bigint): Hex {
  return data('transfer(address,uint256)', to, amount)
}
