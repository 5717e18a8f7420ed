import { encodeDeployData, encodeFunctionData, getContractAddress } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import type { Address } from '../../packages/protocol/src/address.ts'
import { contractArtifacts, demoIssuer } from '../../packages/till/src/devnet/index.ts'
import { sendTransaction, type TestChain } from './send-transaction.ts'

const { abi, bytecode } = contractArtifacts.testUsdc
const issuerOf = ({ chainId }: TestChain) => privateKeyToAccount(demoIssuer(chainId).privateKey)

/** One more token with the rules of USDC, also its EIP-712 name and version, at its own address. */
export async function deployToken(chain: TestChain): Promise<Address> {
  const issuer = issuerOf(chain)
  const nonce = BigInt((await chain.request('eth_getTransactionCount', [issuer.address, 'pending'])) as string)
  const data = encodeDeployData({ abi, bytecode, args: [issuer.address, [], 0n] })
  await sendTransaction(chain, issuer, { data, gas: 5_000_000n })
  return getContractAddress({ from: issuer.address, nonce }).toLowerCase() as Address
}

export const mintToken = (chain: TestChain, token: Address, to: Address, micro: bigint) =>
  sendTransaction(chain, issuerOf(chain), {
    to: token,
    data: encodeFunctionData({ abi, functionName: 'mint', args: [to, micro] }),
  })
