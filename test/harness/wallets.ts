import { type Abi, encodeDeployData, encodeFunctionData, type Hex, parseAbi } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import switchWallet from '../../contracts/artifacts/SwitchWallet.json' with { type: 'json' }
import type { Address } from '../../packages/protocol/src/address.ts'
import { authorizationTypes } from '../../packages/protocol/src/typed-data/transfer-authorization.ts'
import { demoAccount, demoIssuer } from '../../packages/till/src/devnet/index.ts'
import type { Payload } from '../harness/till-fixture.ts'
import { sendTransaction, type TestChain } from './send-transaction.ts'

const usdcAbi = parseAbi([
  'function transfer(address,uint256)',
  'function transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,bytes)',
  'function cancelAuthorization(address,bytes32,bytes)',
  'function blacklist(address)',
  'function unBlacklist(address)',
  'function pause()',
  'function unpause()',
])
const switchAbi = parseAbi(['function setValid(bool)'])

/** Pays the gas of what others signed. */
const carrier = privateKeyToAccount(demoAccount('affiliate').privateKey)

export type Authorization = {
  from: Address
  to: Address
  value: bigint
  validAfter: bigint
  validBefore: bigint
  nonce: Hex
}
export type SignedAuthorization = { authorization: Authorization; signature: Hex }

/** What a payment header carries, as the token takes it. */
export function authorizationOf({ payload }: Pick<Payload, 'payload'>): SignedAuthorization {
  const { from, to, value, validAfter, validBefore, nonce } = payload.authorization as Record<keyof Authorization, Hex>
  return {
    authorization: {
      from: from as Address,
      to: to as Address,
      value: BigInt(value),
      validAfter: BigInt(validAfter),
      validBefore: BigInt(validBefore),
      nonce,
    },
    signature: payload.signature,
  }
}

const domainOf = ({ chainId, usdc }: TestChain) => ({
  name: 'USD Coin',
  version: '2',
  chainId,
  verifyingContract: usdc,
})

export async function signAuthorization(
  chain: TestChain,
  signer: Pick<PrivateKeyAccount, 'signTypedData'>,
  authorization: Authorization,
): Promise<SignedAuthorization> {
  const signature = await signer.signTypedData({
    domain: domainOf(chain),
    types: authorizationTypes,
    primaryType: 'TransferWithAuthorization',
    message: authorization,
  })
  return { authorization, signature }
}

/** Signs the nonce of a payment once more, with another amount, payee or window. */
export async function signAgain(
  chain: TestChain,
  signer: Pick<PrivateKeyAccount, 'signTypedData'>,
  payment: Pick<Payload, 'payload'>,
  change: Partial<Omit<Authorization, 'from' | 'nonce'>>,
): Promise<SignedAuthorization> {
  return signAuthorization(chain, signer, { ...authorizationOf(payment).authorization, ...change })
}

const isSigned = (given: SignedAuthorization | Pick<Payload, 'payload'>): given is SignedAuthorization =>
  'signature' in given

/** Submits an authorization to the chain: anyone can. */
export function submitAuthorization(
  chain: TestChain,
  given: SignedAuthorization | Pick<Payload, 'payload'>,
  by: PrivateKeyAccount = carrier,
): Promise<Hex> {
  const { authorization, signature } = isSigned(given) ? given : authorizationOf(given)
  const { from, to, value, validAfter, validBefore, nonce } = authorization
  const data = encodeFunctionData({
    abi: usdcAbi,
    functionName: 'transferWithAuthorization',
    args: [from, to, value, validAfter, validBefore, nonce, signature],
  })
  return sendTransaction(chain, by, { to: chain.usdc, data })
}

/** The payer cancels a nonce; somebody else may carry that. */
export async function cancelAuthorization(
  chain: TestChain,
  payer: PrivateKeyAccount,
  nonce: Hex,
  by: PrivateKeyAccount = carrier,
): Promise<Hex> {
  const signature = await payer.signTypedData({
    domain: domainOf(chain),
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: payer.address, nonce },
  })
  const data = encodeFunctionData({
    abi: usdcAbi,
    functionName: 'cancelAuthorization',
    args: [payer.address, nonce, signature],
  })
  return sendTransaction(chain, by, { to: chain.usdc, data })
}

/** A plain transfer, without an authorization. More than `by` holds reverts in a block. */
export const transferPlainly = (chain: TestChain, by: PrivateKeyAccount, to: Address, micro: bigint): Promise<Hex> =>
  sendTransaction(chain, by, {
    to: chain.usdc,
    data: encodeFunctionData({ abi: usdcAbi, functionName: 'transfer', args: [to, micro] }),
  })

const sendAsIssuer = (chain: TestChain, data: Hex): Promise<Hex> =>
  sendTransaction(chain, privateKeyToAccount(demoIssuer(chain.chainId).privateKey), { to: chain.usdc, data })

/** The issuer of the test USDC blocks an account, or unblocks it. */
export const setBlacklisted = (chain: TestChain, account: Address, blocked: boolean): Promise<Hex> =>
  sendAsIssuer(
    chain,
    encodeFunctionData({ abi: usdcAbi, functionName: blocked ? 'blacklist' : 'unBlacklist', args: [account] }),
  )

/** The issuer stops every transfer of the test USDC, or allows them again. */
export const setPaused = (chain: TestChain, paused: boolean): Promise<Hex> =>
  sendAsIssuer(chain, encodeFunctionData({ abi: usdcAbi, functionName: paused ? 'pause' : 'unpause' }))

export async function deployContract(
  chain: TestChain,
  artifact: { abi: unknown; bytecode: string },
  args: readonly unknown[] = [],
  by: PrivateKeyAccount = carrier,
): Promise<Address> {
  const data = encodeDeployData({ abi: artifact.abi as Abi, bytecode: artifact.bytecode as Hex, args })
  const hash = await sendTransaction(chain, by, { data, gas: 3_000_000n })
  const receipt = (await chain.request('eth_getTransactionReceipt', [hash])) as { contractAddress: Address }
  return receipt.contractAddress.toLowerCase() as Address
}

/** A contract whose ERC-1271 answer can be changed at any time; it accepts every signature until then. */
export const deploySwitchWallet = (chain: TestChain): Promise<Address> => deployContract(chain, switchWallet)

/** Works on the contract itself and on an account that is delegated to it; such an account starts with `false`. */
export const setSignatureValid = (chain: TestChain, wallet: Address, valid: boolean): Promise<Hex> =>
  sendTransaction(chain, carrier, {
    to: wallet,
    data: encodeFunctionData({ abi: switchAbi, functionName: 'setValid', args: [valid] }),
  })

/** EIP-7702: from now on the token asks the code of `contract` in the place of the account's key. Needs gas. */
export const delegateAccount = (chain: TestChain, account: PrivateKeyAccount, contract: Address): Promise<Hex> =>
  sendTransaction(chain, account, { to: account.address.toLowerCase() as Address, data: '0x', delegateTo: contract })
