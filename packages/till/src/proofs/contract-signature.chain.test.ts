import { readFileSync } from 'node:fs'
import { type Address, parseAddress } from '@assay/protocol/address'
import type { Hex } from '@assay/protocol/bytes'
import {
  type Abi,
  concatHex,
  createPublicClient,
  createWalletClient,
  encodeAbiParameters,
  encodeFunctionData,
  getContractAddress,
  parseAbiParameters,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { base } from 'viem/chains'
import { afterAll, expect, test } from 'vitest'
import { contractArtifacts, demoAccount, devnetTransport, multicall3Address, startDevnet } from '../devnet/index.ts'
import { systemClock } from '../kernel/clock.ts'
import { silentLog } from '../kernel/log.ts'
import { createContractSignatureChecker } from './contract-signature.ts'

const owner = privateKeyToAccount(demoAccount('buyer').privateKey)
const stranger = privateKeyToAccount(demoAccount('stranger').privateKey)
const digest: Hex = `0x${'5a'.repeat(32)}`
const salt: Hex = `0x${'07'.repeat(32)}`
const { smartWallet, smartWalletFactory } = contractArtifacts

const devnet = await startDevnet({ chainId: 8453, clock: systemClock, log: silentLog })
const factory = await deploy(smartWalletFactory)
afterAll(() => devnet.stop())

async function deploy(artifact: { abi: Abi; bytecode: Hex }, args: unknown[] = []): Promise<Address> {
  const transport = devnetTransport(devnet)
  const wallet = createWalletClient({ account: owner, chain: base, transport })
  const reader = createPublicClient({ chain: base, transport })
  const nonce = await reader.getTransactionCount({ address: owner.address })
  const hash = await wallet.deployContract({ abi: artifact.abi, bytecode: artifact.bytecode, args, nonce })
  await reader.waitForTransactionReceipt({ hash, pollingInterval: 10 })
  return getContractAddress({ from: owner.address, nonce: BigInt(nonce) }).toLowerCase() as Address
}

function hostile(name: string): { abi: Abi; bytecode: Hex } {
  return JSON.parse(readFileSync(new URL(`../../../../contracts/artifacts/${name}.json`, import.meta.url), 'utf8'))
}

function checker(factories: Address[] = []) {
  const rpc = {
    call: async (request: { to: Address; data: Hex; gas: bigint }) =>
      (await devnet.request('eth_call', [{ ...request, gas: `0x${request.gas.toString(16)}` }, 'latest'])) as Hex,
    getCode: async (address: Address) => (await devnet.request('eth_getCode', [address, 'latest'])) as Hex,
  }
  return createContractSignatureChecker({
    chains: new Map([[8453, { rpc, multicall3: parseAddress(multicall3Address) as Address }]]),
    factories,
  })
}

test('a deployed wallet answers for its owner and for nobody else', async () => {
  const address = await deploy(smartWallet, [owner.address])
  const ask = async (signature: Hex) => checker()({ chainId: 8453, address, digest, signature })
  expect(await ask(await owner.sign({ hash: digest }))).toBe('valid')
  expect(await ask(await stranger.sign({ hash: digest }))).toBe('invalid')
  expect(await ask('0x')).toBe('invalid')
})

test('a wallet not yet deployed counts through an allowed factory, and leaves nothing on the chain', async () => {
  const reader = createPublicClient({ chain: base, transport: devnetTransport(devnet) })
  const args = [owner.address, salt]
  const where = { address: factory, abi: smartWalletFactory.abi, functionName: 'walletAddress', args }
  const address = parseAddress(await reader.readContract(where)) as Address
  const calldata = encodeFunctionData({ abi: smartWalletFactory.abi, functionName: 'createWallet', args })
  const wrap = (inner: Hex) =>
    concatHex([
      encodeAbiParameters(parseAbiParameters('address, bytes, bytes'), [factory, calldata, inner]),
      `0x${'6492'.repeat(16)}`,
    ])
  const good = wrap(await owner.sign({ hash: digest }))
  const bad = wrap(await stranger.sign({ hash: digest }))
  expect(await checker([factory])({ chainId: 8453, address, digest, signature: good })).toBe('valid')
  expect(await checker([factory])({ chainId: 8453, address, digest, signature: bad })).toBe('invalid')
  expect(await checker()({ chainId: 8453, address, digest, signature: good })).toBe('invalid')
  expect(await devnet.request('eth_getCode', [address, 'latest'])).toBe('0x')
})

test('wallets that burn the gas or answer with a flood are refused, for that is no outage of ours', async () => {
  for (const name of ['GasBurningWallet', 'ReturnBombWallet']) {
    const address = await deploy(hostile(name))
    expect(await checker()({ chainId: 8453, address, digest, signature: '0x12' }), name).toBe('invalid')
  }
})

test('a chain that fails is an outage', async () => {
  const address = await deploy(hostile('YesWallet'))
  const broken = createContractSignatureChecker({
    chains: new Map([
      [
        8453,
        {
          multicall3: parseAddress(multicall3Address) as Address,
          rpc: { getCode: async () => '0x60', call: () => Promise.reject(new Error('timeout')) },
        },
      ],
    ]),
  })
  expect(await checker()({ chainId: 8453, address, digest, signature: '0x12' })).toBe('valid')
  expect(await broken({ chainId: 8453, address, digest, signature: '0x12' })).toBe('could_not_check')
})
