import { type Address, checksumAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import type { Rpc } from '@assay/till/chain'
import { demoAccount, demoIssuer } from '@assay/till/devnet'
import { encodeFunctionData } from 'viem'
import { type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'
import {
  codeMarker,
  factoryAbi,
  factoryAddress,
  policyRegistryAddress,
  registryAbi,
  tokenAbi,
  topicHashes,
} from '../abi/b20.ts'
import { creationArguments, type DemoPolicies, demoTokenAddress, demoTokens } from './demo-tokens.ts'

export type ShownDemoToken = { key: string; address: Address; what: string; synthetic: true }

type Sender = (to: Address, data: Hex) => Promise<Receipt>
type Receipt = { status: Hex; logs: { topics: Hex[] }[] }

/** Creates the demo tokens that are missing, by ordinary transactions of an ordinary account. */
export async function seedDemoTokens(rpc: Rpc, chainId: number, nowSeconds: number): Promise<ShownDemoToken[]> {
  const version = await rpc.first('web3_clientVersion', []).catch(() => '')
  // Somebody's own chain gets no gifts.
  if (!String(version).startsWith('assay-devnet/')) return []
  const tokens = demoTokens(chainId).map((token) => ({ token, address: demoTokenAddress(chainId, token) }))
  const codes = await rpc.batch(tokens.map(({ address }) => ({ method: 'eth_getCode', params: [address, 'latest'] })))
  const absent = tokens.filter((_, i) => codes[i] !== codeMarker)
  if (absent.length > 0) {
    const issuer = privateKeyToAccount(demoIssuer(chainId).privateKey)
    const send = await createSender(rpc, chainId, issuer)
    const policies = await createPolicies(send, issuer.address.toLowerCase() as Address)
    for (const { token, address } of absent) {
      const args = creationArguments(token, policies, nowSeconds)
      await send(factoryAddress, encodeFunctionData({ abi: factoryAbi, functionName: 'createB20', args }))
      if (token.key === 'seizable') await seizeOnce(send, address, issuer.address)
    }
  }
  return tokens.map(({ token, address }) => ({
    key: token.key,
    address: checksumAddress(address),
    what: token.what,
    synthetic: true,
  }))
}

const gas = 5_000_000n

async function createSender(rpc: Rpc, chainId: number, account: PrivateKeyAccount): Promise<Sender> {
  let nonce = Number(await rpc.first('eth_getTransactionCount', [account.address, 'pending']))
  const price = BigInt((await rpc.first('eth_gasPrice', [])) as Hex) * 2n
  return async (to, data) => {
    const raw = await account.signTransaction({
      type: 'eip1559',
      chainId,
      to,
      data,
      nonce: nonce++,
      gas,
      maxFeePerGas: price,
      maxPriorityFeePerGas: price,
    })
    const hash = await rpc.first('eth_sendRawTransaction', [raw])
    const receipt = (await rpc.first('eth_getTransactionReceipt', [hash])) as Receipt | null
    if (receipt?.status !== '0x1') throw new Error(`a demo token could not be made: transaction ${String(hash)} failed`)
    return receipt
  }
}

const createdTopic = topicHashes['PolicyCreated(uint64,address,uint8)']

async function createPolicies(send: Sender, issuer: Address): Promise<DemoPolicies> {
  const compliance = demoAccount('custody').address
  const make = async (functionName: string, args: readonly unknown[]): Promise<bigint> => {
    const receipt = await send(policyRegistryAddress, encodeFunctionData({ abi: registryAbi, functionName, args }))
    const log = receipt.logs.find((one) => one.topics[0] === createdTopic)
    return BigInt(log?.topics[1] ?? '0x0')
  }
  const [blocklist, allowlist, intersect] = [0, 1, 3]
  const exempt = await make('createPolicyWithAccounts', [issuer, allowlist, [demoAccount('buyer').address]])
  const blocked = await make('createPolicyWithAccounts', [compliance, blocklist, [demoAccount('affiliate').address]])
  const admitted = await make('createPolicyWithAccounts', [
    demoAccount('creator').address,
    allowlist,
    [demoAccount('buyer').address, demoAccount('affiliate').address],
  ])
  const composite = await make('createCompositePolicy', [compliance, intersect, [blocked, admitted]])
  const sanctions = await make('createPolicyWithAccounts', [
    issuer,
    blocklist,
    ['0x00000000000000000000000000000000000bad00'],
  ])
  return { exempt, blocked, admitted, composite, sanctions }
}

async function seizeOnce(send: Sender, token: Address, to: Address): Promise<void> {
  const memo = `0x${'00'.repeat(31)}01` as Hex
  const args = [demoAccount('affiliate').address, to, 100n * 10n ** 6n, memo]
  await send(token, encodeFunctionData({ abi: tokenAbi, functionName: 'seizeWithMemo', args }))
}
